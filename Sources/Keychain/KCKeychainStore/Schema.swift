internal import KCKeychainModel

/// The tables of a keychain file, format version 1 (docs/keychain-file.md).
enum Schema {
    /// "kcbk" in ASCII, in the header of the file.
    static let applicationID: Int64 = 0x6b63_626b
    /// The format version in the header (`user_version`).
    static let version: Int64 = 1

    /// A row of `sqlite_schema`: type, name, table, text.
    struct Entry: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    /// The tables and indexes in order of creation.
    static let entries: [Entry] =
        [
            table("keychain", ["store BLOB NOT NULL", "created INTEGER NOT NULL", "mac BLOB NOT NULL"]),
            table("keybag", ["bag TEXT NOT NULL"]),
            table("attempts", ["failed INTEGER NOT NULL", "last INTEGER NOT NULL"]),
        ] + ItemClass.allCases.flatMap { itemEntries($0) }

    /// The schema of one class: the table and its two unique indexes.
    ///
    /// Absent attributes are NULL, so that absent and empty values stay distinct. In the unique key they are equal,
    /// because the index covers each value with its default filled in.
    private static func itemEntries(_ itemClass: ItemClass) -> [Entry] {
        let name = itemClass.rawValue
        let attributes = columns(of: itemClass).map { code in "\(quoted(code)) \(isNumber(code) ? "INTEGER" : "BLOB")" }
        let own = ["uuid BLOB NOT NULL", "tomb INTEGER NOT NULL", "odd TEXT", "extra TEXT"]
        // Few items have a constraint, and each command that reads all secrets asks for them.
        let column = quoted(.accc)
        let constraints = Entry(
            type: "index", name: name + "_accc", table: name,
            sql: "CREATE INDEX \(name)_accc ON \(name)(\(column)) WHERE \(column) IS NOT NULL")
        return [table(name, own + attributes + ["data BLOB"])]
            + (AttributeCode.accc.belongs(to: itemClass) ? [constraints] : [])
            + [
                Entry(
                    type: "index", name: name + "_uuid", table: name,
                    sql: "CREATE UNIQUE INDEX \(name)_uuid ON \(name)(uuid)"),
                Entry(
                    type: "index", name: name + "_key", table: name,
                    sql:
                        "CREATE UNIQUE INDEX \(name)_key ON \(name)(\(keyTerms(of: itemClass).joined(separator: ",")))"
                ),
            ]
    }

    private static func table(_ name: String, _ columns: [String]) -> Entry {
        Entry(
            type: "table", name: name, table: name,
            sql: "CREATE TABLE \(name)(\((["id INTEGER PRIMARY KEY"] + columns).joined(separator: ","))) STRICT")
    }

    /// The attributes that are columns of a class: all that it can have, the lowest code first.
    static func columns(of itemClass: ItemClass) -> [AttributeCode] {
        AttributeCode.allCases.filter { $0.belongs(to: itemClass) }
    }

    /// The terms of the unique index; queries must repeat them literally for SQLite to use it.
    static func keyTerms(of itemClass: ItemClass) -> [String] {
        itemClass.uniqueKey.map { keyTerm($0) }
    }

    /// A column of the unique key with its default.
    ///
    /// - Parameter table: the name of the table and a period, in a statement with several.
    static func keyTerm(_ code: AttributeCode, of table: String = "") -> String {
        switch Item.keyDefault(code) {
        case .number(let number): "ifnull(\(table)\(quoted(code)),\(number))"
        case .date(let date): "ifnull(\(table)\(quoted(code)),\(date.microseconds))"
        case .text, .data: "ifnull(\(table)\(quoted(code)),x'')"
        }
    }

    /// The quoted code of an attribute, since some codes are SQL keywords (`desc`).
    static func quoted(_ code: AttributeCode) -> String { "\"\(code.code)\"" }

    /// True for attributes stored as integers; dates are microseconds since 1970.
    static func isNumber(_ code: AttributeCode) -> Bool { code.kind == .number || code.kind == .date }

    /// Creates the tables in an empty database.
    static func create(in database: Database) throws(KeychainStoreError) {
        try pragma("application_id", applicationID, database)
        try pragma("user_version", version, database)
        for entry in entries { try SQLStatement(entry.sql, on: database).run() }
    }

    /// Checks that the file is a keychain with exactly these tables, and nothing else that SQLite would run.
    static func verify(_ database: Database) throws(KeychainStoreError) {
        guard try number("PRAGMA application_id", database) == applicationID else {
            throw .notAKeychain(.otherApplication)
        }
        let found = try number("PRAGMA user_version", database)
        guard found <= version else { throw .newerFormat(found: Int(clamping: found), known: Int(version)) }
        guard found == version else { throw .notAKeychain(.otherSchema) }
        // Compared as bytes: in Swift, the Kelvin sign equals the letter K.
        var expected = Set(
            entries.map { entry in [entry.type, entry.name, entry.table, entry.sql].map { Array($0.utf8) } })
        let rows = try SQLStatement("SELECT type, name, tbl_name, sql FROM sqlite_schema", on: database)
        while try rows.step() {
            let found = (0..<4).map { column in rows.withBytes(column) { bytes in bytes.indices.map { bytes[$0] } } }
            guard expected.remove(found) != nil else { throw .notAKeychain(.otherSchema) }
        }
        guard expected.isEmpty else { throw .notAKeychain(.otherSchema) }
    }

    private static func pragma(_ name: String, _ value: Int64, _ database: Database) throws(KeychainStoreError) {
        let statement = try SQLStatement("PRAGMA \(name) = \(value)", on: database)
        while try statement.step() {}
    }

    private static func number(_ sql: String, _ database: Database) throws(KeychainStoreError) -> Int64 {
        let statement = try SQLStatement(sql, on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        return statement.integer(0)
    }
}
