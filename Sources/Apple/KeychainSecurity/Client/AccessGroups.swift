/// The access groups of a program, in order; new items go to the first.
struct AccessGroups: Hashable, Sendable {
    let ordered: [String]

    /// The group of cryptographic tokens, which is read-only.
    static let tokens = "com.apple.token"
    private static let wildcard = "*"

    /// The groups that a query searches; nil for all.
    var searched: [String]? { ordered.contains(Self.wildcard) ? nil : ordered }

    /// True if items of `group` belong to the program.
    func include(_ group: String) -> Bool {
        ordered.contains { $0 == Self.wildcard || $0.utf8.elementsEqual(group.utf8) }
    }

    /// The group of an item to be added or moved.
    ///
    /// - Throws: `CallFailure` (`errSecMissingEntitlement`).
    func writable(_ group: String?) throws(CallFailure) -> String {
        guard let chosen = group ?? ordered.first(where: { $0 != Self.wildcard }), include(chosen),
            chosen != Self.tokens
        else { throw CallFailure(errSecMissingEntitlement) }
        return chosen
    }
}
