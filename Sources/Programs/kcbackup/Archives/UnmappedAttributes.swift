internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService

/// The attributes of written items that a Secret Service cannot store.
struct UnmappedAttributes {
    private let items: [(item: Item, codes: [AttributeCode], extra: [String])]
    // A service sets the dates of its items itself.
    private static let dates: Set<AttributeCode> = [.cdat, .mdat]

    /// Determines what is lost of each item.
    init(_ written: [Item]) {
        items = written.map { ($0, ServiceMapping.unmappedAttributes($0), ServiceMapping.unmappedExtra($0)) }
    }

    /// The items that lose more than their dates.
    private var others: [(item: Item, words: [String])] {
        items.map { item, codes, extra in
            (item, codes.filter { !Self.dates.contains($0) }.map(\.word) + extra.map { quoted($0) })
        }.filter { !$0.words.isEmpty }
    }

    /// Lists the items and what they lose.
    func tell(_ session: Session) {
        if items.isEmpty { return }
        session.note(
            "the Secret Service sets dates itself: \(counted(items.count, "item")) "
                + "\(items.count == 1 ? "has" : "have") the date of this restore")
        let others = others
        session.list(others.map(\.item)) { index, words in
            "not stored by the Secret Service: \(words): \(others[index].words.joined(separator: ", "))"
        }
    }

    var json: JSONValue {
        .list(
            items.map { item, codes, extra in
                JSONValue.item(item).adding([
                    ("notSet", .list(codes.map { .text($0.code) })), ("notSetExtra", .list(extra.map { .text($0) })),
                ])
            })
    }
}
