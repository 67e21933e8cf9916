internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
package import KCKeychainModel

/// Compares an archive, or a file of items, with a later one, or with a keychain.
///
/// Items are matched as a restore matches them (docs/matching.md), and compared in the form in which the other place holds
/// them. An item that was renamed, or that was deleted and
/// added again, therefore counts as changed. Secrets are compared by MACs under a random key that exists only during the
/// comparison. For equal items, only these MACs are kept in memory.
package struct CompareBackups {
    private let first: First
    private let comparesSecrets: Bool
    private let codes: ItemCodes

    /// The first side of a comparison.
    package enum First {
        case archive(ProvenArchive)
        /// The items of a file, which gives the same ones each time that it is visited.
        case items(any ItemSource)
    }

    /// The other side of a comparison.
    package enum Other {
        case archive(ProvenArchive, form: ((Item) -> Item?)? = nil)
        /// A keychain, which must be unlocked to compare secrets; or another place, and the form in which it holds items,
        /// which is nil for an item that has no place there.
        case keychain(any ItemSource, form: ((Item) -> Item?)? = nil)
    }

    /// Prepares a comparison.
    ///
    /// - Parameter comparesSecrets: false if only one of the two has secrets that can be opened.
    /// - Throws: `CryptographyFailure`, `ArchiveFailure`.
    package init(_ first: First, comparesSecrets: Bool) throws {
        self.first = first
        self.comparesSecrets =
            switch first {
            case .archive(let archive): try comparesSecrets && archive.opensAllSecrets
            case .items: comparesSecrets
            }
        codes = try ItemCodes()
    }

    /// Prepares a comparison of an archive.
    ///
    /// - Throws: as `init(_:comparesSecrets:)` for `First`.
    package init(_ archive: ProvenArchive, comparesSecrets: Bool) throws {
        try self.init(.archive(archive), comparesSecrets: comparesSecrets)
    }

    /// Runs the comparison.
    ///
    /// - Parameter step: called once for each item on each side.
    /// - Throws: `ArchiveFailure`, and what the keychain throws.
    package func run(with other: Other, _ step: @escaping () -> Void = {}) throws -> CompareReport {
        let form: ((Item) -> Item?)? =
            switch other {
            case .archive(_, let form), .keychain(_, let form): form
            }
        let comparison = try Comparison(codes, form, step)
        switch first {
        case .archive(let archive):
            comparison.missing.first = try visit(archive) { try comparison.addFirst($0, $1) }
        case .items(let items):
            var visitor = KeychainVisitor(codes: codes, comparesSecrets: comparesSecrets, add: comparison.addFirst)
            try items.visitItems(&visitor)
            comparison.missing.first = visitor.damaged
        }
        switch other {
        case .archive(let archive, _):
            comparison.missing.second = try visit(archive) { try comparison.addSecond($0, $1) }
        case .keychain(let keychain, _):
            var visitor = KeychainVisitor(codes: codes, comparesSecrets: comparesSecrets, add: comparison.addSecond)
            try keychain.visitItems(&visitor)
            (comparison.omitted, comparison.damaged) = (visitor.omitted, visitor.damaged)
        }
        // Most items do not differ, so those that do are read again rather than all kept in memory.
        switch first {
        case .archive(let archive): _ = try archive.survey(comparison.addFirstAgain)
        case .items(let items):
            var visitor = KeychainVisitor(codes: codes, comparesSecrets: false) { item, _ in
                try comparison.addFirstAgain(item)
            }
            try items.visitItems(&visitor)
        }
        try comparison.match()
        return try comparison.report()
    }

    /// Returns how many items the archive lacks because they could not be read when it was made.
    private func visit(
        _ archive: ProvenArchive, _ take: @escaping (Item, SecretCode) throws -> Void
    ) throws -> Int {
        var visitor = ArchiveVisitor(codes: codes, take: take)
        if comparesSecrets, try archive.opensAllSecrets {
            return try archive.read(.plain, &visitor).contents.damaged
        }
        try archive.opened.proveStreams()
        return try archive.opened.readMetadata(&visitor).contents.damaged
    }
}

extension ProvenArchive {
    /// False if the secrets cannot all be compared: an inspect key opened the archive, or the archive is unencrypted
    /// and its secrets need a passcode or another device.
    ///
    /// - Throws: `ArchiveFailure`.
    package var opensAllSecrets: Bool {
        get throws {
            if stored == nil { return opened.opensSecrets }
            return try isFromThisDevice && !needsPasscode()
        }
    }
}

/// The differences between two backups.
package struct CompareReport: Sendable {
    /// Items that are only in the second one.
    package let added: [Item]
    /// Items that are only in the first one.
    package let removed: [Item]
    /// Items that are in both and differ.
    package let changed: [Change]
    /// The number of items that are equal in both, as far as they were compared.
    package let same: Int
    /// The number of items in both whose secrets could not be compared and that show no other evidence of a changed
    /// secret.
    package let notCompared: Int
    /// The number of items in the keychain that archives leave out by rule.
    package let omitted: Int
    /// The number of items in the keychain that cannot be read.
    package let damaged: Int
    /// The number of items that each archive lacks because they could not be read when it was made.
    package let missing: (first: Int, second: Int)

    /// An item that differs.
    package struct Change: Sendable {
        package let before: Item
        package let after: Item
        /// The attributes that differ, in the order of their codes.
        package let attributes: [AttributeCode]
        /// The names of extra attributes that differ.
        package let extra: [String]
        /// True if the item was deleted and added again.
        package var hasNewUUID: Bool { before.uuid != after.uuid }
        package let secret: SecretChange
    }

    /// How a secret differs.
    package enum SecretChange: String, CaseIterable, Hashable, Sendable {
        case same
        case changed
        case notCompared = "not-compared"
    }
}

private struct ArchiveVisitor: RecordVisitor {
    let codes: ItemCodes
    let take: (Item, SecretCode) throws -> Void

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch state {
        case .open: try take(item, .code(codes.secret(secret)))
        case .absent: try take(item, .absent)
        case .sealedElsewhere, .stored, .storedWhole, .broken, .notRead: try take(item, .unknown)
        }
    }
}

private struct KeychainVisitor: ItemVisitor {
    private let codes: ItemCodes
    private let comparesSecrets: Bool
    private let add: (Item, SecretCode) throws -> Void
    /// The number of items that archives leave out by rule.
    private(set) var omitted = 0
    /// The number of items that cannot be read.
    private(set) var damaged = 0

    init(codes: ItemCodes, comparesSecrets: Bool, add: @escaping (Item, SecretCode) throws -> Void) {
        self.codes = codes
        self.comparesSecrets = comparesSecrets
        self.add = add
    }

    mutating func wants(_ item: Item) throws -> Bool {
        if Travel(item.accessibility) == .nowhere {
            omitted += 1
            return false
        }
        if comparesSecrets { return true }
        try add(item, .unknown)
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        try add(item, item.secretSize == nil ? .absent : .code(codes.secret(secret)))
    }

    mutating func skip(damaged item: Item?) throws {
        damaged += 1
        if let item { try add(item, .unknown) }
    }
}
