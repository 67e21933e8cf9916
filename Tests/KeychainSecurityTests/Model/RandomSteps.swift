import KCTestSupport

@testable import KeychainSecurity

/// Random steps with few distinct values, so that items often collide.
struct RandomSteps {
    var random: SeededRandom

    /// The attributes of each class, with their probability and possible values.
    private static let universe: [String: [(code: String, often: Double, values: [PlainValue])]] = [
        "genp": [
            ("acct", 0.75, names), ("svce", 0.75, names), ("labl", 0.3, names), ("gena", 0.2, blobs + [.text("a")]),
            ("invi", 0.1, [.truth(true), .truth(false), .number(1)]), ("crtr", 0.1, types), ("type", 0.1, types),
            ("icmt", 0.1, names), ("vwht", 0.05, [.text(""), .text("view")]),
        ],
        "inet": [
            ("srvr", 0.7, names), ("acct", 0.6, names), ("port", 0.4, numbers), ("path", 0.2, names),
            ("ptcl", 0.4, [.text("htps"), .text("ftp "), .number(0x6874_7073)]),
            ("atyp", 0.2, [.text("form"), .data(Array("form".utf8)), .text("dflt")]), ("sdmn", 0.2, names),
            ("labl", 0.2, names), ("nega", 0.1, [.truth(true), .number(0)]),
        ],
        "cert": [
            ("ctyp", 0.5, [.number(1), .number(3), .number(0)]), ("issr", 0.6, blobs), ("slnr", 0.6, blobs),
            ("subj", 0.2, blobs), ("labl", 0.3, names), ("cenc", 0.2, [.number(3)]), ("pkhh", 0.1, blobs),
        ],
        "keys": [
            ("kcls", 0.6, [.text("0"), .text("1"), .number(1)]), ("klbl", 0.6, blobs),
            ("atag", 0.5, blobs + [.text("a")]), ("type", 0.4, [.text("42"), .text("73"), .number(73)]),
            ("bsiz", 0.3, numbers), ("sdat", 0.1, [.date(0), .date(86_400_000_000)]), ("crtr", 0.1, numbers),
            ("encr", 0.2, [.truth(true), .truth(false)]), ("labl", 0.2, names),
        ],
    ]
    // A letter as text and as bytes, empty values, and a letter in composed and decomposed form.
    private static let names: [PlainValue] = [
        .text("a"), .text("a"), .text("a"), .text("b"), .text("b"), .data([0x61]), .text(""), .data([]), .number(0x61),
        .data([0x61, 0, 0, 0]), .text("\u{e9}"), .text("e\u{301}"),
    ]
    private static let blobs: [PlainValue] = [
        .data([0x61]), .data([0x61]), .data([0x62]), .data([]), .text("a"), .number(0x61),
    ]
    private static let numbers: [PlainValue] = [.number(0), .number(443), .boxed(443), .boxed(7), .text("443")]
    private static let types: [PlainValue] = numbers + [.text("note"), .number(0x6e6f_7465), .text("443")]
    private static let protections = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
    private static let groups = ["one", "two", "three"]
    private static let secrets: [PlainValue] = [.data([]), .data([1, 2, 3]), .data([UInt8](repeating: 7, count: 40))]

