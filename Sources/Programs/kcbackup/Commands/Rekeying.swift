internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// Gives archives new keys, as `rekey` does.
final class Rekeying {
    /// An archive and the backup folder that contains it, if any.
    struct Subject {
        let path: String
        let folder: BackupFolder?
        let entry: CatalogueEntry?
    }

    /// The archives that have the new keys.
    private(set) var done: [String] = []
    /// How the first archive failed.
    private(set) var status = ExitStatus.ok

    private let session: Session
    private let opener: ArchiveOpener
    private let maker: ArchiveKeyMaker
    /// The new keys, as recorded in a catalogue.
    private let names: [String]
    private let device: DeviceKey
    /// Archives of one folder that were encrypted again, and wait for their names.
    private var waiting: [(subject: Subject, replacement: BackupFolder.Replacement)] = []
    // In bytes, which the disk has to hold besides: that of thousands of small archives.
    private static let waitingLimit: UInt64 = 64 << 20

    init(_ opener: ArchiveOpener, _ maker: ArchiveKeyMaker, _ names: [String], _ device: DeviceKey, in session: Session)
    {
        (self.opener, self.maker, self.names, self.device, self.session) = (opener, maker, names, device, session)
    }

    /// Rekeys the archives of one argument; each failure is reported immediately.
    ///
    /// - Returns: true if none failed.
    /// - Throws: failures that end a run regardless of the archive.
    func rekey(_ subjects: [Subject]) throws -> Bool {
        var hasFailed = false
        for subject in subjects {
            session.subject.file = subject.path
            do {
                if let replacement = try rekey(subject) {
                    waiting.append((subject, replacement))
                    let size = waiting.reduce(0) { $0 + $1.replacement.size }
                    guard waiting.count >= BackupFolder.replacementCount || size >= Self.waitingLimit else { continue }
                    if try !replace() { hasFailed = true }
                } else {
                    finish(subject)
                }
            } catch {
                let failure = session.failure(of: error)
                let isWrongKey = failure.explanation.status == .wrongKey
                if isWrongKey, let entry = subject.entry, try hasKeys(entry, at: subject.path) {
                    session.note("has these keys already  \(displayed(subject.path))")
                    continue
                }
                if opener.hasUnreadableKey || [.interrupted, .terminated].contains(failure.explanation.status) {
                    _ = try replace()
                    throw failure
                }
                hasFailed = true
                let hint =
                    "if an earlier run was ended half-way, it may have the new keys already: give the old and the new "
                    + "ones, '-i OLD -i NEW', or after an old passphrase once more the new one"
                report(failure.explanation.adding(isWrongKey && subject.entry != nil ? [hint] : []))
            }
        }
        return try replace() && !hasFailed
    }

    /// Gives the archives that wait their names.
    ///
    /// - Returns: true if none failed.
    private func replace() throws -> Bool {
        guard let folder = waiting.first?.subject.folder else { return true }
        let waited = waiting
        waiting = []
        let problems = try folder.replace(waited.map(\.replacement), now: session.now)
        for ((subject, _), problem) in zip(waited, problems) {
            session.subject.file = subject.path
            if let problem { report(session.failure(of: problem).explanation) } else { finish(subject) }
        }
        return problems.allSatisfy { $0 == nil }
    }

    private func finish(_ subject: Subject) {
        done.append(subject.path)
        // A run that ends early says how many archives have the new keys.
        session.done = "\(counted(done.count, "archive")) rekeyed"
        session.note("rekeyed  \(displayed(subject.path))")
    }

    private func report(_ explanation: Explanation) {
        session.message(explanation.lines)
        if status == .ok { status = explanation.status }
    }

    /// True if an archive that the old keys cannot open has already been rekeyed; unknown, and so false, for
    /// passphrases.
    private func hasKeys(_ entry: CatalogueEntry, at path: String) throws -> Bool {
        try entry.file.keys.sorted() == names.sorted() && !names.contains(BackupPin.passphrase)
            && entry.fileState(at: path) == .recorded
    }

    /// Replaces an archive, or returns what is to replace one of a folder.
    private func rekey(_ subject: Subject) throws -> BackupFolder.Replacement? {
        let file: ArchiveFile
        do {
            file = try ArchiveFile(path: subject.path)
        } catch ArchiveFailure.notAnArchive {
            try ArchiveOptions.refuseOther(subject.path, in: session)
            throw ArchiveFailure.notAnArchive
        }
        if file.header.mode == .unencrypted { throw ArchiveFailure.notRekeyable(.unencrypted) }
        let (folder, name) = Path.split(subject.path)
        // An entry says more than the name.
        let named = try NamedArchive(file, named: name, at: subject.path) { if subject.entry == nil { throw $0 } }
        let opened = try opener.prove(named, at: subject.path).opened
        let archive = try opened.rekeyed(to: maker.make(of: opened.header.archiveID), by: device, inFolder: folder)
        if let entry = subject.entry {
            return BackupFolder.Replacement(of: entry, ifStill: file.status, by: archive, keys: names)
        }
        try archive.replace(name, ifStill: file.status)
        return nil
    }
}
