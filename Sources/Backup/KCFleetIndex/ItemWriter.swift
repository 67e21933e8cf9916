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

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
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
        let found = try writer.row(
            "SELECT id FROM item WHERE series = ?1 AND digest = ?2",
            """
            INSERT INTO item(series, digest, uuid, class, service, server, account, label, agrp, pdmn, created, modified) \
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """
        ) { statement, isInsert throws(KeychainStoreError) in
            try statement.bind(series, 1)
            try statement.bind(Array(digest.bytes.prefix(Self.digestSize)).span, 2)
            if isInsert { try Self.bind(item, names, to: statement) }
        }
        if found.isNew {
            try insertWords(found.id, names)
            newItems += 1
        }
        try writer.run("INSERT INTO holds(item, contents) VALUES(?1, ?2)", found.id, contents)
    }

    private static func bind(
        _ item: Item, _ names: IndexedNames, to statement: SQLStatement
    ) throws(KeychainStoreError) {
        try statement.bind(item.uuid.bytes.span, 3)
        try statement.bind(text: item.itemClass.rawValue, 4)
        for (index, name) in names.all.enumerated() { try statement.bind(text: name, 5 + index) }
        try statement.bind(text: item.accessGroup, 9)
        try statement.bind(text: item.accessibility.rawValue, 10)
        try statement.bind(item.created.microseconds, 11)
        try statement.bind(item.modified.microseconds, 12)
    }

    private func insertWords(_ id: Int64, _ names: IndexedNames) throws(KeychainStoreError) {
        let insert = try writer.database.statement(
            "INSERT INTO words(rowid, service, server, account, label, machine) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
        try insert.bind(id, 1)
        for (index, name) in names.all.enumerated() { try insert.bind(text: name, 2 + index) }
        try insert.bind(text: machine, 6)
        try insert.run()
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
