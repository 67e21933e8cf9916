/// The first entries of a list that may be long, and how many it has.
package struct FirstEntries<Entry> {
    package private(set) var entries: [Entry] = []
    /// How many there are, of which `entries` may have only the first.
    package private(set) var count = 0
    private let limit: Int

    /// - Parameter limit: how many are held.
    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { count == 0 }

    mutating func append(_ entry: Entry) {
        count += 1
        if entries.count < limit { entries.append(entry) }
    }
}

extension FirstEntries: Sendable where Entry: Sendable {}
