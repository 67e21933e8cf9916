internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainStore

/// An SQLite database of another program, in memory, with failures in terms of the file.
struct ForeignDatabase {
    private let image: DatabaseImage
    /// The name of the file in messages, which is not foreign text.
    private let name: String

    /// Opens the bytes of a database file.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    init(_ bytes: consuming SecretBytes, _ name: String) throws {
        self.name = name
        do throws(DatabaseImage.Failure) {
            image = try DatabaseImage(bytes)
        } catch {
            throw Self.converted(error, name)
        }
    }

    /// The rows that a statement written in this program returns.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `limit`), `CryptographyFailure`.
    func rows(_ sql: String, _ texts: [String] = [], limit: Int) throws -> [[DatabaseImage.Value]] {
        do throws(DatabaseImage.Failure) {
            return try image.rows(sql, texts, limit: limit)
        } catch {
            throw Self.converted(error, name)
        }
    }

    /// The names of a table's columns, in their order; none if there is no such table.
    ///
    /// - Parameter table: a name written in this program.
    /// - Throws: as `rows`.
    func columns(of table: String) throws -> [ExactText] {
        let rows = try rows("PRAGMA table_info(\(table))", limit: Self.columnLimit)
        return rows.map { ($0[1].text ?? "").exact }
    }

    // SQLite's own limit for the columns of a table, unless it is built with another one.
    private static let columnLimit = 2_000

    private static func converted(_ failure: DatabaseImage.Failure, _ name: String) -> any Error {
        switch failure {
        case .damaged: ForeignFailure.damaged("\(name) is not a database, or it is damaged")
        case .tooManyRows(let limit):
            ForeignFailure.limit("rows of a table", found: UInt64(limit) + 1, allowed: UInt64(limit))
        // SQLITE_NOMEM (sqlite.org/rescode.html).
        case .library(7): StreamFailure.outOfMemory(.reading)
        case .library(let code): CryptographyFailure.library("SQLite, code \(code)")
        }
    }
}

extension DatabaseImage.Value {
    /// The bytes of a blob or a text; nil for anything else.
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// A text; nil for anything else, and for bytes that are not UTF-8.
    var text: String? { bytes.flatMap { String(validating: $0, as: UTF8.self) } }

    /// A number; nil for anything else.
    var number: Int64? { if case .number(let number) = self { number } else { nil } }
}

extension ForeignFile {
    /// The number of bytes of a database that are searched for names; the schema is at the beginning.
    private static let schemaSize = 1 << 20

    /// True for an SQLite database that contains these names in its schema.
    func isDatabase(with names: [String], applicationID: String = "") -> Bool {
        guard starts(with: "SQLite format 3\0".utf8) else { return false }
        return bytes.withBytes { bytes in
            let head = bytes.extracting(0..<min(bytes.count, Self.schemaSize))
            // The application ID is at offset 68.
            guard head.matches(applicationID.utf8, at: 68) else { return false }
            return names.allSatisfy { head.holds($0) }
        }
    }
}
