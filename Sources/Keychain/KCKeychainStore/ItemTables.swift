internal import KCByteStreams
internal import KCKeychainModel

/// The item tables within one transaction, with cached statements.
final class ItemTables {
    let database: Database

    private enum Use: Int, CaseIterable {
        case byKey, byUUID, bySeries, besideUUID, insert, replace, remove
    }

    private var statements: [SQLStatement?]
    private var parameters = SQLParameters()
    private var builder = AttributesBuilder()
    /// The row that was found last by its UUID, which is often asked for again, and the number of changes until then.
    private var latest: (found: Found, itemClass: ItemClass, changes: Int64)?
    /// Finds what is looked up in order; nil before that, and when it does not pay.
    private var walk: KeyWalk?
    private var walkCredit = KeyWalk.mostCredit
    /// The seals of the rows that were inserted, by class, and the number of all changes before the first one.
    private var insertedSeals = [[UInt8]](repeating: [], count: ItemClass.allCases.count)
    private var insertedCount: Int64 = 0
    private let changesBefore: Int64
    // Beside these, the record for undo of a million rows would be in memory twice.
    private static let mostInserted: Int64 = 65_536
    /// The UUIDs of each class, once the series of many items were asked for.
    private var ordered: [ItemClass: OrderedUUIDs] = [:]
    private var isOrdered = false
    private var seriesAskedFor = 0
    // So many that to read all UUIDs pays, for all but large keychains.
    private static let manySeries = 100

    init(_ database: Database) {
        self.database = database
        changesBefore = database.changeCount
        statements = Array(repeating: nil, count: ItemClass.allCases.count * Use.allCases.count)
    }

    /// The contents of a row: its item, if valid, and its sealed secret.
    struct Found {
        let uuid: ItemUUID?
        let isTombstone: Bool
        /// Nil if the row is not a valid item.
        let item: Item?
        /// Ciphertext, or public data.
        let blob: [UInt8]
    }

    /// The row (tombstone or live) with the unique key of `item`.
    func row(withKeyOf item: Item) throws(KeychainStoreError) -> Found? {
        let row = ItemRow.of(item.itemClass)
        let statement = try statement(.byKey, row)
        defer { statement.reset() }
        try row.bindKey(of: item, to: statement)
        guard try statement.step() else { return nil }
        guard row.key(statement) == row.key(of: item) else { throw .indexMismatch }
        let found = Found(statement, row, &builder)
        latest = (found, item.itemClass, database.changeCount)
        return found
    }

    /// The row (tombstone or live) with the unique key of `item`, for one who looks up many in the order of an archive.
    func row(inOrderWithKeyOf item: Item) throws(KeychainStoreError) -> Found? {
        if let found = try walked(to: item) {
            latest = (found, item.itemClass, database.changeCount)
            return found
        }
        return try row(withKeyOf: item)
    }

    private func walked(to item: Item) throws(KeychainStoreError) -> Found? {
        if let walk, walk.changes != database.changeCount { walkCredit = 0 }
        if walkCredit > 0, walk?.itemClass != item.itemClass {
            walkCredit -= KeyWalk.startCost
            walk = try KeyWalk(item.itemClass, on: database)
        }
        guard walkCredit > 0 else {
            walk = nil
            return nil
        }
        return try walk?.row(withKeyOf: item, credit: &walkCredit)
    }

    /// The row (tombstone or live) with this UUID.
    func row(_ itemClass: ItemClass, _ uuid: ItemUUID) throws(KeychainStoreError) -> Found? {
        if let latest, latest.itemClass == itemClass, latest.found.uuid == uuid,
            latest.changes == database.changeCount
        {
            return latest.found
        }
        let row = ItemRow.of(itemClass)
        let statement = try statement(.byUUID, row)
        defer { statement.reset() }
        try statement.bind(uuid.bytes.span, 1)
        guard try statement.step() else { return nil }
        let found = Found(statement, row, &builder)
        guard found.uuid == uuid else { throw .indexMismatch }
        latest = (found, itemClass, database.changeCount)
        return found
    }

    /// Checks that a row that is missing from the index is also missing from the table.
    ///
    /// - Throws: `damaged` if it is, `sqlite`.
    func requireGone(_ itemClass: ItemClass, _ uuid: ItemUUID) throws(KeychainStoreError) {
        let name = itemClass.rawValue
        let statement = try SQLStatement("SELECT 1 FROM \(name) NOT INDEXED WHERE uuid=?", on: database)
        try statement.bind(uuid.bytes.span, 1)
        if try statement.step() { throw .indexMismatch }
    }

