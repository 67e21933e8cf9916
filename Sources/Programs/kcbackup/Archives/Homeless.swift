internal import KeychainModel
internal import SecretService

/// What a Secret Service does not hold of the items that are written to it.
struct Homeless {
    private let items: [(item: Item, codes: [AttributeCode])]
    // A service dates its items itself.
    private static let dates: Set<AttributeCode> = [.cdat, .mdat]

    /// Finds out what is lost of each of them.
    init(_ written: [Item]) {
        items = written.map { ($0, ServiceMapping.withoutHome($0)) }
    }

    /// How many items lose more than their dates.
    private var others: [(item: Item, codes: [AttributeCode])] {
        items.map { ($0.item, $0.codes.filter { !Self.dates.contains($0) }) }.filter { !$0.codes.isEmpty }
    }

    /// Names them.
    func tell(_ session: Session) {
        if items.isEmpty { return }
        session.note(
            "the Secret Service dates items itself: of \(counted(items.count, "item")) the dates of creation and "
                + "change are not set")
        let others = others
        session.list(others.map(\.item)) { index, words in
            "no home in the Secret Service: \(words): \(others[index].codes.map(\.word).joined(separator: ", "))"
        }
    }

    var json: JSONValue {
        .list(items.map { JSONValue.item($0.item).adding([("notSet", .list($0.codes.map { .text($0.code) }))]) })
    }
}
