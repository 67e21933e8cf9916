internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleetIndex
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension FleetSearchCommand {
    func perform(in session: Session) throws -> ExitStatus {
        let path = try indexPath(index, nil, in: session)
        if last, on != nil { throw UsageProblem.together(.last, .on) }
        if text == nil, device == nil {
            throw UsageProblem(
                "nothing is searched for", hint: "add words, or a machine with '\(OptionName.device.spelling) NAME'")
        }
        let words = try text.map { text in
            guard let words = SearchText(text) else {
                throw UsageProblem("the text has no letter or digit to search for, or more than 32 words")
            }
            return words
        }
        let time = try time(in: session)
        let table = try table.table(
            FleetSearchView.columns(session), usualOrder: FleetSearchView.usualOrder, in: session)
        let index = try FleetIndex.opening(path)
        let machines = try device.map { try index.machines(named: $0) }
        if let device, machines == [] {
            throw Refusal(
                .notFound, "no archive of a machine \(quoted(device)) is in the index",
                hint: "a machine has the name that the inventory had for 'kcbackup fleet index', and its device ID")
        }
        let found = try index.search(
            FleetQuery(text: words, machines: machines, time: time, limit: all ? 100_000 : 1_000))
        let unread = try index.counts().unread
        if unread > 0 {
            session.warn(
                "\(counted(unread, "archive")) of the fleet could not be read, and \(unread == 1 ? "is" : "are") not "
                    + "searched")
        }
        if found.items.isEmpty {
            throw Refusal(
                .notFound, "no item in the index matches",
                hint: "words are found as a whole; '\(OptionName.last.spelling)' finds what is no longer there, too")
        }
        let view = FleetSearchView(found: found, unread: unread, index: self.index, session: session)
        try session.result(view.json, view.lines(table))
        if found.hasMore {
            session.warn(
                "there are more items than the \(found.items.count) that are shown; more words or "
                    + "'\(OptionName.device.spelling)' narrow the search")
        }
        return .ok
    }

    private func time(in session: Session) throws(UsageProblem) -> FleetQuery.Time {
        guard let on else { return last ? .ever : .now }
        guard let end = session.calendar.end(ofDay: on) else {
            throw .malformed(.on, form: "a day such as '2026-10-03'")
        }
        return .before(end)
    }
}

/// The items that were found in an index, as a table and JSON.
struct FleetSearchView {
    let found: FoundItems
    /// The number of archives that were not searched.
    let unread: Int
    /// The index as it was named.
    let index: String
    let session: Session

    static let usualOrder = ["machine", "service", "account"]

    static func columns(_ session: Session) -> [Table.Column] {
        [
            Table.Column(title: "MACHINE", least: 12), Table.Column(title: "CLASS", yields: 5),
            Table.Column(title: "SERVICE", least: 20, fewest: 8), Table.Column(title: "ACCOUNT", least: 14, fewest: 7),
            Table.Column(title: "LABEL", least: 14, fewest: 8, yields: 6, repeats: "SERVICE"),
            Table.Column(title: "SEEN", yields: 7, zone: session.zones),
            Table.Column(title: "KEYCHAIN", least: 6, yields: 4), Table.Column(title: "GROUP", least: 8, yields: 3),
            Table.Column(title: "ACCESSIBLE", yields: 0), Table.Column(title: "CREATED", yields: 1),
            Table.Column(title: "MODIFIED", yields: 2), Table.Column(title: "DEVICE", isForWide: true),
        ]
    }

    private func cells(_ item: FoundItem) -> [String] {
        [
            item.machine ?? item.device.description, item.itemClass.word, item.service ?? item.server ?? "",
            item.account ?? "", item.label ?? "", session.calendar.minute(item.seen), item.sourceName, item.group,
            item.accessibility.name, session.calendar.day(item.created), session.calendar.day(item.modified),
            item.device.description,
        ]
    }

    /// The lines of the table, and how many items and machines there are.
    func lines(_ table: StreamedTable) -> [String] {
        let rows = found.items.map(cells)
        for row in rows { table.measure(row) }
        let machines = Set(found.items.map(\.device)).count
        return [table.header] + table.rows(rows)
            + [
                "\(counted(found.items.count, "item")) on \(counted(machines, "machine"))\(found.hasMore ? ", and more" : "")\n"
            ]
            + session.left(outOf: table)
    }

    /// The JSON object of `fleet search`.
    var json: JSONValue {
        [
            "index": .text(index), "found": .list(found.items.map(\.json)), "hasMore": .flag(found.hasMore),
            "unread": .number(unread),
        ]
    }
}

extension FoundItem {
    /// The JSON object "found item".
    fileprivate var json: JSONValue {
        .members([
            ("device", .text(device.description)), ("name", machine.map { .text($0) }),
            ("source", ["kind": .text(sourceKind), "name": .text(sourceName)]), ("class", .text(itemClass.rawValue)),
            ("uuid", .text(uuid.description)), ("service", service.map { .text($0) }),
            ("server", server.map { .text($0) }), ("account", account.map { .text($0) }),
            ("label", label.map { .text($0) }), ("group", .text(group)),
            ("accessibility", .text(accessibility.rawValue)), ("created", .text(created.description)),
            ("modified", .text(modified.description)), ("seen", .text(seen.description)),
        ])
    }
}

extension LocalCalendar {
    /// The first microsecond after a day, given as `2026-10-03`; nil if there is no such day.
    func end(ofDay text: String) -> Timestamp? {
        guard text.utf8.count == 10, let start = Timestamp("\(text)T00:00:00.000000Z") else { return nil }
        let day = Int(start.seconds / 86_400) - (start.seconds % 86_400 < 0 ? 1 : 0)
        // Clocks differ from UTC by less than a day; within that, the day ends where the next one begins.
        var (before, after) = (start, start.advanced(byMicroseconds: 3 * 86_400_000_000))
        before = before.advanced(byMicroseconds: -86_400_000_000)
        while after.microseconds - before.microseconds > 1 {
            let middle = before.advanced(byMicroseconds: (after.microseconds - before.microseconds) / 2)
            if dayNumber(middle) > day { after = middle } else { before = middle }
        }
        return after
    }
}
