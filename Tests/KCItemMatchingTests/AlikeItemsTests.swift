import KCItemMatching
import Testing

@Suite("Items with the same attributes")
struct AlikeItemsTests {
    /// Items written as `label:secret`.
    private func items(_ texts: String) -> [AlikeItem] {
        texts.split(separator: " ").enumerated().map { position, text in
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            return AlikeItem(
                position: position, label: String(parts[0]), secret: parts[1] == "?" ? nil : ItemCode(parts[1].utf8),
                awaitsSecret: parts[1].isEmpty)
        }
    }

    @Test(
        "An item is matched by label and secret, whatever its position",
        arguments: [
            // The first of three items was deleted, and the others moved up.
            ("A:1 B:2 C:3", "B:2 C:3", [nil, 0, 1]),
            ("A:1 B:2 C:3", "C:3 A:1 B:2", [1, 2, 0]),
            // An item among several was changed or renamed.
            ("A:1 B:2 C:3", "B:2 A:9 C:3", [1, 0, 2]), ("A:1 B:2", "B:2 X:1", [1, 0]),
            ("x:1 x:2", "x:1 x:9", [0, 1]), ("x:1 x:2", "x:8 x:9", [0, 1]),
            // A single item is the same one, whatever has changed.
            ("A:1", "B:2", [0]), ("A:?", "B:2", [0]),
            // Nothing is overwritten if it is unclear which item was changed.
            ("x:1 x:2", "x:9", [nil, nil]), ("x:1", "x:8 x:9", [nil]), ("x:1 x:2", "", [nil, nil]),
            ("x:1 x:2", "x:2 x:9", [nil, 0]), ("x:3 x:4 x:5", "x:1 x:2 x:3", [2, nil, nil]),
            // An item that has the secret of a record was renamed; nothing of another one is overwritten.
            ("A:1", "A:2 B:1", [1]), ("A:1 B:2", "A:2 B:1", [1, 0]),
            // An item was deleted, and another one was added.
            ("A:1 B:2", "A:1 C:3", [0, nil]),
            // A secret that was not yet written belongs to any item of its label.
            ("x:1 x:2 x:3", "x:1 x:", [0, 1, nil]), ("x:1 x:", "x: x:1", [1, 0]),
            // An item twice.
            ("x:1 x:1", "x:1", [0, nil]), ("x:1", "x:1 x:1", [0]),
            // Unicode forms of a label are different labels.
            ("\u{e9}:1 e\u{301}:2", "e\u{301}:8 \u{e9}:9", [1, 0]),
        ] as [(String, String, [Int?])])
    func pairs(_ records: String, _ existing: String, _ expected: [Int?]) {
        #expect(AlikeItems.pairs(of: items(records), with: items(existing)) == expected)
    }
}
