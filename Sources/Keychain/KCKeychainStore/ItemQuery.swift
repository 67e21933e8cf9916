internal import KCByteStreams
package import KCKeychainModel

/// Selects items: all conditions must hold, and texts are compared by their bytes.
package struct ItemQuery: Hashable, Sendable {
    /// Selects items by their `sync`.
    package enum Synchronizable: Hashable, Sendable {
        case no
        case yes
        case any
    }

    /// The class; nil for all four.
    package var itemClass: ItemClass?
    /// The UUID; nil for any.
    package var uuid: ItemUUID?
    /// Values that must be equal; an absent attribute of a unique key equals its default, such as the empty text.
    package var attributes: [AttributeCode: AttributeValue]
    /// The access groups to search; nil for all.
    package var accessGroups: [String]?
    /// Selects items by their `sync`; a value of `.sync` in `attributes` is an additional condition.
    package var synchronizable: Synchronizable
    /// The maximum number of items; nil for no limit.
    package var limit: Int?
    /// True to select tombstones instead of live items.
    package var meansTombstones = false
    /// The order within a class.
    package var order = Order.archive

    /// The order of the items of one class.
    package enum Order: Hashable, Sendable {
        /// By unique key, as in an archive.
        case archive
        /// Older ones first; changes do not move an item, and a restore adds in archive order.
        case insertion
    }

    /// Creates a query that matches every item unless conditions are given.
    package init(
        itemClass: ItemClass? = nil, uuid: ItemUUID? = nil, attributes: [AttributeCode: AttributeValue] = [:],
        accessGroups: [String]? = nil, synchronizable: Synchronizable = .any, limit: Int? = nil
    ) {
        self.itemClass = itemClass
        self.uuid = uuid
        self.attributes = attributes
        self.accessGroups = accessGroups
        self.synchronizable = synchronizable
        self.limit = limit
    }

    /// Matches one item by its identity.
    package init(_ item: Item) {
        self.init(itemClass: item.itemClass, uuid: item.uuid)
    }

    /// Adds the condition that an attribute equals this text; nil removes it.
    package mutating func require(_ code: AttributeCode, _ text: String?) {
        attributes[code] = text.map { .text($0) }
    }
}

extension ItemQuery {
    /// The maximum number of access groups in a query; Apple's entitlements list a few dozen.
    package static let accessGroupLimit = 1_000

    /// The classes whose items can have all the requested attributes.
    var classes: [ItemClass] {
        ItemClass.allCases.filter { candidate in
            (itemClass ?? candidate) == candidate && attributes.keys.allSatisfy { $0.belongs(to: candidate) }
        }
    }

    /// Checks that values have the kinds of their attributes.
    ///
    /// - Throws: `item` (`wrongKind`), `limit`.
    func check() throws(KeychainStoreError) {
        for (code, value) in attributes {
            let fits =
                switch value {
                case .text, .data: !Schema.isNumber(code)
                case .number: code.kind == .number
                case .date: code.kind == .date
                }
            guard fits else { throw .item(.wrongKind(code)) }
        }
        let groups = accessGroups?.count ?? 0
        guard groups <= Self.accessGroupLimit else {
            throw .limit("access groups of a query", found: groups, allowed: Self.accessGroupLimit)
        }
    }

    /// The statement that selects the rows of one class in order, with all parameters bound.
    ///
    /// - Parameter isNumbered: true to select the rowids too.
    func statement(
        _ row: ItemRow, isNumbered: Bool, on database: Database
    ) throws(KeychainStoreError) -> SQLStatement {
        let selection = isNumbered ? row.numberedSelection : row.selection
        // Found with a plain condition, a row would show the UUID that the index has.
        let hasUUID = ItemRow.isLedTo(row.itemClass, "uuid=?")
        return try statement(selection, hasUUID, row.clause(for: order), row, on: database)
    }

    /// The statement that counts the rows of one class in the table itself, with all parameters bound.
    func count(_ row: ItemRow, on database: Database) throws(KeychainStoreError) -> SQLStatement {
        try statement("SELECT count(*) FROM \(row.itemClass.rawValue) NOT INDEXED", "uuid=?", "", row, on: database)
    }

    private func statement(
        _ selection: String, _ hasUUID: String, _ order: String, _ row: ItemRow, on database: Database
    ) throws(KeychainStoreError) -> SQLStatement {
        let key = Set(row.itemClass.uniqueKey)
        let ordered = attributes.sorted { $0.key < $1.key }
        var conditions = [meansTombstones ? ItemRow.isTombstone : ItemRow.isLive]
        if uuid != nil { conditions.append(hasUUID) }
        for (code, _) in ordered {
            // The plus keeps SQLite from taking the value from an index.
            conditions.append((key.contains(code) ? Schema.keyTerm(code) : "+" + Schema.quoted(code)) + "=?")
        }
        switch synchronizable {
        case .any: break
        case .no: conditions.append(Schema.keyTerm(.sync) + "=0")
        case .yes: conditions.append(Schema.keyTerm(.sync) + "=1")
        }
        if let accessGroups {
            let marks = accessGroups.map { _ in "?" }.joined(separator: ",")
            conditions.append(Schema.keyTerm(.agrp) + " IN (\(marks))")
        }
        let statement = try SQLStatement(
            "\(selection) WHERE \(conditions.joined(separator: " AND "))\(order)", on: database)
        var parameter = 1
        if let uuid {
            try statement.bind(uuid.bytes.span, parameter)
            parameter += 1
        }
        for (_, value) in ordered {
            try ItemRow.bind(value, parameter, to: statement)
            parameter += 1
        }
        for group in accessGroups ?? [] {
            try statement.bindBytes(of: group, parameter)
            parameter += 1
        }
        return statement
    }
}

/// The result of a query.
package struct ItemMatches: Hashable, Sendable {
    /// The items in archive order.
    package var items: [Item] = []
    /// The number of matching rows that are not valid items; they are not in `items`.
    package var damaged = 0
}
