@testable import KeychainSecurity

extension RandomSteps {
    /// Adds a mistake to a call, or requests a result without a result pointer.
    mutating func plantMistake(in call: inout PlainCall) {
        var mistakes: [[String: PlainValue]] = Self.mistakesOfAll
        switch call.kind {
        case .add: mistakes += Self.mistakesOfAdd
        case .copy: mistakes += Self.mistakesOfCopy
        case .update: mistakes += Self.mistakesOfUpdate
        case .delete: mistakes += Self.mistakesOfDelete
        }
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.05 where call.dictionary[kSecValuePersistentRef as String] == nil:
            call.dictionary[kSecClass as String] = nil
        case ..<0.1: call.dictionary.merge((0...128).map { ("key\($0)", .number(1)) }) { $1 }
        case ..<0.2 where call.kind == .add || call.kind == .copy:
            call.dictionary[kSecReturnData as String] = .truth(true)
            call.takesResult = false
        case ..<0.5 where call.kind == .update:
            let mistake = pick(Self.mistakesOfChanges)
            if mistake.isEmpty { call.changes = [:] }
            call.changes.merge(mistake) { $1 }
        default: call.dictionary.merge(pick(mistakes)) { $1 }
        }
    }

    /// Entries that are invalid for every class: one that has the attribute refuses the type, the others the attribute.
    private static let mistakesOfAll: [[String: PlainValue]] = [
        [kSecClass as String: .text("nope")], [kSecClass as String: .number(1)], ["nope": .text("a")],
        ["wxyz": .number(1)],
        ["something": .text("a")], ["m_Something": .truth(true)], ["r_Something": .truth(true)],
        ["u_Something": .truth(true)],
        [kSecAttrAccessGroup as String: .text("elsewhere")], [kSecAttrAccessGroup as String: .text("com.apple.token")],
        [kSecAttrAccessGroup as String: .number(1)], [kSecAttrLabel as String: .list],
        [kSecAttrLabel as String: .date(0)],
        [kSecAttrService as String: .list], [kSecAttrAccount as String: .null], [kSecAttrPort as String: .data([1])],
        [kSecAttrIssuer as String: .list],
        [kSecAttrPort as String: .text("0443")], [kSecAttrAccessGroup as String: .data([0xff])],
        [kSecAttrType as String: .text("types")],
        [kSecAttrApplicationTag as String: .list], [kSecAttrKeySizeInBits as String: .text("many")],
        ["sdat": .number(1)],
        [kSecAttrKeyClass as String: .list], [kSecAttrProtocol as String: .date(0)],
        [kSecAttrAccessible as String: .text("nope")], [kSecAttrAccessible as String: .number(6)],
        [kSecAttrAccessControl as String: .text("ak")],
        [kSecAttrAccessible as String: .text("ak"), kSecAttrAccessControl as String: .control("ck")],
        [kSecAttrSynchronizable as String: .text("maybe")], [kSecUseTombstones as String: .text("maybe")],
        [kSecValueData as String: .text("a")], [kSecValueData as String: .null], [kSecValueData as String: .number(1)],
        [kSecUseAuthenticationUI as String: .text("nope")],
    ]
    private static let mistakesOfAdd: [[String: PlainValue]] = [
        [kSecMatchLimit as String: .text(kSecMatchLimitAll as String)],
        [kSecMatchCaseInsensitive as String: .truth(true)],
        [kSecValuePersistentRef as String: .reference(.ofNothing(itemClass: "genp"))],
        [kSecReturnAttributes as String: .text("yes")],
    ]
    private static let mistakesOfCopy: [[String: PlainValue]] = [
        [kSecReturnData as String: .text("yes")], [kSecReturnPersistentRef as String: .list],
        [kSecMatchLimit as String: .number(0)], [kSecMatchLimit as String: .number(-1)],
        [kSecMatchLimit as String: .text("m_LimitNone")],
        [kSecMatchLimit as String: .data([1])],
        [kSecMatchPolicy as String: .list], [kSecMatchTrustedOnly as String: .truth(true)],
        [kSecMatchItemList as String: .text("x")],
        [kSecMatchSearchList as String: .list], [kSecUseItemList as String: .list],
        [kSecUseAuthenticationContext as String: .list],
        [kSecUseSystemKeychain as String: .truth(true)], [kSecValuePersistentRef as String: .reference(.malformed)],
        [kSecValuePersistentRef as String: .text("genp")],
        [
            kSecValuePersistentRef as String: .reference(.ofNothing(itemClass: "genp")),
            kSecAttrLabel as String: .text("a"),
        ],
    ]
    private static let mistakesOfUpdate: [[String: PlainValue]] = [
        [kSecReturnData as String: .truth(true)], [kSecReturnAttributes as String: .truth(true)],
        [kSecMatchLimit as String: .text(kSecMatchLimitAll as String)],
        [kSecMatchCaseInsensitive as String: .truth(true)],
    ]
    private static let mistakesOfDelete: [[String: PlainValue]] = [
        [kSecMatchLimit as String: .text(kSecMatchLimitOne as String)], [kSecMatchLimit as String: .number(1)],
        [kSecMatchCaseInsensitive as String: .truth(true)],
    ]
    /// An empty dictionary means an update without changes.
    private static let mistakesOfChanges: [[String: PlainValue]] = [
        [:], ["nope": .text("a")], ["something": .text("a")], [kSecAttrSharingGroup as String: .text("team")],
        [kSecValueData as String: .null],
        [kSecValueData as String: .text("a")], [kSecAttrLabel as String: .list],
        [kSecAttrAccessible as String: .text("nope")],
        [kSecAttrAccessGroup as String: .text("elsewhere")], [kSecAttrAccessGroup as String: .text("com.apple.token")],
        [kSecAttrAccessControl as String: .number(1)], [kSecAttrSynchronizable as String: .text("maybe")],
        [kSecClass as String: .text(kSecClassGenericPassword as String)],
    ]
}
