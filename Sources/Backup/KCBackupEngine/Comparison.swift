internal import KCByteStreams
internal import KCItemMatching
internal import KCItemSources
internal import KCKeychainModel

/// A secret, as far as it is known.
enum SecretCode: Hashable {
    case absent
    /// Its code in the comparison.
    case code(ItemCode)
    case unknown

    func change(to other: SecretCode, _ before: Item, _ after: Item) -> CompareReport.SecretChange {
        // Sizes are metadata, so a changed size is known without any key.
        if before.secretSize != after.secretSize { return .changed }
        return before.secretSize == nil ? .same : change(to: other)
    }

    /// The change of secrets of the same size.
    func change(to other: SecretCode) -> CompareReport.SecretChange {
        if self == .unknown || other == .unknown { return .notCompared }
        return self == other ? .same : .changed
    }
}

/// Compares the items of two sides that `ItemMatcher` matches.
///
/// The first side is read twice, and the second one in between. Of an item that is the same on both sides, no more than
/// codes are kept.
final class Comparison {
    /// An item of the first side that is matched, with the codes that it is compared by.
    private struct Record {
        let item: Item
        let whole: ItemCode
        let secret: SecretCode
    }

    /// An item of the second side with what it is compared by.
    private struct Other {
        let item: Item
        let whole: ItemCode
        let secret: SecretCode
    }

    private let codes: ItemCodes
    private let ofEmptySecret: ItemCode
    private let form: ((Item) -> Item?)?
    private let step: () -> Void
    /// The place of each item of the first side in the order of reading, by the code of its UUID and of all that it has
    /// but a secret.
    private var places: [ItemCode: UInt32] = [:]
    /// The secrets of the first side, in the order of reading.
    private var secrets: [SecretCode] = []
    /// True for what is the same on the second side.
    private var isSame: [Bool] = []
    /// The items of the second side that are not the same on the first one.
    private var others: [Other] = []
    /// The series of these, by the UUID of ordinal 0.
    private var series: Set<ItemUUID> = []
    /// The number of items of the first side that were read again.
    private var readAgain = 0
    private var matcher = ItemMatcher()
    private var records: [Record] = []
    /// Items of the second side that match an item of the first side but differ from it, with that item's number.
    private var changed: [(number: Int, after: Item, secret: SecretCode)] = []
    private var added: [Item] = []
    private var same = 0
    private var notCompared = 0
    var omitted = 0
    var damaged = 0
    /// The number of items that each archive lacks because they could not be read when it was made.
    var missing = (first: 0, second: 0)

    /// - Parameter form: the form in which items are compared; it returns nil for an item that the second side cannot
    ///   hold, which is then none of its items.
    init(_ codes: ItemCodes, _ form: ((Item) -> Item?)?, _ step: @escaping () -> Void) throws {
        self.codes = codes
        self.form = form
        self.step = step
        ofEmptySecret = try codes.secret(SecretBytes(capacity: 0))
    }

    func addFirst(_ item: Item, _ secret: SecretCode) throws {
        step()
        let item = compared(item)
        places[try codes.code(of: item.uuid, try codes.item(item))] = UInt32(secrets.count)
        secrets.append(known(secret))
        isSame.append(false)
    }

    func addSecond(_ item: Item, _ secret: SecretCode) throws {
        step()
        let (given, item) = (item, compared(item))
        let other = Other(item: given, whole: try codes.item(item), secret: known(secret))
        if let place = places[try codes.code(of: item.uuid, other.whole)] {
            let change = item.secretSize == nil ? .same : secrets[Int(place)].change(to: other.secret)
            if change != .changed {
                isSame[Int(place)] = true
                same += 1
                if change == .notCompared { notCompared += 1 }
                return
            }
        }
        others.append(other)
        if item.uuid.isDerived { series.insert(item.uuid.with(ordinal: 0)) }
    }

    /// Takes an item of the first side again, when all of the second side are known; in the same order.
    func addFirstAgain(_ item: Item) throws {
        defer { readAgain += 1 }
        let given = item
        let item = compared(item)
        let isSame = isSame[readAgain]
        // An item that is the same on both sides still tells where others of its series were.
        if isSame, !(item.uuid.isDerived && series.contains(item.uuid.with(ordinal: 0))) { return }
        let (whole, key) = (try codes.item(item), try codes.key(item))
        let secret = secrets[readAgain]
        let alike = alike(item, whole, secret)
        matcher.add(item.uuid, key: key, alike: item.uuid.isDerived ? alike : nil)
        records.append(Record(item: given, whole: whole, secret: secret))
        if isSame { _ = try matcher.match(item.uuid, key: key, alike: alike) }
    }

