internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore

extension Command {
    static let findKey = Command(
        "find-key", "Find a key.",
        flags: [
            Flag("a", .value("label"), "The application label, in hexadecimal digits"),
            Flag("c", .value("creator"), "The creator, a code of four characters"),
            Flag("d", .none, "Keys that decrypt"), Flag("e", .none, "Keys that encrypt"),
            Flag("l", .value("label"), "The label"), Flag("r", .none, "Keys from which others are derived"),
            Flag("s", .none, "Keys that sign"),
            Flag("t", .value("type"), "The kind: symmetric, public or private"),
            Flag("u", .none, "Keys that unwrap others"), Flag("v", .none, "Keys that verify"),
            Flag("w", .none, "Keys that wrap others"),
        ],
        operands: "[keychain...]"
    ) { words, session in
        let query = ItemQuery(itemClass: .key, attributes: try keyAttributes(words))
        let found = try session.calling("SecKeychainSearchCopyNext") {
            try session.first(query, in: session.searched(words.operands))
        }
        try session.write(listing(of: found.item, in: session.listed(found.local)).span)
        return .ok
    }
}

private func keyAttributes(_ words: Words) throws(UsageProblem) -> [AttributeCode: AttributeValue] {
    var attributes: [AttributeCode: AttributeValue] = [:]
    let uses: [(Character, AttributeCode)] = [
        ("d", .decr), ("e", .encr), ("r", .drve), ("s", .sign), ("u", .unwp), ("v", .vrfy), ("w", .wrap),
    ]
    for (letter, code) in uses where words.has(letter) { attributes[code] = .number(1) }
    if let label = words.value("l") { attributes[.labl] = .text(label) }
    if let creator = words.value("c") {
        attributes[.crtr] = try ItemFlag("c", "creator", .crtr, "", form: .fourCharacters).attribute(creator)
    }
    if let label = words.value("a") {
        guard let bytes = Hexadecimal.decode(label.lowercased()) else {
            throw UsageProblem(reason: "the value of -a is not hexadecimal")
        }
        attributes[.klbl] = .data(bytes)
    }
    switch words.value("t") {
    case nil: break
    case "public": attributes[.kcls] = .number(0)
    case "private": attributes[.kcls] = .number(1)
    case "symmetric": attributes[.kcls] = .number(2)
    case .some: throw UsageProblem(reason: "the value of -t is not one of symmetric, public, private")
    }
    return attributes
}
