internal import ArgumentParser
internal import KCAsking
internal import KCTerminal

/// The option for opening the secrets of an unencrypted archive when no keychain can.
struct ArchivePasscodeOption: ParsableArguments {
    @Option(
        name: OptionName.archivePasscode.name,
        help: ArgumentHelp(
            "Where the passcode comes from that the keychain had when an unencrypted archive was made.",
            valueName: "source"))
    var archivePasscode: SecretSource?
}
