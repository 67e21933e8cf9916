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
        case ..<0.05 where call.dictionary[kSecValuePersistentRef] == nil: call.dictionary[kSecClass] = nil
        case ..<0.1: call.dictionary.merge((0...128).map { ("key\($0)", .number(1)) }) { $1 }
        case ..<0.2 where call.kind == .add || call.kind == .copy:
            call.dictionary[kSecReturnData] = .truth(true)
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
        [kSecClass: .text("nope")], [kSecClass: .number(1)], ["nope": .text("a")], ["wxyz": .number(1)],
        ["something": .text("a")], ["m_Something": .truth(true)], ["r_Something": .truth(true)],
        ["u_Something": .truth(true)],
        [kSecAttrAccessGroup: .text("elsewhere")], [kSecAttrAccessGroup: .text("com.apple.token")],
        [kSecAttrAccessGroup: .number(1)], [kSecAttrLabel: .list], [kSecAttrLabel: .date(0)],
        [kSecAttrService: .list], [kSecAttrAccount: .null], [kSecAttrPort: .data([1])], [kSecAttrIssuer: .list],
        [kSecAttrPort: .text("0443")], [kSecAttrAccessGroup: .data([0xff])], [kSecAttrType: .text("types")],
        [kSecAttrApplicationTag: .list], [kSecAttrKeySizeInBits: .text("many")], ["sdat": .number(1)],
        [kSecAttrKeyClass: .list], [kSecAttrProtocol: .date(0)],
        [kSecAttrAccessible: .text("nope")], [kSecAttrAccessible: .number(6)], [kSecAttrAccessControl: .text("ak")],
        [kSecAttrAccessible: .text("ak"), kSecAttrAccessControl: .control("ck")],
        [kSecAttrSynchronizable: .text("maybe")], [kSecUseTombstones: .text("maybe")],
        [kSecValueData: .text("a")], [kSecValueData: .null], [kSecValueData: .number(1)],
        [kSecUseAuthenticationUI: .text("nope")],
    ]
    private static let mistakesOfAdd: [[String: PlainValue]] = [
        [kSecMatchLimit: .text(kSecMatchLimitAll)], [kSecMatchCaseInsensitive: .truth(true)],
        [kSecValuePersistentRef: .reference(.ofNothing(itemClass: "genp"))], [kSecReturnAttributes: .text("yes")],
    ]
    private static let mistakesOfCopy: [[String: PlainValue]] = [
        [kSecReturnData: .text("yes")], [kSecReturnPersistentRef: .list],
        [kSecMatchLimit: .number(0)], [kSecMatchLimit: .number(-1)], [kSecMatchLimit: .text("m_LimitNone")],
        [kSecMatchLimit: .data([1])],
        [kSecMatchPolicy: .list], [kSecMatchTrustedOnly: .truth(true)], [kSecMatchItemList: .list],
        [kSecMatchSearchList: .list], [kSecUseItemList: .list], [kSecUseAuthenticationContext: .list],
        [kSecUseSystemKeychain: .truth(true)], [kSecValuePersistentRef: .reference(.malformed)],
        [kSecValuePersistentRef: .text("genp")],
        [kSecValuePersistentRef: .reference(.ofNothing(itemClass: "genp")), kSecAttrLabel: .text("a")],
    ]
    private static let mistakesOfUpdate: [[String: PlainValue]] = [
        [kSecReturnData: .truth(true)], [kSecReturnAttributes: .truth(true)],
        [kSecMatchLimit: .text(kSecMatchLimitAll)], [kSecMatchCaseInsensitive: .truth(true)],
    ]
    private static let mistakesOfDelete: [[String: PlainValue]] = [
        [kSecMatchLimit: .text(kSecMatchLimitOne)], [kSecMatchLimit: .number(1)],
        [kSecMatchCaseInsensitive: .truth(true)],
    ]
    /// An empty dictionary means an update without changes.
    private static let mistakesOfChanges: [[String: PlainValue]] = [
        [:], ["nope": .text("a")], ["something": .text("a")], [kSecAttrSharingGroup: .text("team")],
        [kSecValueData: .null],
        [kSecValueData: .text("a")], [kSecAttrLabel: .list], [kSecAttrAccessible: .text("nope")],
        [kSecAttrAccessGroup: .text("elsewhere")], [kSecAttrAccessGroup: .text("com.apple.token")],
        [kSecAttrAccessControl: .number(1)], [kSecAttrSynchronizable: .text("maybe")],
        [kSecClass: .text(kSecClassGenericPassword)],
    ]
}
