/// The access groups of a program, in order; new items are added to the first.
struct AccessGroups: Hashable, Sendable {
    let ordered: [String]

    /// The access group for cryptographic tokens, which is read-only.
    static let tokens = "com.apple.token"
    private static let wildcard = "*"

    /// The groups that a query searches; nil to search all groups.
    var searched: [String]? { ordered.contains(Self.wildcard) ? nil : ordered }

    /// True if the program may access items in `group`.
    func include(_ group: String) -> Bool {
        ordered.contains { $0 == Self.wildcard || $0.utf8.elementsEqual(group.utf8) }
    }

    /// Returns the group for an item that is being added or moved.
    ///
    /// - Throws: `CallFailure` (`errSecMissingEntitlement`).
    func writable(_ group: String?) throws(CallFailure) -> String {
        guard let chosen = group ?? ordered.first(where: { $0 != Self.wildcard }), include(chosen),
            chosen != Self.tokens
        else { throw CallFailure(errSecMissingEntitlement) }
        return chosen
    }
}
