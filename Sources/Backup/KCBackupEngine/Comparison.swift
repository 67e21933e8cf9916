internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// A secret, as far as it is known.
enum SecretCode: Hashable {
    case absent
    /// Its MAC under the key of the comparison.
    case code([UInt8])
    case unknown

    /// The MAC of a secret that is known; an absent one counts as empty.
    var bytes: [UInt8]? {
        switch self {
        case .absent: []
        case .code(let code): code
        case .unknown: nil
        }
    }

    func change(to other: SecretCode, _ before: Item, _ after: Item) -> CompareReport.SecretChange {
        // Sizes are metadata, so a changed size is known without any key.
        if before.secretSize != after.secretSize { return .changed }
        if self == .unknown || other == .unknown { return before.secretSize == nil ? .same : .notCompared }
        return self == other ? .same : .changed
    }
}

/// Computes MACs under a random key that is used for one comparison and never stored.
final class ItemCodes {
    private var hmac: HMAC

    /// The form in which items are compared.
    let form: (Item) -> Item

    init(_ form: @escaping (Item) -> Item = { $0 }) throws(CryptographyFailure) {
        self.form = form
        hmac = try HMAC(key: RandomBytes.secret(count: 32))
    }

    func secret(_ secret: borrowing SecretBytes) throws(CryptographyFailure) -> SecretCode {
        .code(try code(of: secret))
    }

    /// Returns the MAC of a secret.
    func code(of secret: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        try hmac.authenticate(secret)
    }

