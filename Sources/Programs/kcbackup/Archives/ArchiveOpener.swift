internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Opens the archives of a run with the given keys; each key is read or asked for only once.
final class ArchiveOpener {
    /// True if a key could not be read, which would be the same for every other archive.
    private(set) var hasUnreadableKey = false

    private let options: ArchiveOptions
    private let session: Session
    private var identities: [any Identity]?
    private var passphrases: [KeptSecret] = []

    init(_ options: ArchiveOptions, in session: Session) {
        self.options = options
        self.session = session
    }

    /// True if there is a way to open `file`: it needs no key, a key was given, or the user can be asked.
    func canOpen(_ file: ArchiveFile) -> Bool {
        file.header.mode == .unencrypted || options.hasKey || asks(file.hasPassphrase)
    }

    /// Verifies that the archive is genuine and what its name says, and opens it with the given keys or with a passphrase
    /// from the user.
    ///
    /// - Throws: `CatalogueFailure.renamed`, `ArchiveFailure`, `AgeFailure`, `FileFailure`, `DeviceKeyFailure`, `TrustedDevicesFailure`, and errors of reading
    ///   secrets.
    func prove(_ archive: NamedArchive, at path: String) throws -> ProvenArchive {
        let local = try LocalDevice(session.machine).identity()
        let proven = try ProvenArchive(open(archive.file.prove(), at: path), local: local)
        try archive.requireSeries {
            let progress = Progress("checking the archive", in: session, reading: proven.opened, 1)
            defer { progress.finish() }
            return try proven.opened.source(progress.step)
        }
        return proven
    }

    private func asks(_ hasPassphrase: Bool) -> Bool {
        options.identity.isEmpty && hasPassphrase && session.world.terminal.isAttended
    }

    /// The passphrase is tried first, because it tells the origin of the archive only if no other key is used.
    private func open(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        guard genuine.header.mode == .encrypted else { return try genuine.open() }
        if options.passphrase != nil || asks(genuine.hasPassphrase) {
            if !options.identity.isEmpty { session.warn("the passphrase opens the archive: no identity is used") }
            return try openWithPassphrase(genuine, at: archive)
        }
        if options.identity.isEmpty { return try genuine.open() }
        return try genuine.open(identities: readIdentities())
    }

    /// Tries the passphrases of earlier archives, latest first, and then asks.
    private func openWithPassphrase(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        // Check before asking the user in vain.
        guard genuine.hasPassphrase else { throw ArchiveFailure.noPassphraseSet }
        let wanted = WantedSecret(.passphrase(file: archive), .passphrase, from: options.passphrase)
        for kept in passphrases.reversed() {
            do {
                return try kept.use(wanted, in: session.context) { try genuine.open(passphrase: $0) }
            } catch ArchiveFailure.wrongPassphrase {
                continue
            }
        }
        // Unlike a user, any other source would return the same passphrase again, or nothing.
        if !passphrases.isEmpty, options.passphrase != nil, options.passphrase != .terminal {
            throw ArchiveFailure.wrongPassphrase
        }
        let fresh = KeptSecret()
        var isRead = false
        defer { if fresh.isRead { passphrases.append(fresh) } }
        do {
            return try fresh.use(wanted, in: session.context) { passphrase in
                isRead = true
                return try genuine.open(passphrase: passphrase)
            }
        } catch {
            hasUnreadableKey = !isRead || error is TerminalFailure
            throw error
        }
    }

    private func readIdentities() throws -> [any Identity] {
        if let identities { return identities }
        var read: [any Identity] = []
        try readingKey {
            read = try options.identities(in: session)
        }
        identities = read
        return read
    }

    private func readingKey(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            hasUnreadableKey = true
            throw error
        }
    }
}
