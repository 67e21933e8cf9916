internal import KCByteStreams
package import KCItemSources
package import KCKeychainModel
internal import KCReportText

/// The remark on an item, or on something else with a name, in a list.
package struct Remark {
    /// The outcome for it, such as "not imported".
    package let deed: String
    /// Why, where the deed does not say it.
    package let reason: String?
    /// The words about it alone, after its name.
    package let mark: String

    package init(_ deed: String, because reason: String? = nil, mark: String = "") {
        self.deed = deed
        self.reason = reason
        self.mark = mark
    }

    /// Returns a paragraph for everything that is said: a line with a name, or what is said of several, with their names
    /// below.
    ///
    /// - Parameter remark: returns what is said of the name with an index.
    package static func paragraphs(_ names: [String], _ remark: (Int) -> Remark) -> [String] {
        var groups: [(said: Remark, names: [String])] = []
        var places: [[ExactText]: Int] = [:]
        for (index, name) in names.enumerated() {
            let said = remark(index)
            let key = [said.deed.exact, (said.reason ?? "").exact]
            let place = places[key, default: groups.count]
            if place == groups.count {
                places[key] = place
                groups.append((said, []))
            }
            groups[place].names.append(name + said.mark)
        }
        return groups.map { said, names in
            if names.count == 1 { return "\(said.deed): \(names[0])" + (said.reason.map { ": \($0)" } ?? "") }
            return "\(said.deed):" + (said.reason.map { " \($0)" } ?? "") + names.map { "\n  \($0)" }.joined()
        }
    }
}

extension Session {
    /// Lists items, even without a terminal: at most 20, all with `--verbose`, none with `--quiet`.
    ///
    /// - Parameters:
    ///   - total: the number of items of which `items` are the first; nil if these are all.
    ///   - remark: returns what is said of the item with an index.
    package func list(_ items: [Item], of total: Int? = nil, _ remark: (Int) -> Remark) {
        if style.isQuiet { return }
        for text in paragraphs(items, of: total ?? items.count, limit: Self.messageLimit, remark) { message(text) }
    }

    /// The paragraphs on items, each of which has a name that tells it from the others, and above the limit a line that counts
    /// the rest, unless `--verbose` is given.
    package func paragraphs(_ items: [Item], of total: Int, limit: Int, _ remark: (Int) -> Remark) -> [String] {
        // A further item takes no more space than a line that says so.
        let shown = style.isVerbose || total <= limit + 1 ? items.count : min(limit, items.count)
        let named = Remark.paragraphs(wordsApart(items.prefix(shown)), remark).map { $0 + "\n" }
        return shown < total ? named + ["… and \(total - shown) more (-v shows all)\n"] : named
    }

    /// The paragraphs on listed items, as on others.
    ///
    /// - Parameters:
    ///   - isIncluded: which items to name, by their numbers.
    ///   - remark: returns what is said of the item with a number.
    /// - Throws: what reading the items throws.
    package func paragraphs(
        _ items: ListedItems, of total: Int, limit: Int, where isIncluded: (Int) -> Bool = { _ in true },
        _ remark: (Int) -> Remark
    ) throws -> [String] {
        func paragraphs(_ named: [(item: Item, number: Int)]) -> [String] {
            Remark.paragraphs(wordsApart(named.map(\.item))) { remark(named[$0].number) }.map { $0 + "\n" }
        }
        if !style.isVerbose {
            let shown = total <= limit + 1 ? total : limit
            let named = paragraphs(try items.named(first: shown, where: isIncluded))
            return shown < total ? named + ["… and \(total - shown) more (-v shows all)\n"] : named
        }
        var all: [String] = []
        var named: [(item: Item, number: Int)] = []
        try items.forEach { item, number in
            guard isIncluded(number) else { return }
            named.append((item.shortened(), number))
            // Names that are alike are mostly close to each other.
            if named.count == ChangeList.limit {
                all += paragraphs(named)
                named = []
            }
        }
        return all + paragraphs(named)
    }

    /// Notes all of several items.
    ///
    /// - Throws: what reading the items throws.
    package func note(each items: ListedItems, _ remark: Remark) throws {
        if !showsNotes { return }
        for text in try paragraphs(items, of: items.count, limit: items.count, { _ in remark }) { message(text) }
    }

    /// Warns of all of several things with names.
    package func warn(each names: [String], _ remark: (Int) -> Remark) {
        for text in Remark.paragraphs(names, remark) { warn(text) }
    }

    /// Notes all of several things with names.
    package func note(each names: [String], _ remark: (Int) -> Remark) {
        for text in Remark.paragraphs(names, remark) { note(text) }
    }

    /// The paragraphs on the first of several things with names, and how many more there are, unless `--verbose` is given.
    package func paragraphs(_ names: [String], _ remark: (Int) -> Remark) -> [String] {
        let shown = shownCount(of: names.count)
        return Remark.paragraphs(Array(names.prefix(shown)), remark) + moreLine(names.count - shown)
    }

    /// The first lines on problems that have nothing in common, and how many more there are, unless `--verbose` is given.
    package func problemLines<Problem>(_ problems: [Problem], _ words: (Problem) -> String) -> [String] {
        let shown = shownCount(of: problems.count)
        return problems.prefix(shown).map(words) + moreLine(problems.count - shown)
    }

    private func shownCount(of count: Int) -> Int {
        style.isVerbose || count <= Self.messageLimit + 1 ? count : Self.messageLimit
    }

    private func moreLine(_ rest: Int) -> [String] { rest == 0 ? [] : ["… and \(rest) more (-v shows all)"] }

    // As many lines of one kind as fit a screen.
    package static let messageLimit = 20
}