    /// Returns the MAC of everything but the secret, and the position among alike items.
    func item(_ item: Item) throws -> [UInt8] {
        var line: [UInt8] = []
        ItemLine.encode(form(item.uuid.isDerived ? try item.withoutPosition : item), into: &line)
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
final class Comparison {
    /// What is kept in memory about an item of the first side.
    private struct Record {
        let uuid: ItemUUID
        let item: [UInt8]
        let key: [UInt8]
        let secret: SecretCode
        /// Nil unless its UUID was derived.
        let alike: AlikeItem?
        var isMatched = false
    }

    /// An item of the second side whose UUID was derived.
    private struct Candidate {
        let item: Item
        let secret: SecretCode
        let alike: AlikeItem
    }

    private let codes: ItemCodes
    private let step: () -> Void
    private var records: [Record] = []
    private var byUUID: [ItemUUID: Int] = [:]
    /// Items of the second side that match an item of the first side but differ from it, with that item's ordinal.
    private var changed: [(ordinal: Int, after: Item, secret: SecretCode)] = []
    /// The items of the first side with derived UUIDs, by the UUID of ordinal 0.
    private var series: [ItemUUID: [Int]] = [:]
    /// The items of the second side that may belong to those of a series.
    private var candidates: [ItemUUID: [Candidate]] = [:]
    /// Items of the second side that none of their series belongs to.
    private var added: [Item] = []
    /// Items of the second side whose UUID is not on the first side.
    private var others: [(item: Item, secret: SecretCode)] = []
    private var wanted: Set<Int> = []
    private var same = 0
    private var notCompared = 0
    var omitted = 0
    var damaged = 0
    /// The number of items that each archive lacks because they could not be read when it was made.
    var missing = (first: 0, second: 0)

    init(_ codes: ItemCodes, _ step: @escaping () -> Void) {
        self.codes = codes
        self.step = step
    }

    func addFirst(_ item: Item, _ secret: SecretCode) throws {
        step()
        byUUID[item.uuid] = records.count
        if item.uuid.isDerived { series[item.uuid.with(ordinal: 0), default: []].append(records.count) }
        records.append(
            Record(
                uuid: item.uuid, item: try codes.item(item), key: try codes.key(item), secret: secret,
                alike: item.uuid.isDerived ? AlikeItem(item, secret: secret.bytes) : nil))
    }

    func addSecond(_ item: Item, _ secret: SecretCode) throws {
        step()
        let name = item.uuid.with(ordinal: 0)
        let isAlike = item.uuid.isDerived && series[name] != nil
        if let ordinal = byUUID[item.uuid], try takeUnchanged(item, secret, as: ordinal) || !isAlike {
            if !records[ordinal].isMatched { takeChanged(item, secret, as: ordinal) }
        } else if isAlike {
            candidates[name, default: []].append(
                Candidate(item: item, secret: secret, alike: AlikeItem(item, secret: secret.bytes)))
        } else {
            others.append((item, secret))
        }
    }

    /// Counts an item that equals one of the first side; returns false for any other.
    private func takeUnchanged(_ item: Item, _ secret: SecretCode, as ordinal: Int) throws -> Bool {
        let change = records[ordinal].secret.change(to: secret, item, item)
        guard try codes.item(item) == records[ordinal].item, change != .changed else { return false }
        records[ordinal].isMatched = true
        same += 1
        if change == .notCompared { notCompared += 1 }
        return true
    }

    private func takeChanged(_ item: Item, _ secret: SecretCode, as ordinal: Int) {
        records[ordinal].isMatched = true
        changed.append((ordinal, item, secret))
        wanted.insert(ordinal)
    }

    /// Matches the items without a matching UUID.
    func match() throws {
        try matchAlike()
        try matchByKey()
        for (ordinal, record) in records.enumerated() where !record.isMatched { wanted.insert(ordinal) }
    }

    /// Matches items whose position among alike items says nothing.
    private func matchAlike() throws {
        for (name, candidates) in candidates {
            let all = series[name] ?? []
            let open = all.filter { !records[$0].isMatched }.sorted {
                records[$0].uuid.ordinal < records[$1].uuid.ordinal
            }
            let candidates = candidates.sorted { $0.item.uuid.ordinal < $1.item.uuid.ordinal }
            let pairs = AlikeItems.pairs(
                of: candidates.map(\.alike), with: open.compactMap { records[$0].alike },
                hasOthers: open.count < all.count)
            for (candidate, pair) in zip(candidates, pairs) {
                if let pair {
                    if try !takeUnchanged(candidate.item, candidate.secret, as: open[pair]) {
                        takeChanged(candidate.item, candidate.secret, as: open[pair])
                    }
                } else {
                    added.append(candidate.item)
                }
            }
        }
    }

    /// Matches items that were deleted and added again.
    private func matchByKey() throws {
        var byKey: [[UInt8]: Int] = [:]
        for (ordinal, record) in records.enumerated() where !record.isMatched { byKey[record.key] = ordinal }
        for other in others {
            if let ordinal = byKey[try codes.key(other.item)] {
                takeChanged(other.item, other.secret, as: ordinal)
            } else {
                added.append(other.item)
            }
        }
    }

    /// True if the item of the first side with this ordinal is part of the report.
    func isWanted(_ ordinal: Int) -> Bool { wanted.contains(ordinal) }

    func report(_ before: [Int: Item]) throws(ItemProblem) -> CompareReport {
        var changes: [CompareReport.Change] = []
        for (ordinal, after, secret) in changed.sorted(by: { $0.ordinal < $1.ordinal }) {
            guard let item = before[ordinal] else { preconditionFailure("an archive that was proved has its items") }
            let after =
                records[ordinal].uuid.isAlike(after.uuid) ? try after.identified(as: item) : after
            let change = records[ordinal].secret.change(to: secret, item, after)
            let (old, new) = (codes.form(item), codes.form(after))
            let attributes = AttributeCode.allCases.filter { old.attributes[$0] != new.attributes[$0] }
            let extra = Self.differing(old.extra, new.extra)
            if change == .notCompared { notCompared += 1 }
            changes.append(
                CompareReport.Change(
                    before: item, after: after, attributes: attributes, extra: extra, secret: change))
        }
        let removed = records.indices.filter { !records[$0].isMatched }.compactMap { before[$0] }
        return CompareReport(
            added: added.sorted { $0.precedes($1) }, removed: removed, changed: changes, same: same,
            notCompared: notCompared,
            omitted: omitted, damaged: damaged, missing: missing)
    }

    private static func differing(_ before: [ExtraAttribute], _ after: [ExtraAttribute]) -> [String] {
        let names = (before + after).filter { !before.contains($0) || !after.contains($0) }.map(\.name)
        return names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
    }
}