    /// True with the probability `often`.
    mutating func chance(_ often: Double) -> Bool { Double.random(in: 0..<1, using: &random) < often }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    /// The next step of a history.
    mutating func next(_ model: ReferenceModel, _ references: [PlainReference]) -> PlainStep {
        if chance(0.1) { return .clock(microseconds: pick([1, 400, 1_000, 1_000_000, 86_400_000_000, -3_000_000])) }
        if chance(0.02), model.hasPasscode { return .lock(pick([.unlocked, .unlocked, .locked, .beforeFirstUnlock])) }
        if chance(0.001), model.lockState == .unlocked { return .passcode(!model.hasPasscode) }
        let program = chance(0.01) ? 3 : pick([0, 0, 0, 1, 1, 2])
        var call: PlainCall
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.38: call = addition()
        case ..<0.73:
            call = PlainCall(kind: .copy, dictionary: query(model, references))
            addReturns(to: &call)
            addLimit(to: &call)
        case ..<0.9:
            call = PlainCall(kind: .update, dictionary: query(model, references))
            call.changes = changes(of: call)
        default:
            call = PlainCall(kind: .delete, dictionary: query(model, references))
            if chance(0.3) { call.dictionary[kSecUseTombstones as String] = .truth(chance(0.5)) }
            if chance(0.1) { call.dictionary[kSecMatchLimit as String] = .text(kSecMatchLimitAll as String) }
            if chance(0.1) { call.dictionary[kSecReturnData as String] = .truth(true) }
        }
        if call.kind != .add, chance(0.1) { call.dictionary[kSecValueData as String] = .data([9]) }
        if chance(0.02) { call.dictionary[kSecUseDataProtectionKeychain as String] = .truth(true) }
        if chance(0.06) { plantMistake(in: &call) }
        return .call(call, program: program)
    }

    private mutating func attributes(of itemClass: String, _ factor: Double = 1) -> [String: PlainValue] {
        var attributes: [String: PlainValue] = [:]
        for (code, often, values) in Self.universe[itemClass] ?? [] where chance(often * factor) {
            attributes[code] = pick(values)
        }
        return attributes
    }

    /// A random class, most often a generic password.
    private mutating func itemClass() -> String { pick(["genp", "genp", "inet", "cert", "keys"]) }

    private mutating func group() -> PlainValue {
        let group = pick(Self.groups)
        return chance(0.1) ? .data(Array(group.utf8)) : .text(group)
    }

    private mutating func addition() -> PlainCall {
        let itemClass = itemClass()
        var call = PlainCall(kind: .add, dictionary: attributes(of: itemClass))
        call.dictionary[kSecClass as String] = .text(itemClass)
        if chance(0.3) { call.dictionary[kSecAttrAccessGroup as String] = group() }
        if chance(0.8) { call.dictionary[kSecValueData as String] = pick(Self.secrets) }
        addProtection(to: &call.dictionary, often: 0.5)
        if chance(0.35) {
            call.dictionary[kSecAttrSynchronizable as String] = pick([
                .truth(true), .truth(true), .truth(false), .text("1"), .text("0"),
            ])
        }
        if chance(0.02) {
            call.dictionary[kSecAttrSynchronizable as String] = .text(kSecAttrSynchronizableAny as String)
        }
        if chance(0.05) { call.dictionary[kSecAttrCreationDate as String] = .date(1_000_000) }
        if chance(0.6) { addReturns(to: &call) }
        return call
    }

    private mutating func addProtection(to dictionary: inout [String: PlainValue], often: Double) {
        guard chance(often) else { return }
        let protection = pick(Self.protections)
        let isWord = chance(0.7)
        if isWord {
            dictionary[kSecAttrAccessible as String] = chance(0.05) ? .data(Array(protection.utf8)) : .text(protection)
        }
        if !isWord || chance(0.1) { dictionary[kSecAttrAccessControl as String] = .control(protection) }
    }

    private mutating func addReturns(to call: inout PlainCall) {
        for (key, often) in [
            (kSecReturnPersistentRef as String, 0.4), (kSecReturnAttributes as String, 0.5),
            (kSecReturnData as String, 0.45),
        ] where chance(often) {
            call.dictionary[key] = chance(0.95) ? .truth(true) : .truth(false)
        }
        // Certificates and keys have objects, which are covered by other tests.
        let itemClass: String? = if case .text(let text) = call.dictionary[kSecClass as String] { text } else { nil }
        let isPassword =
            itemClass == kSecClassGenericPassword as String || itemClass == kSecClassInternetPassword as String
        if chance(0.1), isPassword { call.dictionary[kSecReturnRef as String] = .truth(true) }
    }

    private mutating func addLimit(to call: inout PlainCall) {
        guard chance(0.6) else { return }
        call.dictionary[kSecMatchLimit as String] = pick([
            .text(kSecMatchLimitAll as String), .text(kSecMatchLimitAll as String), .text(kSecMatchLimitOne as String),
            .number(1), .number(2),
            .boxed(3),
        ])
    }

    /// The conditions of a query, often those of an existing item.
    private mutating func query(
        _ model: ReferenceModel, _ references: [PlainReference]
    ) -> [String: PlainValue] {
        if chance(0.1) { return referring(references) }
        var itemClass = itemClass()
        var query = attributes(of: itemClass, 0.4)
        if chance(0.5), !model.items.isEmpty {
            let item = pick(model.items)
            itemClass = item.itemClass
            query = item.attributes.filter { code, _ in
                code != "pdmn" && (ModelSchema.uniqueKey(of: item.itemClass).contains(code) || chance(0.3))
            }
            if chance(0.7) { query["agrp"] = nil }
            for code in query.keys.sorted() where chance(0.2) { query[code] = nil }
            if chance(0.5) { query[kSecAttrSynchronizable as String] = .truth(item.isSynchronizable) }
            if chance(0.05) { query["mdat"] = .date(item.modified) }
            if chance(0.05) { query["cdat"] = .date(item.created) }
        } else if chance(0.15) {
            query[kSecAttrAccessGroup as String] = group()
        }
        query[kSecClass as String] = .text(itemClass)
        addProtection(to: &query, often: 0.06)
        if query[kSecAttrSynchronizable as String] == nil, chance(0.5) {
            query[kSecAttrSynchronizable as String] = pick([
                .text(kSecAttrSynchronizableAny as String), .text(kSecAttrSynchronizableAny as String), .truth(true),
                .number(1),
                .truth(false), .text("1"),
            ])
        }
        if chance(0.1) { query[kSecAttrTombstone as String] = .truth(chance(0.8)) }
        if chance(0.15) { query[kSecUseAuthenticationUI as String] = .text(kSecUseAuthenticationUISkip as String) }
        return query
    }

    private mutating func referring(_ references: [PlainReference]) -> [String: PlainValue] {
        var reference = PlainReference.ofNothing(itemClass: itemClass())
        // A recent reference is more likely to refer to an existing item.
        if chance(0.9), !references.isEmpty { reference = pick(chance(0.6) ? references.suffix(5) : references) }
        var query: [String: PlainValue] = [kSecValuePersistentRef as String: .reference(reference)]
        if chance(0.2) { query[kSecClass as String] = .text(chance(0.8) ? reference.itemClass ?? "" : itemClass()) }
        if chance(0.2) { query[kSecAttrSynchronizable as String] = .text(kSecAttrSynchronizableAny as String) }
        return query
    }

    private mutating func changes(of call: PlainCall) -> [String: PlainValue] {
        var itemClass = itemClass()
        if case .text(let text) = call.dictionary[kSecClass as String] { itemClass = text }
        if case .reference(let reference) = call.dictionary[kSecValuePersistentRef as String] {
            itemClass = reference.itemClass ?? itemClass
        }
        var changes: [String: PlainValue] = chance(0.7) ? attributes(of: itemClass, 0.3) : [:]
        if chance(0.5) { changes[kSecValueData as String] = pick(Self.secrets) }
        if chance(0.2) { changes[kSecAttrAccessGroup as String] = group() }
        addProtection(to: &changes, often: 0.2)
        if chance(0.15) { changes[kSecAttrSynchronizable as String] = .truth(chance(0.5)) }
        if chance(0.05) { changes[kSecAttrModificationDate as String] = .date(5_000_000) }
        return changes
    }
}
