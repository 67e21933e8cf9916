internal import KCByteStreams
package import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore

extension FleetIndex {
    /// The machines with this ID or name; none if there is no such machine.
    ///
    /// - Throws: `FleetIndexFailure`.
    package func machines(named text: String) throws -> [DeviceID] {
        try failing {
            try database.read {
                let id = DeviceID(text)
                let rows = try database.statement(
                    id == nil
                        ? "SELECT device FROM machine WHERE name = ?1" : "SELECT device FROM machine WHERE device = ?1")
                try rows.bind(text: id?.description ?? text, 1)
                var devices: [DeviceID] = []
                while try rows.step() {
                    guard let device = rows.text(0).flatMap({ DeviceID($0) }) else {
                        throw FleetIndexFailure.damaged(path)
                    }
                    devices.append(device)
                }
                return devices
            }
        }
    }

    /// Searches the index.
    ///
    /// - Throws: `FleetIndexFailure`.
    package func search(_ query: FleetQuery) throws -> FoundItems {
        try failing {
            try database.read {
                var found = FoundItems()
                // A single round for all machines, or one for each.
                for device in query.machines?.map(Optional.some) ?? [nil] {
                    try search(query, device, &found)
                    if found.hasMore { break }
                }
                if query.time == .ever { found.items = Self.newestVersions(found.items) }
                return found
            }
        }
    }

    private func search(_ query: FleetQuery, _ device: DeviceID?, _ found: inout FoundItems) throws {
        let rows = try database.statement(Self.statement(query))
        if let text = query.text {
            try rows.bind(text: text.expression(of: device), 1)
        } else {
            try rows.bind(text: device?.description, 1)
        }
        try rows.bind(Int64(query.limit - found.items.count + 1), 2)
        if case .before(let time) = query.time { try rows.bind(time.microseconds, 3) }
        while try rows.step() {
            if Interruption.isRequested { throw FleetIndexFailure.interrupted }
            if found.items.count == query.limit {
                found.hasMore = true
                return
            }
            guard let item = FoundItem(rows) else { throw FleetIndexFailure.damaged(path) }
            found.items.append(item)
        }
    }

    /// The statement for a search; `CROSS JOIN` keeps SQLite from starting elsewhere.
    ///
    /// Its parameters are the expression or the machine, the limit, and the time before which archives count.
    private static func statement(_ query: FleetQuery) -> String {
        let start =
            query.text != nil
            ? "words CROSS JOIN item ON item.id = words.rowid CROSS JOIN series ON series.id = item.series "
                + "CROSS JOIN machine ON machine.id = series.machine"
            : "machine CROSS JOIN series ON series.machine = machine.id CROSS JOIN item ON item.series = series.id"
        let condition = query.text != nil ? "words MATCH ?1" : "machine.device = ?1"
        let (seen, join, holds) =
            switch query.time {
            case .now: ("series.newest", "", "series.contents")
            case .before:
                (
                    "archive.created", " CROSS JOIN archive ON archive.id = \(newestArchive(before: "?3"))",
                    "archive.contents"
                )
            case .ever:
                (
                    "(SELECT max(contents.last) FROM holds CROSS JOIN contents ON contents.id = holds.contents "
                        + "WHERE holds.item = item.id)", "", ""
                )
            }
        let isHeld =
            holds.isEmpty
            ? "" : " AND EXISTS (SELECT 1 FROM holds WHERE holds.item = item.id AND holds.contents = \(holds))"
        return "SELECT \(FoundItem.columns), \(seen) FROM \(start)\(join) WHERE \(condition)\(isHeld) LIMIT ?2"
    }

    /// The row of the newest archive of a keychain that was made before a time, which a parameter has.
    static func newestArchive(before parameter: StaticString) -> String {
        """
        (SELECT id FROM archive AS other WHERE other.series = series.id AND other.created < \(parameter) \
        ORDER BY other.created DESC, other.id DESC LIMIT 1)
        """
    }

    /// Of the versions of each item, the one that was seen last.
    private static func newestVersions(_ items: [FoundItem]) -> [FoundItem] {
        struct Key: Hashable {
            let device: DeviceID
            let kind: ExactText
            let name: ExactText
            let uuid: ItemUUID
        }
        var newest: [Key: Int] = [:]
        for (index, item) in items.enumerated() {
            let key = Key(
                device: item.device, kind: item.sourceKind.exact, name: item.sourceName.exact, uuid: item.uuid)
            if let other = newest[key], (items[other].seen, items[other].modified) >= (item.seen, item.modified) {
                continue
            }
            newest[key] = index
        }
        return newest.values.sorted().map { items[$0] }
    }
}

extension FoundItem {
    /// The columns that `init` reads, before the time when the item was seen.
    static let columns = """
        machine.device, machine.name, series.kind, series.name, item.uuid, item.class, item.service, item.server, \
        item.account, item.label, item.agrp, item.pdmn, item.created, item.modified
        """

    /// Reads a row; nil if it is not one that this program wrote.
    init?(_ row: SQLStatement) {
        guard let device = row.text(0).flatMap({ DeviceID($0) }), let kind = row.text(2), let name = row.text(3),
            let uuid = row.withBytes(4, { ItemUUID(bytes: $0) }),
            let itemClass = row.text(5).flatMap({ ItemClass(rawValue: $0) }), let group = row.text(10),
            let accessibility = row.text(11).flatMap({ Accessibility(rawValue: $0) }),
            let created = Timestamp(microseconds: row.integer(12)),
            let modified = Timestamp(microseconds: row.integer(13)), let seen = Timestamp(microseconds: row.integer(14))
        else { return nil }
        self.device = device
        machine = row.text(1)
        sourceKind = kind
        sourceName = name
        self.uuid = uuid
        self.itemClass = itemClass
        service = row.text(6)
        server = row.text(7)
        account = row.text(8)
        label = row.text(9)
        self.group = group
        self.accessibility = accessibility
        self.created = created
        self.modified = modified
        self.seen = seen
    }
}
