internal import ArgumentParser
internal import KCBackupEngine
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// The options for what to back up and how, shared by `create` and jobs.
struct CreateOptions: ParsableArguments {
    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var foreign: ForeignOptions

    @Option(
        name: OptionName.escrow.name,
        help: ArgumentHelp(
            "The escrow key that opens the keychain for this backup instead of its passcode.", valueName: "file|source")
    )
    var escrow: EscrowSource?

    @Flag(name: OptionName.unencrypted.name, help: "Set no passphrase: the archive restores only on this device.")
    var unencrypted = false

    @Flag(
        name: OptionName.skipLocked.name,
        help: "Leave out locked items of the desktop keyring; the archive says that it is incomplete.")
    var skipLocked = false

    @OptionGroup
    var folder: FolderOptions

    @OptionGroup
    var keys: ArchiveKeyOptions

    /// Refuses contradictory options.
    ///
    /// - Throws: `UsageProblem` (`unencryptedWith`, `together`, `malformed`), `Refusal` (`clock`).
    func check(in session: Session) throws {
        if folder.all, keychain.keychain != nil { throw UsageProblem.together(.all, .keychain) }
        if let escrow {
            if keychain.passcode != nil { throw UsageProblem.together(.escrow, .passcode) }
            if escrow.source == nil { throw UsageProblem.malformed(.escrow, form: EscrowSource.forms) }
        }
        if unencrypted, let option = keys.firstGiven { throw UsageProblem.unencryptedWith(option) }
        // The date of a tar member is 11 octal digits of seconds since 1970.
        guard (0..<(1 << 33)).contains(session.now.seconds) else {
            throw Refusal.clock(day: session.calendar.day(session.now))
        }
    }

    /// Makes an unencrypted archive.
    func unencrypted(
        _ backup: CreateBackup, _ source: BackupSource, _ session: Session, step: @escaping () -> Void
    ) throws -> CreateReport {
        if case .desktop(let items) = source {
            let device = try LocalDevice(session.world).key()
            return try backup.unencrypted(SealedSource(items, deviceKey: device), step: step)
        }
        guard case .keychain(let open) = source else { throw UsageProblem.needsKeychain(.unencrypted) }
        if keychain.passcode == nil, escrow == nil {
            try session.world.unlocked.resume(open)
        } else if case .escrowed(let escrowed) = try opened(source, in: session) {
            return try backup.unencrypted(escrowed, step: step)
        }
        return try backup.unencrypted(open, step: step)
    }

    /// Opens the subject of the backup; only secrets that need no passcode can be read.
    func open(_ subject: BackupSubject, _ unlocking: UnlockOptions, in session: Session) throws -> BackupSource {
        try subject.open(self, unlocking, in: session)
    }

    /// Makes the secrets readable, with the escrow key, the session or the passcode.
    func opened(_ source: BackupSource, in session: Session) throws -> BackupSource {
        guard case .keychain(let open) = source else { return source }
        guard let escrow else {
            try keychain.unlock(open, in: session)
            return source
        }
        if open.hasPasscode { return .escrowed(try escrow.open(open, in: session)) }
        // Name the keychain, since one job may back up several.
        let name = session.subjects.keychain.map { " \(quoted($0))" } ?? ""
        session.note("keychain\(name) has no passcode, so '\(OptionName.escrow.spelling)' is not read")
        try open.unlock(passcode: nil, now: session.now)
        return source
    }

    /// Names the items that are not in the archive.
    ///
    /// - Parameter told: as `BackupSource.toldCount`.
    func warn(of report: CreateReport, told: Int, _ session: Session) {
        for item in report.damaged.dropFirst(told) {
            session.warn("not in the archive, since it cannot be read: \(item?.words ?? "an unreadable item")")
        }
        for item in report.omitted { session.note("in no archive: \(item.words)") }
    }

    /// Returns the line that tells where the archive can be restored and what cannot be restored elsewhere.
    func travelWords(_ report: CreateReport) -> String {
        let omitted =
            report.omitted.isEmpty
            ? "" : "; \(counted(report.omitted.count, "item")) in no archive (WhenPasscodeSetThisDeviceOnly)"
        if unencrypted {
            return "restores on this device only; anyone can read names and dates, and only this device opens secrets"
                + omitted
        }
        let bound = report.boundToThisDevice
        let travel =
            bound == 0
            ? "all of it restores on any device"
            : "restores on any device, \(counted(bound, "ThisDeviceOnly item")) only here"
        return travel + omitted
    }
}
