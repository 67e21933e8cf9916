internal import KCAgeEncryption
package import KCAsking
package import KCBackupArchive
package import KCBackupCatalogue
package import KCBackupEngine
internal import KCByteStreams
internal import KCConsole
package import KCDeviceIdentity
internal import KCForeignReader
internal import KCItemSources
internal import KCKeychainModel
internal import KCLocalKeychains
package import KCStoreTasks

/// Where the keys come from that open archives.
package struct ArchiveKeySources: Hashable, Sendable {
    /// Where the passphrase comes from; nil to ask a person, if no identity is given.
    package var passphrase: SecretSource?
    /// Files of identities.
    package var identities: [String]
    /// Where the passphrase of an encrypted one comes from.
    package var identityPassphrase: SecretSource?

    package init(
        passphrase: SecretSource? = nil, identities: [String] = [], identityPassphrase: SecretSource? = nil
    ) {
        self.passphrase = passphrase
        self.identities = identities
        self.identityPassphrase = identityPassphrase
    }

    /// True if a passphrase or an identity is given.
    package var isGiven: Bool { passphrase != nil || !identities.isEmpty }
}

/// An archive that was found and not read yet.
package struct FoundArchive {
    package let archive: NamedArchive
    /// The archive as it is named: the one that was taken, if a folder was named.
    package let path: String

    package var file: ArchiveFile { archive.file }

    package init(archive: NamedArchive, path: String) {
        self.archive = archive
        self.path = path
    }
}

/// The handling of an archive that is another one than its name says.
package enum RenamedPolicy: Hashable, Sendable {
    /// The user is told, if the archive itself was named; if it was chosen by its name, it is refused.
    case toldIfNamed
    case refused
    /// Something else says what it has to be.
    case ignored
}