    private func compared(_ item: Item) -> Item { form?(item) ?? item }

    /// Where items have a form of their own, a missing secret is an empty one.
    private func known(_ secret: SecretCode) -> SecretCode {
        form != nil && secret == .absent ? .code(ofEmptySecret) : secret
    }

    private func alike(_ item: Item, _ whole: ItemCode, _ secret: SecretCode) -> AlikeItem {
        let code: ItemCode? =
            switch secret {
            case .absent: ofEmptySecret
            case .code(let code): code
            case .unknown: nil
            }
        if form == nil { return AlikeItem(item, secret: code, whole: whole) }
        // A place with a form of its own sets dates itself.
        return AlikeItem(
            position: Int(item.uuid.ordinal), label: item.attributes.text(.labl) ?? "", secret: code, whole: whole)
    }

    /// Matches the items that are not the same, when all are known.
    func match() throws {
        var waiting: [Other] = []
        for other in others {
            let item = compared(other.item)
            let number = try matcher.match(
                item.uuid, key: codes.key(item), alike: alike(item, other.whole, other.secret),
                isUnchanged: { isUnchanged(other, from: $0) })
            if let number { take(other, as: number) } else { waiting.append(other) }
        }
        others = []
        for (other, number) in zip(waiting, matcher.rest()) {
            if let number { take(other, as: number) } else { added.append(other.item) }
        }
    }

    /// True if an item equals one of the first side as far as both are known.
    private func isUnchanged(_ other: Other, from number: Int) -> Bool {
        records[number].whole == other.whole && change(of: other, from: number) != .changed
    }

    /// How the secret of an item of the same size differs.
    private func change(of other: Other, from number: Int) -> CompareReport.SecretChange {
        let record = records[number]
        return compared(record.item).secretSize == nil ? .same : record.secret.change(to: other.secret)
    }

    private func take(_ other: Other, as number: Int) {
        if isUnchanged(other, from: number) {
            same += 1
            if change(of: other, from: number) == .notCompared { notCompared += 1 }
        } else {
            changed.append((number, other.item, other.secret))
        }
    }

    func report() throws(ItemProblem) -> CompareReport {
        var changes: [CompareReport.Change] = []
        for (number, after, secret) in changed.sorted(by: { $0.number < $1.number }) {
            let item = records[number].item
            let (then, now) = (compared(item), try identified(compared(after), as: compared(item)))
            let change = records[number].secret.change(to: secret, then, now)
            let (old, new) = (KeyringExtra.comparable(then), KeyringExtra.comparable(now))
            let attributes = AttributeCode.allCases.filter { old.attributes[$0] != new.attributes[$0] }
            let extra = Self.differing(old.extra, new.extra)
            if change == .notCompared { notCompared += 1 }
            changes.append(
                CompareReport.Change(
                    before: item, after: try shown(after, as: item), attributes: attributes, extra: extra,
                    secret: change))
        }
        let removed = records.indices.filter { !matcher.isMatched($0) }.map { records[$0].item }
        return CompareReport(
            added: added.sorted { $0.precedes($1) }, removed: removed, changed: changes, same: same,
            notCompared: notCompared,
            omitted: omitted, damaged: damaged, missing: missing)
    }

    /// The item of the second side with what its position in a series says taken from the first side.
    private func identified(_ after: Item, as before: Item) throws(ItemProblem) -> Item {
        before.uuid.isAlike(after.uuid) ? try after.identified(as: before) : after
    }

    private func shown(_ after: Item, as before: Item) throws(ItemProblem) -> Item {
        if form == nil { return try identified(after, as: before) }
        // A place with a form of its own has no UUIDs, so nothing follows from another one.
        return try after.with(uuid: before.uuid, attributes: after.attributes)
    }

    private static func differing(_ before: [ExtraAttribute], _ after: [ExtraAttribute]) -> [String] {
        let names = (before + after).filter { !before.contains($0) || !after.contains($0) }.map(\.name)
        return names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
    }
}
