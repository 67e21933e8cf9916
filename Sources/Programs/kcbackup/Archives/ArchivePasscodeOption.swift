internal import ArgumentParser
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The option for opening the secrets of an unencrypted archive when no keychain can.
struct ArchivePasscodeOption: ParsableArguments {
    @Option(
        name: OptionName.archivePasscode.name,
        help: ArgumentHelp(
            "Where the passcode comes from that the keychain had when an unencrypted archive was made.",
            valueName: "source"))
    var archivePasscode: SecretSource?

    /// Opens the secrets with the given passcode or, if one is needed, with a passcode from the user.
    ///
    /// - Parameters:
    ///   - isNeeded: true if secrets that cannot be opened are of no use.
    ///   - filter: the items whose secrets are of use; nil for all.
    ///   - kept: a passcode read for an earlier archive of the run; a new one is stored there.
    /// - Throws: `ArchiveFailure` (`wrongPasscode`, `passcodeNeeded`), and errors of reading secrets.
    func open(
        _ proven: ProvenArchive, isNeeded: Bool, of filter: ItemFilter? = nil, path: String,
        keptIn kept: KeptSecret = KeptSecret(),
        in session: Session
    ) throws {
        guard let stored = proven.stored, stored.hasPasscode, proven.isFromThisDevice else {
            if archivePasscode != nil {
                session.warn(
                    "no passcode opens this archive here; '\(OptionName.archivePasscode.spelling)' is not used")
            }
            return
        }
        guard try archivePasscode != nil || isNeeded && proven.needsPasscode(for: filter) else { return }
        guard archivePasscode != nil || session.world.terminal.isAttended else { throw ArchiveFailure.passcodeNeeded }
        let wanted = WantedSecret(.formerPasscode(archive: path), .archivePasscode, from: archivePasscode)
        try kept.use(wanted, in: session.context) { passcode in
            try stored.unlock(passcode: passcode, minimumCost: session.machine.costs.lowestPasscode)
        }
    }
}