    /// The row (tombstone or live) of any class with this UUID.
    func row(_ uuid: ItemUUID) throws(KeychainStoreError) -> Found? {
        for itemClass in ItemClass.allCases {
            if let found = try row(itemClass, uuid) { return found }
        }
        return nil
    }

    /// The live items of a class whose UUIDs differ from that of `item` in the ordinal alone, by ordinal.
    func series(of item: Item) throws(KeychainStoreError) -> [Item] {
        let row = ItemRow.of(item.itemClass)
        let statement = try statement(.bySeries, row)
        defer { statement.reset() }
        try statement.bind(item.uuid.with(ordinal: 0).bytes.span, 1)
        try statement.bind(item.uuid.with(ordinal: .max).bytes.span, 2)
        var items: [Item] = []
        while try statement.step() {
            if !row.isTombstone(statement), let item = row.item(statement, &builder) { items.append(item) }
        }
        return items
    }

    /// True if a live row of a class has a UUID that differs from that of `item` in the ordinal alone.
    func hasOthersInSeries(of item: Item) throws(KeychainStoreError) -> Bool {
        seriesAskedFor += 1
        if seriesAskedFor == Self.manySeries { isOrdered = try rowBound() <= OrderedUUIDs.mostRows }
        // Which of them are live, only the table knows.
        if isOrdered, let uuids = try orderedUUIDs(of: item.itemClass), !uuids.hasOthersInSeries(of: item.uuid) {
            return false
        }
        let statement = try statement(.besideUUID, ItemRow.of(item.itemClass))
        defer { statement.reset() }
        try statement.bind(item.uuid.with(ordinal: 0).bytes.span, 1)
        try statement.bind(item.uuid.with(ordinal: .max).bytes.span, 2)
        try statement.bind(item.uuid.bytes.span, 3)
        return try statement.step()
    }

    private func orderedUUIDs(of itemClass: ItemClass) throws(KeychainStoreError) -> OrderedUUIDs? {
        if let known = ordered[itemClass] {
            if known.changes == database.changeCount { return known }
            isOrdered = false
            return nil
        }
        let uuids = try OrderedUUIDs(itemClass, on: database)
        ordered[itemClass] = uuids
        return uuids
    }

    /// True if a class has a live row.
    func hasLiveRows(_ itemClass: ItemClass) throws(KeychainStoreError) -> Bool {
        try number("SELECT EXISTS(SELECT 1 FROM \(itemClass.rawValue) WHERE \(ItemRow.isLive))") != 0
    }

    /// True if a live password has a derived UUID.
    var hasDerivedUUIDs: Bool {
        get throws(KeychainStoreError) {
            // The version is in the seventh byte.
            let isDerived = "substr(uuid,7,1) BETWEEN x'80' AND x'8f'"
            for itemClass in [ItemClass.genericPassword, .internetPassword] {
                let sql = "SELECT EXISTS(SELECT 1 FROM \(itemClass.rawValue) WHERE \(ItemRow.isLive) AND \(isDerived))"
                if try number(sql) != 0 { return true }
            }
            return false
        }
    }

    /// Adds a row; the unique key and the UUID must be free.
    ///
    /// - Throws: `duplicateItem` if one is taken; nothing is then changed.
    func insert(_ item: Item, blob: borrowing SecretBytes) throws(KeychainStoreError) {
        try write(.insert, item, blob: blob)
        insertedCount += 1
        guard insertedCount <= Self.mostInserted else { return }
        let position = item.itemClass.position
        blob.withBytes { RowSeal(of: $0)?.append(to: &insertedSeals[position]) }
    }

    /// The seals of all rows that were inserted into a class; nil if anything else was changed too, or if they are many.
    func sealsInserted(into itemClass: ItemClass) -> [UInt8]? {
        let isAll = database.changeCount - changesBefore == insertedCount
        return isAll && insertedCount <= Self.mostInserted ? insertedSeals[itemClass.position] : nil
    }

    /// Adds a tombstone.
    func insert(tombstone item: Item) throws(KeychainStoreError) {
        try write(.insert, tombstone: item)
    }

    /// Updates the row with the UUID of `item`, which must exist.
    func replace(_ item: Item, blob: borrowing SecretBytes) throws(KeychainStoreError) {
        try write(.replace, item, blob: blob)
    }

    /// Turns the row with the UUID of `item`, which must exist, into a tombstone.
    func replace(tombstone item: Item) throws(KeychainStoreError) {
        try write(.replace, tombstone: item)
    }