/// Finds the archives of a run, and opens them; each key is read or asked for only once.
///
/// ```swift
/// let opener = ArchiveOpener(ArchiveKeySources(identities: ["key.txt"]), in: context)
/// let proven = try opener.prove(opener.find("backups"))
/// ```
package final class ArchiveOpener {
    /// True if a key could not be read, which would be the same for every other archive.
    package private(set) var hasUnreadableKey = false

    private let keys: ArchiveKeySources
    private let context: TaskContext
    private var identities: [any Identity]?
    private var passphrases: [KeptSecret] = []

    package init(_ keys: ArchiveKeySources = ArchiveKeySources(), in context: TaskContext) {
        self.keys = keys
        self.context = context
    }

    /// Opens the file, or the newest of a folder, without verifying more than its name yet.
    ///
    /// - Parameters:
    ///   - accepted: a device whose archives count if the newest of a folder is taken, though it is not trusted.
    ///   - isOneOfTwo: true if keys that do not apply to it may apply to another archive.
    /// - Throws: `ArchivePlaceProblem`, `ArchiveFailure`, `RemoteFailure`, `FileFailure`, `StreamFailure`, `ForeignFailure`,
    ///   `CatalogueFailure` (also `renamed`).
    package func find(
        _ given: String, accepting accepted: DeviceID? = nil, isOneOfTwo: Bool = false
    ) throws -> FoundArchive {
        let archive = try context.machine.archivePlace(given).meant(accepting: accepted, in: context)
        return try find(archive, ifRenamed: .toldIfNamed, mayNeedNoKey: isOneOfTwo)
    }

    /// Opens an archive at a place, without verifying more than its name yet.
    ///
    /// - Parameter mayNeedNoKey: true if keys that do not apply to it may apply to another archive.
    /// - Throws: as `find(_:accepting:isOneOfTwo:)`.
    package func find(
        _ archive: PlacedArchive, ifRenamed: RenamedPolicy, mayNeedNoKey: Bool = false
    ) throws -> FoundArchive {
        let opened = try archive.open(on: context.machine)
        let file: ArchiveFile
        do {
            file = try opened.archive(at: archive.path)
        } catch ArchiveFailure.notAnArchive {
            // To tell what a file is, all of it is read, which is for those that a person names.
            if !archive.isOfFolder { try context.requireNoOther(archive.path) }
            throw ArchiveFailure.notAnArchive
        }
        if !mayNeedNoKey, keys.isGiven, file.header.mode == .unencrypted { context.tell(ArchiveEvent.keyUnneeded) }
        let named = try NamedArchive(file, named: archive.name, at: archive.path) { [context] failure in
            switch ifRenamed {
            case .ignored: break
            case .toldIfNamed where !archive.isOfFolder: context.tell(ArchiveEvent.doubtful(failure))
            case .toldIfNamed, .refused: throw failure
            }
        }
        return FoundArchive(archive: named, path: archive.path)
    }

    /// True if there is a way to open `file`: it needs no key, a key was given, or the user can be asked.
    package func canOpen(_ file: ArchiveFile) -> Bool {
        file.header.mode == .unencrypted || keys.isGiven || asks(file.hasPassphrase)
    }

    /// Verifies that the archive is genuine and what its name says, and opens it with the given keys or with a passphrase
    /// from the user.
    ///
    /// - Throws: `CatalogueFailure.renamed`, `ArchiveFailure`, `AgeFailure`, `FileFailure`, `DeviceKeyFailure`,
    ///   `TrustedDevicesFailure`, and errors of reading secrets.
    package func prove(_ found: FoundArchive) throws -> ProvenArchive {
        try prove(found) { try open($0, at: found.path) }
    }

    /// The same, with the key in `open`.
    package func prove(
        _ found: FoundArchive, opening open: (GenuineArchive) throws -> OpenedArchive
    ) throws -> ProvenArchive {
        let local = try LocalDevice(context.machine).identity()
        let proven = try ProvenArchive(open(found.file.prove()), local: local)
        try found.archive.requireSeries {
            let progress = context.follow(.checkingArchive, reading: proven.opened, 1)
            defer { progress.finish() }
            return try proven.opened.source(progress.step)
        }
        return proven
    }

    private func asks(_ hasPassphrase: Bool) -> Bool {
        keys.identities.isEmpty && hasPassphrase && context.asking.isAttended
    }

    /// The passphrase is tried first, because it tells the origin of the archive only if no other key is used.
    private func open(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        guard genuine.header.mode == .encrypted else { return try genuine.open() }
        if keys.passphrase != nil || asks(genuine.hasPassphrase) {
            if !keys.identities.isEmpty { context.tell(ArchiveEvent.identitiesUnused) }
            return try openWithPassphrase(genuine, at: archive)
        }
        if keys.identities.isEmpty { return try genuine.open() }
        return try genuine.open(identities: readIdentities())
    }

    /// Tries the passphrases of earlier archives, latest first, and then asks.
    private func openWithPassphrase(_ genuine: GenuineArchive, at archive: String) throws -> OpenedArchive {
        // Check before asking the user in vain.
        guard genuine.hasPassphrase else { throw ArchiveFailure.noPassphraseSet }
        let wanted = WantedSecret(.passphrase(file: archive), .passphrase, from: keys.passphrase)
        for kept in passphrases.reversed() {
            do {
                return try kept.use(wanted, in: context) { try genuine.open(passphrase: $0) }
            } catch ArchiveFailure.wrongPassphrase {
                continue
            }
        }
        // Unlike a user, any other source would return the same passphrase again, or nothing.
        if !passphrases.isEmpty, keys.passphrase != nil, keys.passphrase != .terminal {
            throw ArchiveFailure.wrongPassphrase
        }
        let fresh = KeptSecret()
        var isRead = false
        defer { if fresh.isRead { passphrases.append(fresh) } }
        do {
            return try fresh.use(wanted, in: context) { passphrase in
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
        do {
            let read = try keys.identities.flatMap {
                try context.identities(in: $0, passphrase: keys.identityPassphrase)
            }
            identities = read
            return read
        } catch {
            hasUnreadableKey = true
            throw error
        }
    }
}

extension TaskContext {
    /// Refuses a file that is not an archive by what it is; does nothing if that is unknown.
    ///
    /// - Throws: `ArchivePlaceProblem` (`ownFile`, `foreign`), `ForeignFailure`, `FileFailure`, `StreamFailure`.
    func requireNoOther(_ path: String) throws {
        do {
            guard let kind = try ForeignReader(path, FileAccess(), in: self).formatOfFile() else { return }
            throw ArchivePlaceProblem.foreign(path: path, title: kind.title)
        } catch ForeignFailure.own(let file) where file != .archive {
            throw ArchivePlaceProblem.ownFile(path: path, file)
        } catch is ReaderFailure {
            // Reading it as an archive says that it is none.
        }
    }

    /// Starts to show the progress of work that reads the streams of an archive.
    ///
    /// - Parameters:
    ///   - readings: how many times both streams are read.
    ///   - metadataReadings: how many additional times the metadata is read.
    func follow(
        _ work: TaskWork, reading archive: OpenedArchive, _ readings: UInt64, metadata metadataReadings: UInt64 = 0
    ) -> any TaskProgress {
        asking.follow(
            work, total: { archive.size * readings + archive.metadataSize * metadataReadings },
            done: { archive.bytesRead })
    }
}
