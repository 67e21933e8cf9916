internal import AgeEncryption
internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import Console
internal import KeychainModel
internal import LocalKeychains

/// Opens the archives of a run with what was given; whatever is read or asked for is so once.
final class ArchiveOpener {
    /// True once a key could not be read, which no other archive would change.
    private(set) var hasUnreadableKey = false

    private let options: ArchiveOptions
    private let session: Session
    private var identities: [any Identity]?
    private var passphrases: [KeptSecret] = []

    init(_ options: ArchiveOptions, in session: Session) {
        self.options = options
        self.session = session
    }

    /// True when there is something to open `file` with: it needs no key, one was given, or somebody can be asked.
    func canOpen(_ file: ArchiveFile) -> Bool {
        file.header.mode == .unencrypted || options.hasKey || asks(file.hasPassphrase)
    }

    /// Proves the archive genuine and opens it with what was given, or with a passphrase that is asked for.
    ///
    /// - Throws: `ArchiveFailure`, `AgeFailure`, `DeviceKeyFailure`, `TrustedDevicesFailure`, and what asking throws.
    func prove(_ file: ArchiveFile, at archive: String) throws -> ProvenArchive {
        let local = try LocalDevice(session.world).identity()
        return try ProvenArchive(open(file.prove(), at: archive), local: local)
    }

    private func asks(_ hasPassphrase: Bool) -> Bool {
        options.identity.isEmpty && hasPassphrase && session.world.terminal.isAttended
    }

    /// The passphrase goes first: who opens an archive with it is told who made it only if no other key was used.
    private func open(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        guard genuine.header.mode == .encrypted else { return try genuine.open() }
        if options.passphrase != nil || asks(genuine.hasPassphrase) {
            if !options.identity.isEmpty { session.warn("the passphrase opens the archive: no identity is used") }
            return try openWithPassphrase(genuine, at: archive)
        }
        if options.identity.isEmpty { return try genuine.open() }
        return try genuine.open(identities: readIdentities())
    }

    /// Tries the passphrases of earlier archives, the last one first, and then asks.
    private func openWithPassphrase(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        // Before anything is asked for, which would be for nothing.
        guard genuine.hasPassphrase else { throw ArchiveFailure.noPassphraseSet }
        let wanted = WantedSecret(
            what: "passphrase of \(quoted(archive))", flag: .passphrase, source: options.passphrase)
        for kept in passphrases.reversed() {
            do {
                return try kept.use(wanted, in: session) { try genuine.open(passphrase: $0) }
            } catch ArchiveFailure.wrongPassphrase {
                continue
            }
        }
        // Every source but a person says the same again, or nothing.
        if !passphrases.isEmpty, options.passphrase != nil, options.passphrase != .terminal {
            throw ArchiveFailure.wrongPassphrase
        }
        let fresh = KeptSecret()
        var isRead = false
        defer { if fresh.isRead { passphrases.append(fresh) } }
        do {
            return try fresh.use(wanted, in: session) { passphrase in
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

/// A secret that is read when it is first needed, and kept as long as this object; a typed one only if it is right.
final class KeptSecret {
    private var secret: Kept?

    /// True once there is one.
    var isRead: Bool { secret != nil }

    /// Reads it, unless it was read before, and hands it to `body`.
    ///
    /// - Throws: what asking and `body` throw.
    func use<Result>(
        _ wanted: WantedSecret, in session: Session, _ body: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        if let secret { return try body(secret.bytes) }
        return try session.trying(wanted) { given in
            if !wanted.isTyped { secret = Kept(bytes: given.copy()) }
            let result = try body(given)
            if wanted.isTyped { secret = Kept(bytes: given.copy()) }
            return result
        }
    }

    // A value that cannot be copied is borrowed from a class, not from an optional.
    private final class Kept {
        let bytes: SecretBytes

        init(bytes: consuming SecretBytes) { self.bytes = bytes }
    }
}
