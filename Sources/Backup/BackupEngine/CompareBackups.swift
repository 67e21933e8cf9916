internal import BackupArchive
internal import ByteStreams
internal import Cryptography
package import KeychainModel

/// Compares an archive with a later one, or with a keychain.
///
/// Two items are the same item if they have the same UUID or, failing that, the same unique key. An item that was
/// renamed, or that was deleted and added again, therefore counts as changed. Secrets are compared by MACs under a
/// random key that exists only during the comparison. For equal items, only these MACs are kept in memory.
package struct CompareBackups {
    private let archive: ProvenArchive
    private let comparesSecrets: Bool
    private let codes: ItemCodes

    /// What the archive is compared with.
    package enum Other {
        case archive(ProvenArchive)
        /// A keychain, which must be unlocked to compare secrets.
        case keychain(any ItemSource)
    }

    /// Prepares a comparison.
    ///
    /// - Parameter comparesSecrets: false if only one of the two has secrets that can be opened.
    /// - Throws: `CryptographyFailure`.
    package init(_ archive: ProvenArchive, comparesSecrets: Bool) throws {
        self.archive = archive
        self.comparesSecrets = comparesSecrets && archive.opensAllSecrets
        codes = try ItemCodes()
    }

    /// Runs the comparison.
    ///
    /// - Parameter step: called once for each item on each side.
    /// - Throws: `ArchiveFailure`, and what the keychain throws.
    package func run(with other: Other, _ step: @escaping () -> Void = {}) throws -> CompareReport {
        let comparison = Comparison(codes, step)
        try visit(archive) { try comparison.addFirst($0, $1) }
        switch other {
        case .archive(let archive): try visit(archive) { try comparison.addSecond($0, $1) }
        case .keychain(let keychain):
            var visitor = KeychainVisitor(codes: codes, comparesSecrets: comparesSecrets, comparison: comparison)
            try keychain.visitItems(&visitor)
        }
        try comparison.matchByKey()
        // Read the archive again for the items that differ: most items do not, so they are not kept in memory.
        var before: [Int: Item] = [:]
        var ordinal = 0
        _ = try archive.survey { item in
            if comparison.isWanted(ordinal) { before[ordinal] = item }
            ordinal += 1
        }
        return comparison.report(before)
    }

    private func visit(_ archive: ProvenArchive, _ take: @escaping (Item, SecretCode) throws -> Void) throws {
        var visitor = ArchiveVisitor(codes: codes, take: take)
        if comparesSecrets, archive.opensAllSecrets {
            _ = try archive.read(.plain, &visitor)
        } else {
            try archive.opened.proveStreams()
            _ = try archive.opened.readMetadata(&visitor)
        }
    }
}