    /// Removes a row of any kind, which must exist.
    func remove(_ itemClass: ItemClass, _ uuid: ItemUUID) throws(KeychainStoreError) {
        let statement = try statement(.remove, ItemRow.of(itemClass))
        try statement.bind(uuid.bytes.span, 1)
        try changingOneRow { () throws(KeychainStoreError) in try statement.run() }
    }

    private func changingOneRow(_ run: () throws(KeychainStoreError) -> Void) throws(KeychainStoreError) {
        let before = database.changeCount
        try run()
        guard database.changeCount == before + 1 else { throw .indexMismatch }
    }

    /// An upper bound of the number of rows of all classes, determined without counting.
    func rowBound() throws(KeychainStoreError) -> Int {
        let statement = try SQLStatement(Self.highestRows, on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        var sum: Int64 = 0
        for index in ItemClass.allCases.indices {
            let (next, overflow) = sum.addingReportingOverflow(max(0, statement.integer(index)))
            sum = overflow ? .max : next
        }
        return Int(sum)
    }

    private static let highestRows =
        "SELECT " + ItemClass.allCases.map { "(SELECT max(id) FROM \($0.rawValue))" }.joined(separator: ",")

    /// The number of rows of a class, including tombstones, according to the UUID index.
    func rowCount(_ itemClass: ItemClass) throws(KeychainStoreError) -> Int {
        Int(try number("SELECT count(*) FROM \(itemClass.rawValue) INDEXED BY \(itemClass.rawValue)_uuid"))
    }

    /// The number of rows of a class, including tombstones, in the table and in its UUID index.
    ///
    /// - Throws: `damaged` if the two differ.
    func checkedRowCount(_ itemClass: ItemClass) throws(KeychainStoreError) -> Int {
        let count = Int(try number("SELECT count(*) FROM \(itemClass.rawValue) NOT INDEXED"))
        guard try count == rowCount(itemClass) else { throw .indexMismatch }
        return count
    }

    /// The single number that a query returns; NULL is 0.
    func number(_ sql: String) throws(KeychainStoreError) -> Int64 {
        let statement = try SQLStatement(sql, on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        return statement.integer(0)
    }

    private func write(_ use: Use, _ item: Item, blob: borrowing SecretBytes) throws(KeychainStoreError) {
        let row = ItemRow.of(item.itemClass)
        let statement = try statement(use, row)
        fillParameters(use, item, isTombstone: false, row)
        try changingOneRow { () throws(KeychainStoreError) in
            try blob.withBytes { span throws(KeychainStoreError) in
                try statement.run(parameters, data: span, ItemRow.dataParameter)
            }
        }
    }

    private func write(_ use: Use, tombstone item: Item) throws(KeychainStoreError) {
        let row = ItemRow.of(item.itemClass)
        let statement = try statement(use, row)
        fillParameters(use, item, isTombstone: true, row)
        try changingOneRow { () throws(KeychainStoreError) in try statement.run(parameters) }
    }

    private func fillParameters(_ use: Use, _ item: Item, isTombstone: Bool, _ row: ItemRow) {
        row.fill(&parameters, item, isTombstone: isTombstone)
        if use == .replace { parameters.append(item.uuid.bytes.span, row.replacementKey) }
    }

    private func statement(_ use: Use, _ row: ItemRow) throws(KeychainStoreError) -> SQLStatement {
        let index = row.itemClass.position * Use.allCases.count + use.rawValue
        if let statement = statements[index] { return statement }
        let sql =
            switch use {
            case .byKey: row.selection + row.hasKey
            case .byUUID: row.selection + " WHERE " + ItemRow.isLedTo(row.itemClass, "uuid=?")
            case .bySeries: row.selection + " WHERE uuid BETWEEN ? AND ? ORDER BY uuid"
            case .besideUUID:
                "SELECT 1 FROM \(row.itemClass.rawValue) WHERE uuid BETWEEN ? AND ? AND uuid<>? AND \(ItemRow.isLive)"
            case .insert: row.insertion
            case .replace: row.replacement
            case .remove: row.removal
            }
        let statement = try SQLStatement(sql, on: database)
        statements[index] = statement
        return statement
    }
}

extension ItemTables.Found {
    /// Reads the current row of a statement.
    ///
    /// - Parameter builder: an empty one, whose memory is used.
    init(_ statement: SQLStatement, _ row: ItemRow, _ builder: inout AttributesBuilder) {
        self.init(
            uuid: row.uuid(statement), isTombstone: row.isTombstone(statement), item: row.item(statement, &builder),
            blob: row.withData(statement) { bytes in Array(copying: bytes) })
    }
}
