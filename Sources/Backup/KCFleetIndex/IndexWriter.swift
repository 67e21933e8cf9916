internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCFleet
internal import KCKeychainModel
internal import KCKeychainStore

/// Which keys archives are opened with: an archive that none of them opened is tried again with others.
package struct IndexKeys: Hashable, Sendable {
    let digest: [UInt8]

    /// - Parameter recipients: the public halves of the keys, in any order.
    package init(recipients: [String]) {
        var hash = SHA256()
        for recipient in recipients.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            hash.update(Array((recipient + "\n").utf8).span)
        }
        digest = hash.finalize().bytes
    }
}

/// Writes archives to an index, within a write transaction.
struct IndexWriter {
    let database: PrivateDatabase
    let keys: IndexKeys
    let members: FleetMembers
    let items: ItemStatements
    private let now: Timestamp
    private let budget: IndexBudget

    // In microseconds, as for names of archives.
    private static let tolerance: Int64 = 86_400_000_000

    init(
        _ database: PrivateDatabase, _ keys: IndexKeys, _ members: FleetMembers, _ budget: IndexBudget,
        now: Timestamp
    ) throws(KeychainStoreError) {
        self.now = now
        self.budget = budget
        self.database = database
        self.keys = keys
        self.members = members
        items = try ItemStatements(database)
    }

    /// The outcome for an archive.
    enum Taken {
        /// Another indexer has taken it meanwhile.
        case known
        /// The archive is in the index with this many items that were not, or not as they are now.
        case added(newItems: Int)
        case rejected(IndexProblem)
    }