extension ProvenArchive {
    /// False if the secrets cannot all be compared: an inspect key opened the archive, or the archive is unencrypted
    /// and its secrets need a passcode or another device.
    package var opensAllSecrets: Bool {
        guard let stored else { return opened.opensSecrets }
        return isFromThisDevice && !stored.needsPasscode
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

/// A secret, as far as it is known.
private enum SecretCode: Hashable {
    case absent
    /// Its MAC under the key of the comparison.
    case code([UInt8])
    case unknown

    func change(to other: SecretCode, _ before: Item, _ after: Item) -> CompareReport.SecretChange {
        // Sizes are metadata, so a changed size is known without any key.
        if before.secretSize != after.secretSize { return .changed }
        if self == .unknown || other == .unknown { return before.secretSize == nil ? .same : .notCompared }
        return self == other ? .same : .changed
    }
}

/// Computes MACs under a random key that is used for one comparison and never stored.
private final class ItemCodes {
    private var hmac: HMACSHA256

    init() throws(CryptographyFailure) {
        hmac = try HMACSHA256(key: RandomBytes.secret(count: 32))
    }

    func secret(_ secret: borrowing SecretBytes) throws(CryptographyFailure) -> SecretCode {
        .code(try secret.withBytes { bytes throws(CryptographyFailure) in try hmac.authenticate(bytes) })
    }

    /// Returns the MAC of everything but the secret.
    func item(_ item: Item) throws(CryptographyFailure) -> [UInt8] {
        var line: [UInt8] = []
        ItemLine.encode(item, into: &line)
        return try hmac.authenticate(line.span)
    }

    /// Returns the MAC of the class and the unique key.
    func key(_ item: Item) throws(CryptographyFailure) -> [UInt8] {
        var line = [UInt8(item.itemClass.position)]
        for code in item.itemClass.uniqueKey {
            let bytes: [UInt8] =
                switch item.attributes[code] ?? Item.keyDefault(code) {
                case .text(let text): Array(text.utf8)
                case .data(let data): data
                case .number(let number): Self.bytes(number)
                case .date(let date): Self.bytes(date.microseconds)
                }
            line += Self.bytes(Int64(bytes.count)) + bytes
        }
        return try hmac.authenticate(line.span)
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// Matches the items of both sides.
private final class Comparison {
    /// What is kept in memory about an item of the first side.
    private struct Record {
        let uuid: ItemUUID
        let item: [UInt8]
        let key: [UInt8]
        let secret: SecretCode
        var isMatched = false
    }

    private let codes: ItemCodes
    private let step: () -> Void
    private var records: [Record] = []
    private var byUUID: [ItemUUID: Int] = [:]
    /// Items of the second side that match an item of the first side but differ from it, with that item's ordinal.
    private var changed: [(ordinal: Int, after: Item, secret: SecretCode)] = []
    /// Items of the second side whose UUID is not on the first side.
    private var others: [(item: Item, secret: SecretCode)] = []
    private var wanted: Set<Int> = []
    private var same = 0
    private var notCompared = 0
    var omitted = 0
    var damaged = 0

    init(_ codes: ItemCodes, _ step: @escaping () -> Void) {
        self.codes = codes
        self.step = step
    }

    func addFirst(_ item: Item, _ secret: SecretCode) throws {
        step()
        byUUID[item.uuid] = records.count
        records.append(
            Record(uuid: item.uuid, item: try codes.item(item), key: try codes.key(item), secret: secret))
    }

    func addSecond(_ item: Item, _ secret: SecretCode) throws {
        step()
        guard let ordinal = byUUID[item.uuid] else {
            others.append((item, secret))
            return
        }
        let record = records[ordinal]
        records[ordinal].isMatched = true
        let change = record.secret.change(to: secret, item, item)
        if try codes.item(item) == record.item, change != .changed {
            same += 1
            if change == .notCompared { notCompared += 1 }
        } else {
            changed.append((ordinal, item, secret))
            wanted.insert(ordinal)
        }
    }

    /// Matches items that were deleted and added again, among those without a matching UUID.
    func matchByKey() throws {
        var byKey: [[UInt8]: Int] = [:]
        for (ordinal, record) in records.enumerated() where !record.isMatched { byKey[record.key] = ordinal }
        var added: [(item: Item, secret: SecretCode)] = []
        for other in others {
            if let ordinal = byKey[try codes.key(other.item)] {
                records[ordinal].isMatched = true
                changed.append((ordinal, other.item, other.secret))
                wanted.insert(ordinal)
            } else {
                added.append(other)
            }
        }
        others = added
        for (ordinal, record) in records.enumerated() where !record.isMatched { wanted.insert(ordinal) }
    }

    /// True if the item of the first side with this ordinal is part of the report.
    func isWanted(_ ordinal: Int) -> Bool { wanted.contains(ordinal) }

    func report(_ before: [Int: Item]) -> CompareReport {
        var changes: [CompareReport.Change] = []
        for (ordinal, after, secret) in changed {
            guard let item = before[ordinal] else { preconditionFailure("an archive that was proved has its items") }
            let change = records[ordinal].secret.change(to: secret, item, after)
            let attributes = AttributeCode.allCases.filter { item.attributes[$0] != after.attributes[$0] }
            let extra = Self.differing(item.extra, after.extra)
            if change == .notCompared { notCompared += 1 }
            changes.append(
                CompareReport.Change(
                    before: item, after: after, attributes: attributes, extra: extra, secret: change))
        }
        let removed = records.indices.filter { !records[$0].isMatched }.compactMap { before[$0] }
        return CompareReport(
            added: others.map(\.item), removed: removed, changed: changes, same: same, notCompared: notCompared,
            omitted: omitted, damaged: damaged)
    }

    private static func differing(_ before: [ExtraAttribute], _ after: [ExtraAttribute]) -> [String] {
        let names = (before + after).filter { !before.contains($0) || !after.contains($0) }.map(\.name)
        return names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
    }
}

private struct ArchiveVisitor: RecordVisitor {
    let codes: ItemCodes
    let take: (Item, SecretCode) throws -> Void

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch state {
        case .open: try take(item, codes.secret(secret))
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
        try comparison.addSecond(item, item.secretSize == nil ? .absent : codes.secret(secret))
    }

    mutating func skip(damaged item: Item?) throws {
        comparison.damaged += 1
        if let item { try comparison.addSecond(item, .unknown) }
    }
}
