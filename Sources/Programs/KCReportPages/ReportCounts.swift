package import KCBackupCatalogue
package import KCByteStreams
internal import KCHomeFiles
package import KCKeychainModel
internal import KCReportText

/// The data for a report's charts, counted item by item.
package struct ReportCounts {
    /// The calendar by which changes belong to years.
    package let calendar: LocalCalendar
    package private(set) var byClass = ItemCounts()
    package private(set) var byAccessibility: [Accessibility: Int] = [:]
    package private(set) var byReason: [Verdict.Reason: Int] = [:]
    package private(set) var byTravel: [Travel: Int] = [:]
    /// The number of items that restore on any device, and are of use on one machine alone.
    package private(set) var ofOneMachine = 0
    /// The number of items by year of the last change.
    package private(set) var byYear: [String: Int] = [:]
    /// The number of items by access group, as shown in the table.
    package private(set) var byGroup: [ExactText: Int] = [:]
    /// The number of items in groups beyond `groupLimit`.
    package private(set) var inOtherGroups = 0

    /// An archive may have a group for every item, but a chart shows only a few.
    private static let groupLimit = 10_000

    /// Creates counts of no items.
    package init(calendar: LocalCalendar) { self.calendar = calendar }

    package var total: Int { byClass.total }
    package var stayingBehind: Int { byReason.values.reduce(0, +) }

    package mutating func add(_ item: Item, _ verdict: Verdict) {
        byClass[item.itemClass] += 1
        byAccessibility[item.accessibility, default: 0] += 1
        byTravel[Travel(item.accessibility), default: 0] += 1
        if item.isOfOneMachine, Travel(item.accessibility) == .anyDevice { ofOneMachine += 1 }
        byYear[String(calendar.day(item.modified).prefix(4)), default: 0] += 1
        if case .staysBehind(let reason) = verdict { byReason[reason, default: 0] += 1 }
        let group = displayed(item.accessGroup, limit: ReportRow.cellLimit)
        if byGroup.count < Self.groupLimit || byGroup[group.exact] != nil {
            byGroup[group.exact, default: 0] += 1
        } else {
            inOtherGroups += 1
        }
    }
}

/// A bar of a chart.
package struct ReportBar {
    /// The name, safe to display.
    package let name: String
    package let count: Int
    /// The value by which the table can be filtered; nil if there is none.
    package var value: String?

    package init(name: String, count: Int, value: String? = nil) {
        self.name = name
        self.count = count
        self.value = value
    }
}

/// A chart: bars of one color under a title.
package struct ReportChart {
    package let title: String
    /// The name of the script's condition that a bar sets.
    package let condition: String
    package var bars: [ReportBar]

    package init(title: String, condition: String, bars: [ReportBar]) {
        self.title = title
        self.condition = condition
        self.bars = bars
    }

    /// More bars would not be readable.
    private static let barLimit = 12

    /// The charts of a report, without empty bars.
    package static func all(_ counts: ReportCounts) -> [ReportChart] {
        let classes = ItemClass.allCases.map { ReportBar(name: $0.name, count: counts.byClass[$0], value: $0.name) }
        let accessibilities = Accessibility.allCases.map {
            ReportBar(name: $0.name, count: counts.byAccessibility[$0] ?? 0, value: $0.name)
        }
        let groups = counts.byGroup.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { group in
                let name = group.key.string
                return ReportBar(name: name.isEmpty ? "(no group)" : name, count: group.value, value: name)
            }
        let years = counts.byYear.sorted { $0.key > $1.key }
            .map { ReportBar(name: $0.key, count: $0.value, value: $0.key) }
        return [
            ReportChart(title: "Class", condition: "class", bars: classes.filter { $0.count > 0 }),
            ReportChart(title: "Accessible", condition: "accessible", bars: accessibilities.filter { $0.count > 0 }),
            ReportChart(
                title: "Access group", condition: "group", bars: cut(groups, counts.inOtherGroups, "other groups")),
            ReportChart(title: "Last changed", condition: "year", bars: cut(years, 0, "earlier")),
        ]
    }

    /// Returns the first bars, and one bar for the rest.
    private static func cut(_ bars: [ReportBar], _ uncounted: Int, _ rest: String) -> [ReportBar] {
        if bars.count <= barLimit, uncounted == 0 { return bars }
        let others = bars.dropFirst(barLimit - 1).reduce(uncounted) { $0 + $1.count }
        return bars.prefix(barLimit - 1) + [ReportBar(name: rest, count: others)]
    }

    /// The chart as markup.
    package var html: HTML {
        let most = bars.map(\.count).max() ?? 0
        let lines = bars.map { bar -> HTML in
            let inside: HTML = """
                <span class="name"><bdi>\(shown: bar.name)</bdi></span>\
                <svg class="bar" aria-hidden="true"><rect width="\(shown: percent(bar.count, of: most))" height="100%" rx="3"/></svg>\
                <span class="number">\(bar.count)</span>
                """
            guard let value = bar.value, !value.isEmpty else {
                return "<li><span class=\"line\">\(inside)</span></li>\n"
            }
            return "<li><a class=\"line\" href=\"\(shown: fragment(condition, value))\">\(inside)</a></li>\n"
        }
        return "<section class=\"card\"><h3>\(title)</h3>\n<ul class=\"chart\">\n\(lines)</ul></section>\n"
    }
}

/// Returns a share in percent with one decimal; a nonzero share is always visible.
package func percent(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "0%" }
    let tenths = max(part == 0 ? 0 : 5, (part * 1_000 + whole / 2) / whole)
    return "\(tenths / 10).\(tenths % 10)%"
}
