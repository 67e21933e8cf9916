package import KCByteStreams
package import KCDeviceIdentity
package import KCFleet
internal import KCKeychainModel
internal import KCKeychainStore

/// A file with the metadata of all archives of a fleet, which is searched in place of the archives (docs/fleet.md).
///
/// ```swift
/// let index = try FleetIndex.opening("/home/ada/fleet.index", creating: true)
/// let found = try index.search(FleetQuery(text: SearchText("mail.example.org"), limit: 1_000))
/// ```
package final class FleetIndex {
    /// The path, as it was given.
    package let path: String
    let database: PrivateDatabase

    // The longest that another indexer keeps the file to itself: a batch of archives with as many items as fit.
    private static let lockWait = Duration.seconds(60)

    private init(path: String, database: PrivateDatabase) {
        self.path = path
        self.database = database
    }

    /// Opens an index.
    ///
    /// - Parameter creating: true to create one if there is none.
    package static func opening(_ path: String, creating: Bool = false) throws(FleetIndexFailure) -> FleetIndex {
        do throws(KeychainStoreError) {
            if creating {
                do throws(KeychainStoreError) {
                    try PrivateDatabase.create(at: path, IndexSchema.format)
                } catch {
                    // Another indexer may just have created it.
                    guard case .exists = error else { throw error }
                }
            }
            let database = try PrivateDatabase(at: path, IndexSchema.format, lockWait: lockWait)
            return FleetIndex(path: path, database: database)
        } catch {
            throw FleetIndexFailure(error, path)
        }
    }

    /// Runs `body`, and says which file a failure of the database is about.
    func failing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as KeychainStoreError {
            throw FleetIndexFailure(error, path)
        }
    }

    /// Takes over what people call the machines.
    ///
    /// - Throws: `FleetIndexFailure`.
    package func rename(_ names: [(device: DeviceID, name: String?)]) throws {
        try failing {
            try database.write {
                let update = try database.statement("UPDATE machine SET name = ?2 WHERE device = ?1 AND name IS NOT ?2")
                for (device, name) in names {
                    try update.bind(text: device.description, 1)
                    try update.bind(text: name, 2)
                    try update.run()
                }
            }
        }
    }

    /// Returns the given archives that the index does not have.
    ///
    /// - Parameter keys: see `IndexKeys`; archives that other keys did not open are among them.
    /// - Throws: `FleetIndexFailure`.
    package func missing(_ archives: [FleetArchive], _ keys: IndexKeys) throws -> [FleetArchive] {
        try failing {
            try database.read {
                let row = try database.statement(IndexSchema.known)
                return try archives.filter { archive in
                    try row.bind(archive, keys)
                    defer { row.reset() }
                    return try !row.step()
                }
            }
        }
    }

    /// How many archives the index has.
    ///
    /// - Throws: `FleetIndexFailure`.
    package func counts() throws -> Counts {
        try failing {
            try database.read {
                let rows = try database.statement(
                    """
                    SELECT (SELECT count(*) FROM archive), count(*), count(*) FILTER (WHERE problem = 'no-key') \
                    FROM archive WHERE problem <> 'copy'
                    """)
                guard try rows.step() else { throw FleetIndexFailure.damaged(path) }
                let (all, unread) = (Int(rows.integer(0)), Int(rows.integer(1)))
                return Counts(read: all - unread, unread: unread, closed: Int(rows.integer(2)))
            }
        }
    }

    /// Numbers of archives.
    package struct Counts: Hashable, Sendable {
        /// The archives whose items are in the index.
        package let read: Int
        /// The archives that could not be read, apart from copies of others.
        package let unread: Int
        /// The unread archives that no key opened.
        package let closed: Int
    }
}

/// Why an index cannot be used.
package enum FleetIndexFailure: Error, Hashable, Sendable {
    case notFound(String)
    /// The file is not the index of a fleet.
    case notAnIndex(String)
    case newerFormat(String, found: Int, known: Int)
    /// Another program has kept the file to itself for too long.
    case busy(String)
    case damaged(String)
    case diskFull(String)
    case readOnly(String)
    /// The file or one beside it is not private, not regular, and so on.
    case file(FileFailure)
    /// SQLite failed with this extended result code.
    case library(String, code: Int32)
    case interrupted

    init(_ error: KeychainStoreError, _ path: String) {
        self =
            switch error {
            case .notFound: .notFound(path)
            case .notAKeychain, .exists: .notAnIndex(path)
            case .newerFormat(let found, let known): .newerFormat(path, found: found, known: known)
            case .busy: .busy(path)
            case .diskFull: .diskFull(path)
            case .readOnly: .readOnly(path)
            case .file(let failure): .file(failure)
            case .severalNames(let other), .foreignJournal(let other): .file(FileFailure(other, .exists))
            case .sqlite(let code): .library(path, code: code)
            case .interrupted: .interrupted
            // A file that breaks a rule of the index; the other cases are of keychains.
            case .damaged, .otherDevice, .locked, .wrongPasscode, .tooManyAttempts, .passcodeNotSet, .presenceNeeded,
                .itemsAskForPasscode, .passcodeEmpty,
                .escrow, .token, .duplicateItem, .duplicateUUID, .itemNotFound, .itemDamaged, .unchangeable, .item,
                .limit,
                .cryptography, .kernelKeys:
                .damaged(path)
            }
    }
}

extension SQLStatement {
    /// Binds text, or NULL for nil.
    func bind(text: String?, _ index: Int) throws(KeychainStoreError) {
        guard let text else { return try bindNull(index) }
        let bytes = Array(text.utf8)
        try bindText(bytes.span, index)
    }

    /// Binds the parameters of `IndexSchema.known`.
    func bind(_ archive: FleetArchive, _ keys: IndexKeys) throws(KeychainStoreError) {
        try bind(text: archive.device.description, 1)
        try bind(text: archive.name, 2)
        try bind(Int64(clamping: archive.size), 3)
        try bind(keys.digest.span, 4)
    }

    /// The text in a column; nil for NULL.
    func text(_ column: Int) -> String? {
        type(column) == .null
            ? nil
            : withBytes(column) { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}
