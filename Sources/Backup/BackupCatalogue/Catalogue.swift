internal import ByteStreams
internal import Cryptography
package import DeviceIdentity
package import KeychainModel

/// What is known of one folder of backups: what it is for, and every archive that was made there.
///
/// It lies in the data folder, authenticated by the device, so that what is in the backup folder decides nothing by itself.
package struct Catalogue: Hashable, Sendable {
    /// The folder, absolute and without links.
    package let folder: String
    /// What the folder is for; nil after a catalogue was rebuilt.
    package internal(set) var pin: BackupPin?
    /// All archives, in the order in which they were made.
    package internal(set) var entries: [CatalogueEntry]
    /// When the first archive was entered; nil where that is not known.
    package internal(set) var begun: Timestamp?
    /// When an archive was last restored for a trial, also one that is gone since.
    package internal(set) var drilled: Timestamp?

    /// Starts where nothing was ever backed up.
    init(folder: String, pin: BackupPin? = nil, entries: [CatalogueEntry] = []) {
        self.folder = folder
        self.pin = pin
        self.entries = entries
    }

    /// The archives that are whole and in their place.
    package var complete: [CatalogueEntry] { entries.filter { $0.state == .complete } }

    /// Since when no archive has been restored for a trial: since the last time, or since the first backup; nil where
    /// there is no archive.
    package var undrilledSince: Timestamp? {
        complete.isEmpty ? nil : drilled ?? begun ?? entries.map(\.created).min()
    }

    /// The newest of a series.
    package func newest(of series: String) -> CatalogueEntry? {
        entries.last { $0.series == series && $0.state == .complete }
    }
}

/// The file of a catalogue.
package struct CatalogueFile {
    /// The folder of backups, absolute and without links.
    package let folder: String
    private let path: String
    private let device: DeviceKey

    // Some 20,000 archives.
    private static let sizeLimit = 16 << 20
    private static let context = Array("backup catalogue".utf8)

    /// Finds the file for a folder of backups.
    ///
    /// - Parameter catalogues: where all catalogues are.
    package init(of folder: String, in catalogues: String, device: DeviceKey) {
        self.folder = Self.place(of: folder)
        let name = SHA256.hash(self.folder.utf8.span).hex.prefix(16)
        path = "\(catalogues)/\(name)\(Self.ending(device))"
        self.device = device
    }

    /// A device that was renewed is another one, and begins catalogues of its own.
    private static func ending(_ device: DeviceKey) -> String { "-\(ArchiveName.short(device.id)).catalogue" }

    /// Where a folder is, also one that is still to be made.
    private static func place(of folder: String) -> String {
        if let place = Path.real(folder) { return place }
        let (parent, name) = Path.split(folder.hasSuffix("/") ? String(folder.dropLast()) : folder)
        guard let place = Path.real(parent) else { return folder }
        return place == "/" ? "/" + name : "\(place)/\(name)"
    }

    /// All catalogues of this device, by their folders.
    ///
    /// - Throws: `CatalogueFailure`.
    package static func all(in catalogues: String, device: DeviceKey) throws(CatalogueFailure) -> [Catalogue] {
        let names: [String]
        do {
            try PrivateFolder.require(catalogues, mayBeMissing: true)
            names = try Path.names(in: catalogues).filter { $0.hasSuffix(ending(device)) }
        } catch {
            throw .file(error)
        }
        var found: [Catalogue] = []
        for name in names.sorted() {
            if let catalogue = try read("\(catalogues)/\(name)", device, folder: name) { found.append(catalogue) }
        }
        return found.sorted { $0.folder < $1.folder }
    }

    /// The catalogue; nil where there is none.
    ///
    /// - Throws: `CatalogueFailure` (`altered`, `newerFormat`, `file`, `cryptography`).
    package func load() throws(CatalogueFailure) -> Catalogue? {
        guard let catalogue = try Self.read(path, device, folder: folder) else { return nil }
        guard catalogue.folder == folder else { throw .altered(folder: folder) }
        return catalogue
    }

    /// Replaces the catalogue, durably.
    ///
    /// - Throws: `CatalogueFailure` (`file`, `cryptography`).
    func save(_ catalogue: Catalogue) throws(CatalogueFailure) {
        var text = catalogue.spelling
        do {
            let code = try Self.code(text, device)
            CanonicalJSON.literal("{\"hmac\":\"\(Hexadecimal.encode(code))\"}\n", into: &text)
        } catch {
            throw .cryptography(error)
        }
        do {
            try PrivateFile.replace(path, text.span)
        } catch {
            throw .file(error)
        }
    }

    /// Holds off every other run that changes the catalogue or its folder.
    ///
    /// - Throws: `CatalogueFailure.file` (`busy` when the wait was in vain).
    func lock(waitingAtMost wait: Duration) throws(CatalogueFailure) -> FileLock {
        do {
            try Path.makeFolder(Path.split(path).folder)
            return try FileLock(path + ".lock", waitingAtMost: wait)
        } catch {
            throw .file(FileFailure(error.problem == .busy ? folder : error.path, error.problem))
        }
    }

    private static func read(
        _ path: String, _ device: DeviceKey, folder: String
    ) throws(CatalogueFailure) -> Catalogue? {
        var bytes: [UInt8]
        do {
            bytes = try PrivateFile.read(path, limit: sizeLimit).withBytes { span in span.indices.map { span[$0] } }
        } catch {
            if error.problem == .notFound { return nil }
            throw .file(error)
        }
        // `{"hmac":"` and `"}`, a line feed, and 64 digits.
        let length = 9 + 64 + 3
        guard bytes.count > length else { throw .altered(folder: folder) }
        let last = Array(bytes.suffix(length))
        bytes.removeLast(length)
        let code: [UInt8]
        do {
            code = try Self.code(bytes, device)
        } catch {
            throw .cryptography(error)
        }
        guard constantTimeEqual(last, Array("{\"hmac\":\"\(Hexadecimal.encode(code))\"}\n".utf8)) else {
            throw .altered(folder: folder)
        }
        do {
            return try Catalogue(parsing: bytes.span)
        } catch {
            // It is what this device wrote, so a newer program has.
            throw .newerFormat(folder: folder)
        }
    }

    private static func code(_ text: [UInt8], _ device: DeviceKey) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMACSHA256(key: device.stateMACKey(context: context))
        return try hmac.authenticate(text.span)
    }
}
