internal import ArgumentParser

/// Whether the desktop may prompt the user.
struct UnlockOptions: ParsableArguments {
    @Flag(
        name: OptionName.unlock.name,
        help: "Have the desktop ask for the password of its keyring, where that is locked.")
    var unlock = false
}
