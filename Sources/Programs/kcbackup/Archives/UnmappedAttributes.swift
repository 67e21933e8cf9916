internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// The attributes of written items that a Secret Service cannot store.
struct UnmappedAttributes {
    private var items: [(item: Item, loss: ItemLoss)] = []
    // A service sets the dates of its items itself.
    private static let dates: Set<AttributeCode> = [.cdat, .mdat]

    /// Adds a written item.
    mutating func add(_ item: Item, _ loss: ItemLoss) { items.append((item, loss)) }

    /// The items that lose more than their dates.
    private var others: [(item: Item, words: [String])] {
        items.map { item, loss -> (item: Item, words: [String]) in
            let names = loss.attributes.filter { !Self.dates.contains($0) }.map(\.word) + loss.extra.map { quoted($0) }
            return (item, names + (loss.hasSecretMade ? ["that it has no secret"] : []))
        }.filter { !$0.words.isEmpty }
    }

    /// Lists the items and what they lose.
    func tell(_ session: Session) {
        if items.isEmpty { return }
        session.note(
            "the desktop keyring sets dates itself: \(counted(items.count, "item")) "
                + "\(items.count == 1 ? "gets a new date" : "get new dates")")
        let others = others
        session.list(others.map(\.item)) {
            Remark("not stored by the Secret Service", because: others[$0].words.joined(separator: ", "))
        }
    }

    var json: JSONValue {
        .list(
            items.map { item, loss in
                JSONValue.item(item).adding([
                    ("notSet", .list(loss.attributes.map { .text($0.code) })),
                    ("notSetExtra", .list(loss.extra.map { .text($0) })),
                    ("secretMade", loss.hasSecretMade ? true : nil),
                ])
            })
    }
}
