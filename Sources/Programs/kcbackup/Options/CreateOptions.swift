internal import ArgumentParser
internal import BackupEngine
internal import KeychainModel
internal import KeychainStore

/// What to back up, and how: what `create` and a job have in common.
struct CreateOptions: ParsableArguments {
    @OptionGroup
    var keychain: KeychainOptions

    @Flag(name: OptionName.unencrypted.name, help: "Set no passphrase: the archive restores on this device alone.")
    var unencrypted = false

    @OptionGroup
    var folder: FolderOptions

    @OptionGroup
    var keys: ArchiveKeyOptions

    /// Refuses what cannot be meant.
    ///
    /// - Throws: `UsageProblem` (`unencryptedWith`), `Refusal` (`clock`).
    func check(in session: Session) throws {
        if folder.all, keychain.keychain != nil { throw UsageProblem.together(.all, .keychain) }
        if unencrypted, let option = keys.firstGiven { throw UsageProblem.unencryptedWith(option) }
        // A member of a tar is dated with 11 octal digits of seconds since 1970.
        guard (0..<(1 << 33)).contains(session.now.seconds) else { throw Refusal.clock(day: session.now.day) }
    }

    /// Makes an unencrypted archive.
    func unencrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ session: Session, step: @escaping () -> Void
    ) throws -> CreateReport {
        guard case .keychain(let open) = source else { throw UsageProblem.needsKeychain(.unencrypted) }
        if keychain.passcode != nil {
            try keychain.unlock(open, in: session)
        } else {
            try session.world.unlocked.resume(open)
        }
        return try backup.unencrypted(open, step: step)
    }

    /// Names the items that are not in the archive.
    func warn(of report: CreateReport, _ session: Session) {
        for item in report.damaged {
            session.warn("not in the archive, since it cannot be read: \(item?.words ?? "a row that makes no item")")
        }
        for item in report.omitted { session.note("in no archive: \(item.words)") }
    }

    /// The one line that says where the archive can be restored and what will not travel.
    func travelWords(_ report: CreateReport) -> String {
        let omitted =
            report.omitted.isEmpty
            ? "" : "; \(counted(report.omitted.count, "item")) in no archive (WhenPasscodeSetThisDeviceOnly)"
        if unencrypted {
            return "restores on this device only; anybody can read its metadata, nobody elsewhere its secrets" + omitted
        }
        let bound = report.boundToThisDevice
        let travel = bound == 0 ? "all of it" : "\(counted(bound, "ThisDeviceOnly item")) only here"
        return "restores on any device, \(travel)" + omitted
    }
}