    /// Takes in an archive that could not be read, so that it is not tried again.
    func reject(_ archive: FleetArchive, _ problem: IndexProblem) throws -> Taken {
        guard let machine = try place(of: archive) else { return .known }
        let insert = try database.statement(
            "INSERT INTO archive(machine, name, size, problem, detail, keys) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
        try bind(archive, machine, to: insert)
        try insert.bind(text: problem.name, 4)
        try insert.bind(text: problem.detail, 5)
        try insert.bind(keys.digest.span, 6)
        try insert.run()
        return .rejected(problem)
    }

    /// Takes in an archive that was proved.
    ///
    /// - Throws: `KeychainStoreError`, and `ArchiveFailure` if its metadata is not what was proved.
    func add(_ archive: FleetArchive, _ proved: ProvedMetadata) throws -> Taken {
        guard let machine = try place(of: archive) else { return .known }
        let header = proved.metadata.header
        let copy = try database.statement("SELECT 1 FROM archive WHERE machine = ?1 AND archive = ?2")
        try copy.bind(machine, 1)
        try copy.bind(header.archiveID.span, 2)
        if try copy.step() { return try reject(archive, .copy) }
        let size = try used(by: machine) + proved.size
        if let problem = IndexBudget.problem("the archives of its machine", size, over: budget.machine),
            try !hasContents(of: machine, proved)
        {
            return try reject(archive, problem)
        }
        let series = try series(of: machine, proved.source)
        let (contents, newItems) = try contents(of: series, of: machine, proved)
        let insert = try database.statement(
            """
            INSERT INTO archive(machine, name, size, archive, created, series, contents) \
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        try bind(archive, machine, to: insert)
        try insert.bind(header.archiveID.span, 4)
        try insert.bind(header.created.microseconds, 5)
        try insert.bind(series, 6)
        try insert.bind(contents, 7)
        try insert.run()
        try run("UPDATE contents SET last = max(last, ?2) WHERE id = ?1", contents, header.created.microseconds)
        // An archive whose time is to come, by a clock that was fast, is the newest only as long as there is no other.
        let limit = now.advanced(byMicroseconds: Self.tolerance)
        try run(
            header.created > limit
                ? "UPDATE series SET newest = ?2, contents = ?3 WHERE id = ?1 AND newest <= ?2 "
                    + "AND (newest = 0 OR newest > ?4)"
                : "UPDATE series SET newest = ?2, contents = ?3 WHERE id = ?1 AND (newest <= ?2 OR newest > ?4)",
            series, header.created.microseconds, contents, limit.microseconds)
        return .added(newItems: newItems)
    }

    /// The row of the machine of an archive; nil if the index has the archive.
    ///
    /// An archive that other keys did not open is removed from the index.
    private func place(of archive: FleetArchive) throws(KeychainStoreError) -> Int64? {
        let known = try database.statement(IndexSchema.known)
        try known.bind(archive, keys)
        if try known.step() { return nil }
        let machine = try row(
            "SELECT id FROM machine WHERE device = ?1", "INSERT INTO machine(device, name) VALUES(?1, ?2)"
        ) { statement, isInsert throws(KeychainStoreError) in
            try statement.bind(text: archive.device.description, 1)
            if isInsert { try statement.bind(text: members.name(of: archive.device), 2) }
        }
        let delete = try database.statement("DELETE FROM archive WHERE machine = ?1 AND name = ?2 AND size = ?3")
        try bind(archive, machine.id, to: delete)
        try delete.run()
        return machine.id
    }

    private func series(of machine: Int64, _ source: ArchiveSource) throws(KeychainStoreError) -> Int64 {
        try row(
            "SELECT id FROM series WHERE machine = ?1 AND kind = ?2 AND name = ?3",
            "INSERT INTO series(machine, kind, name, newest, contents) VALUES(?1, ?2, ?3, 0, 0)"
        ) { statement, _ throws(KeychainStoreError) in
            try statement.bind(machine, 1)
            try statement.bind(text: source.kind, 2)
            try statement.bind(text: source.name, 3)
        }.id
    }

    private func used(by machine: Int64) throws(KeychainStoreError) -> Int64 {
        let row = try database.statement("SELECT used FROM machine WHERE id = ?1")
        try row.bind(machine, 1)
        return try row.step() ? row.integer(0) : 0
    }

    /// True if another archive of the keychain has the same items, so that this one costs nothing.
    private func hasContents(of machine: Int64, _ proved: ProvedMetadata) throws(KeychainStoreError) -> Bool {
        let row = try database.statement(
            """
            SELECT 1 FROM series JOIN contents ON contents.series = series.id \
            WHERE machine = ?1 AND kind = ?2 AND name = ?3 AND digest = ?4
            """)
        try row.bind(machine, 1)
        try row.bind(text: proved.source.kind, 2)
        try row.bind(text: proved.source.name, 3)
        try row.bind(proved.digest.bytes.span, 4)
        return try row.step()
    }

    private func contents(
        of series: Int64, of machine: Int64, _ proved: ProvedMetadata
    ) throws -> (id: Int64, newItems: Int) {
        let found = try row(
            "SELECT id FROM contents WHERE series = ?1 AND digest = ?2",
            "INSERT INTO contents(series, digest, items, last) VALUES(?1, ?2, ?3, 0)"
        ) { statement, isInsert throws(KeychainStoreError) in
            try statement.bind(series, 1)
            try statement.bind(proved.digest.bytes.span, 2)
            if isInsert { try statement.bind(Int64(proved.count), 3) }
        }
        guard found.isNew else { return (found.id, 0) }
        var visitor = ItemWriter(
            writer: self, series: series, contents: found.id, device: proved.metadata.header.device)
        _ = try proved.metadata.read(&visitor)
        // The items written now are those that were proved before.
        guard visitor.digest() == proved.digest else {
            throw ArchiveFailure.damaged(rule: "it changed while it was being read")
        }
        try run("UPDATE machine SET used = used + ?2 WHERE id = ?1", machine, visitor.size)
        return (found.id, visitor.newItems)
    }

    /// Finds a row, or inserts it.
    func row(
        _ select: String, _ insert: String,
        _ bind: (_ statement: SQLStatement, _ isInsert: Bool) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> (id: Int64, isNew: Bool) {
        let found = try database.statement(select)
        try bind(found, false)
        if try found.step() { return (found.integer(0), false) }
        let new = try database.statement(insert)
        try bind(new, true)
        try new.run()
        return (database.lastInsertedRow, true)
    }

    private func bind(
        _ archive: FleetArchive, _ machine: Int64, to statement: SQLStatement
    ) throws(KeychainStoreError) {
        try statement.bind(machine, 1)
        try statement.bind(text: archive.name, 2)
        try statement.bind(Int64(clamping: archive.size), 3)
    }

    func run(_ sql: String, _ numbers: Int64...) throws(KeychainStoreError) {
        let statement = try database.statement(sql)
        for (index, number) in numbers.enumerated() { try statement.bind(number, index + 1) }
        try statement.run()
    }
}
