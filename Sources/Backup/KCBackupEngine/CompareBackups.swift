internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
package import KCKeychainModel

/// Compares an archive with a later one, or with a keychain.
///
/// Items are matched as a restore matches them (docs/matching.md), and compared in the form in which the other place holds
/// them. An item that was renamed, or that was deleted and
/// added again, therefore counts as changed. Secrets are compared by MACs under a random key that exists only during the
/// comparison. For equal items, only these MACs are kept in memory.
package struct CompareBackups {
    private let archive: ProvenArchive
    private let comparesSecrets: Bool
    private let codes: ItemCodes

    /// What the archive is compared with.
    package enum Other {
        case archive(ProvenArchive)
        /// A keychain, which must be unlocked to compare secrets; or another place, and the form in which it holds items,
        /// which is nil for an item that has no place there.
        case keychain(any ItemSource, form: ((Item) -> Item?)? = nil)
    }

    /// Prepares a comparison.
    ///
    /// - Parameter comparesSecrets: false if only one of the two has secrets that can be opened.
    /// - Throws: `CryptographyFailure`, `ArchiveFailure`.
    package init(_ archive: ProvenArchive, comparesSecrets: Bool) throws {
        self.archive = archive
        self.comparesSecrets = try comparesSecrets && archive.opensAllSecrets
        codes = try ItemCodes()
    }

    /// Runs the comparison.
    ///
    /// - Parameter step: called once for each item on each side.
    /// - Throws: `ArchiveFailure`, and what the keychain throws.
    package func run(with other: Other, _ step: @escaping () -> Void = {}) throws -> CompareReport {
        let form: ((Item) -> Item?)? = if case .keychain(_, let form) = other { form } else { nil }
        let comparison = try Comparison(codes, form, step)
        comparison.missing.first = try visit(archive) { try comparison.addFirst($0, $1) }
        switch other {
        case .archive(let archive):
            comparison.missing.second = try visit(archive) { try comparison.addSecond($0, $1) }
        case .keychain(let keychain, _):
            var visitor = KeychainVisitor(codes: codes, comparesSecrets: comparesSecrets, comparison: comparison)
            try keychain.visitItems(&visitor)
        }
        comparison.match()
        // Read the archive again for the items that differ: most items do not, so they are not kept in memory.
        var before: [Int: Item] = [:]
        var ordinal = 0
        _ = try archive.survey { item in
            if comparison.isWanted(ordinal) { before[ordinal] = item }
            ordinal += 1
        }
        return try comparison.report(before)
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
    let codes: ItemCodes
    let comparesSecrets: Bool
    let comparison: Comparison

    mutating func wants(_ item: Item) throws -> Bool {
        if Travel(item.accessibility) == .nowhere {
            comparison.omitted += 1
            return false
        }
        if comparesSecrets { return true }
        try comparison.addSecond(item, .unknown)
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        try comparison.addSecond(item, item.secretSize == nil ? .absent : .code(codes.secret(secret)))
    }

    mutating func skip(damaged item: Item?) throws {
        comparison.damaged += 1
        if let item { try comparison.addSecond(item, .unknown) }
    }
}
