internal import ArgumentParser
internal import KCTerminal

/// Whether the desktop may prompt the user.
struct UnlockOptions: ParsableArguments {
    @Flag(
        name: OptionName.unlock.name,
        help: "Let the desktop ask for the password of a locked keyring.")
    var unlock = false
}
