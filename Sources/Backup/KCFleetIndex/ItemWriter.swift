internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore

/// Hashes the lines of all items of an archive.
struct ContentsHasher: RecordVisitor {
    private var lines: [UInt8] = []
    private var hash: SHA256Digest?
    /// The number of items.
    private(set) var count = 0
    /// The cost of the items if the index had none of them, in bytes.
    private(set) var size: Int64 = 0
    private let limit: Int64

    /// - Parameter limit: beyond which `size` is refused.
    init(limit: Int64 = .max) { self.limit = limit }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        size += IndexBudget.size(of: item, IndexedNames(item)) + IndexBudget.holdSize
        if let problem = IndexBudget.problem("it", size, over: limit) { throw problem }
        add(SHA256.hash(line))
    }

    mutating func add(_ line: SHA256Digest) {
        lines += line.bytes
        count += 1
        // Kept short, so that a million items need no memory.
        if lines.count >= 65_536 { fold() }
    }

    private mutating func fold() {
        let all = (hash?.bytes ?? []) + lines
        hash = SHA256.hash(all.span)
        lines.removeAll(keepingCapacity: true)
    }

    /// The digest of all lines so far.
    mutating func finish() -> SHA256Digest {
        fold()
        return hash ?? SHA256.hash(lines.span)
    }
}

/// Writes the items of an archive to an index.
struct ItemWriter: RecordVisitor {
    let writer: IndexWriter
    let series: Int64
    let contents: Int64
    /// The ID of the device as one word.
    let machine: String
    /// The number of items that the index did not have.
    private(set) var newItems = 0
    /// The cost of the rows that were added to the index, in bytes.
    private(set) var size: Int64 = 0
    private var hasher = ContentsHasher()

    // In bytes; the items of one keychain are told apart, so half a hash is plenty.
    private static let digestSize = 16

    init(writer: IndexWriter, series: Int64, contents: Int64, device: DeviceID) {
        self.writer = writer
        self.series = series
        self.contents = contents
        machine = SearchText.word(of: device)
    }

    mutating func digest() -> SHA256Digest { hasher.finish() }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        let digest = SHA256.hash(line)
        hasher.add(digest)
        let names = IndexedNames(item)
        let key = Array(digest.bytes.prefix(Self.digestSize))
        let id: Int64
        if let found = try writer.items.find(key, of: series) {
            id = found
        } else {
            id = try writer.items.insert(item, names, key, of: series, machine)
            newItems += 1
            size += IndexBudget.size(of: item, names)
        }
        try writer.items.hold(id, contents)
        size += IndexBudget.holdSize
    }
}

/// The statements that write items, compiled once for each transaction.
struct ItemStatements {
    private let database: PrivateDatabase
    private let found: SQLStatement
    private let item: SQLStatement
    private let words: SQLStatement
    private let holds: SQLStatement

    init(_ database: PrivateDatabase) throws(KeychainStoreError) {
        self.database = database
        found = try database.statement("SELECT id FROM item WHERE series = ?1 AND digest = ?2")
        item = try database.statement(
            """
            INSERT INTO item(series, digest, uuid, class, service, server, account, label, agrp, pdmn, created, modified) \
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """)
        words = try database.statement(
            "INSERT INTO words(rowid, service, server, account, label, machine) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
        holds = try database.statement("INSERT INTO holds(item, contents) VALUES(?1, ?2)")
    }

    /// The row of an item; nil if there is none.
    func find(_ digest: [UInt8], of series: Int64) throws(KeychainStoreError) -> Int64? {
        try found.bind(series, 1)
        try found.bind(digest.span, 2)
        defer { found.reset() }
        return try found.step() ? found.integer(0) : nil
    }

    /// Inserts an item with its words, and returns its row.
    func insert(
        _ new: Item, _ names: IndexedNames, _ digest: [UInt8], of series: Int64, _ machine: String
    ) throws(KeychainStoreError) -> Int64 {
        try item.bind(series, 1)
        try item.bind(digest.span, 2)
        try item.bind(new.uuid.bytes.span, 3)
        try item.bind(text: new.itemClass.rawValue, 4)
        for (index, name) in names.all.enumerated() { try item.bind(text: name, 5 + index) }
        try item.bind(text: new.accessGroup, 9)
        try item.bind(text: new.accessibility.rawValue, 10)
        try item.bind(new.created.microseconds, 11)
        try item.bind(new.modified.microseconds, 12)
        try item.run()
        let id = database.lastInsertedRow
        try words.bind(id, 1)
        for (index, name) in names.all.enumerated() { try words.bind(text: name, 2 + index) }
        try words.bind(text: machine, 6)
        try words.run()
        return id
    }

    /// Says that some contents have an item.
    func hold(_ item: Int64, _ contents: Int64) throws(KeychainStoreError) {
        try holds.bind(item, 1)
        try holds.bind(contents, 2)
        try holds.run()
    }
}

/// The names of an item that are searched; nil for those that it lacks, or whose bytes are not text.
struct IndexedNames {
    /// Service, server, account and label.
    let all: [String?]

    init(_ item: Item) {
        all = [AttributeCode.svce, .srvr, .acct, .labl].map { item.attributes.text($0) }
    }
}
