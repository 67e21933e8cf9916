internal import KCByteStreams

/// The rule for the files of a home that have a path of one form.
package struct HomeRule: Sendable {
    let pattern: HomePattern
    let treatment: Treatment

    enum Treatment: Hashable {
        case taken(HomeFileRule)
        case left(HomeReason)
    }

    /// Takes files.
    ///
    /// - Parameters:
    ///   - isSecret: true to restore them readable by their owner only, whatever their permissions were.
    ///   - limit: their maximum size in bytes.
    ///   - isDatabase: true for databases of SQLite.
    static func take(
        _ pattern: String, isSecret: Bool = true, limit: Int = HomeFileRule.usualLimit, isDatabase: Bool = false,
        clear: ClearText = .none
    ) -> HomeRule {
        HomeRule(
            pattern: HomePattern(pattern),
            treatment: .taken(
                HomeFileRule(isSecret: isSecret, limitInBytes: limit, isDatabase: isDatabase, clearText: clear)))
    }

    /// Leaves files, or folders with all that is in them.
    static func leave(_ pattern: String, _ reason: HomeReason) -> HomeRule {
        HomeRule(pattern: HomePattern(pattern), treatment: .left(reason))
    }
}

/// How files are taken and restored.
package struct HomeFileRule: Hashable, Sendable {
    /// True if nobody but the owner may read them where they are restored.
    package let isSecret: Bool
    package let limitInBytes: Int
    /// True for a database of SQLite, which is read and written only while no change of it is under way.
    let isDatabase: Bool
    package let clearText: ClearText

    // Far above any file that a program keeps credentials in.
    static let usualLimit = 1 << 20
    // Rings of public keys and databases of agents are larger; `ItemLimits.secretSize` is the end.
    static let ringLimit = 16 << 20
}

/// Why an entry of a home is left where it is, by a rule.
package enum HomeReason: String, CaseIterable, Hashable, Sendable {
    /// A symbolic link, which is not followed.
    case link
    /// A socket, a pipe or a device.
    case special
    /// The entry, or a folder on the way to it, belongs to another user.
    case otherOwner = "other-owner"
    /// The file is larger than files of its kind are.
    case tooLarge = "too-large"
    /// A lock, a temporary file or a copy that an editor left.
    case passing
    /// Its program makes it anew.
    case made
    /// The entry is valid for hours only.
    case shortLived = "short-lived"
    /// The history of a store, which has a place of its own.
    case history
    /// Programs run it when they find it.
    case code
    /// A keyring of the desktop, which is a store of its own.
    case keyring
}

/// The form of a path: names, in which one `*` stands for any characters, and `**` at the end for everything below.
struct HomePattern: Hashable {
    enum Part: Hashable {
        case name(String)
        case glob(prefix: String, suffix: String)

        init(_ text: String) {
            let halves = text.exact.split(separator: "*", omittingEmptySubsequences: false)
            precondition(halves.count <= 2, "a name of a pattern has one star at most")
            self = halves.count == 1 ? .name(text) : .glob(prefix: halves[0], suffix: halves[1])
        }

        func matches(_ name: String) -> Bool {
            switch self {
            case .name(let own): own.exact == name.exact
            case .glob(let prefix, let suffix):
                name.utf8.count >= prefix.utf8.count + suffix.utf8.count && name.exact.hasPrefix(prefix)
                    && name.exact.hasSuffix(suffix)
            }
        }
    }

    let parts: [Part]
    /// True if everything below is meant, and not one entry.
    let isDeep: Bool

    init(_ text: String) {
        var names = text.exact.split(separator: "/")
        isDeep = names.last?.exact == "**"
        if isDeep { names.removeLast() }
        parts = names.map(Part.init)
    }

    /// True if `path` has the form.
    func matches(_ path: HomePath) -> Bool {
        guard isDeep ? path.names.count > parts.count : path.names.count == parts.count else { return false }
        return zip(parts, path.names).allSatisfy { $0.matches($1) }
    }

    /// True if `path` has the form, or is below what has it.
    func covers(_ path: HomePath) -> Bool {
        path.names.count >= parts.count + (isDeep ? 1 : 0) && zip(parts, path.names).allSatisfy { $0.matches($1) }
    }
}
