package import KCCryptography
package import KCKeychainModel

/// Matches the items of two places that identify them by UUIDs and unique keys.
///
/// The rules are in docs/matching.md. The first place is read before the second. An item of the second one is matched when it is read, unless only all
/// items together tell which one it is, so few of them are kept.
///
/// ```swift
/// for item in before { matcher.add(item.uuid, key: codes.key(item)) }
/// for item in after where matcher.match(item.uuid, key: codes.key(item)) == nil { waiting.append(item) }
/// for (item, number) in zip(waiting, matcher.rest()) { … }
/// ```
package struct ItemMatcher {
    /// An item of the first place in a series.
    private struct Member {
        let number: Int
        let alike: AlikeItem
    }

    /// An item of the second place that waits for the others.
    private struct Waiting {
        let uuid: ItemUUID
        let key: ItemCode
        let alike: AlikeItem?
    }

    private var uuids: [ItemUUID] = []
    private var keys: [ItemCode] = []
    private var isTaken: [Bool] = []
    private var numbers: [ItemUUID: Int] = [:]
    /// The series of the first place, by the UUID of ordinal 0.
    private var series: [ItemUUID: [Member]] = [:]
    private var waiting: [Waiting] = []

    /// Starts with no items.
    package init() {}

    /// The number of items of the first place.
    package var count: Int { uuids.count }

    /// Adds an item of the first place; they are numbered from 0.
    ///
    /// - Parameter alike: what tells it apart in its series; nil in a place whose items keep their UUIDs.
    package mutating func add(_ uuid: ItemUUID, key: ItemCode, alike: AlikeItem? = nil) {
        numbers[uuid] = count
        if let alike { series[uuid.with(ordinal: 0), default: []].append(Member(number: count, alike: alike)) }
        uuids.append(uuid)
        keys.append(key)
        isTaken.append(false)
    }

    /// Finds the item of the first place that an item of the second one is.
    ///
    /// - Parameters:
    ///   - key: makes the code of the unique key, if it is needed.
    ///   - alike: makes what tells it apart in its series, if it is needed.
    ///   - isUnchanged: returns whether the item of the first place is equal but for its position, and its secret is
    ///     not known to differ; called only if the place says no more than the position in a series.
    /// - Returns: the number of the item of the first place; nil if `rest` finds it.
    /// - Throws: what `key` throws.
    package mutating func match(
        _ uuid: ItemUUID, key: @autoclosure () throws(CryptographyFailure) -> ItemCode,
        alike: @autoclosure () -> AlikeItem? = nil, isUnchanged: (Int) -> Bool = { _ in true }
    ) throws(CryptographyFailure) -> Int? {
        let isInSeries = uuid.isDerived && series[uuid.with(ordinal: 0)] != nil
        if let number = numbers[uuid], !isTaken[number], !isInSeries || isUnchanged(number) {
            isTaken[number] = true
            return number
        }
        waiting.append(Waiting(uuid: uuid, key: try key(), alike: isInSeries ? alike() : nil))
        return nil
    }

    /// Matches what is left, when all items are known.
    ///
    /// - Returns: for each item of the second place for which `match` returned nil, in the order of these calls, the
    ///   number of the item of the first place that it is; nil if it is none of them.
    package mutating func rest() -> [Int?] {
        var found = [Int?](repeating: nil, count: waiting.count)
        matchSeries(&found)
        matchKeys(&found)
        return found
    }

    /// True if an item of the first place is an item of the second one.
    package func isMatched(_ number: Int) -> Bool { isTaken[number] }

    private mutating func matchSeries(_ found: inout [Int?]) {
        var candidates: [ItemUUID: [Int]] = [:]
        for (index, one) in waiting.enumerated() where one.alike != nil {
            candidates[one.uuid.with(ordinal: 0), default: []].append(index)
        }
        for (name, candidates) in candidates {
            let members = series[name] ?? []
            // Members that were matched at once are at the same position on both sides.
            let known = members.filter { isTaken[$0.number] }.map(\.alike)
            let pairs = AlikeItems.pairs(
                of: candidates.compactMap { waiting[$0].alike } + known, with: members.map(\.alike))
            for (index, pair) in zip(candidates, pairs) {
                guard let pair, !isTaken[members[pair].number] else { continue }
                found[index] = members[pair].number
                isTaken[members[pair].number] = true
            }
        }
    }

    /// Matches items that were deleted and added again.
    private mutating func matchKeys(_ found: inout [Int?]) {
        if waiting.isEmpty { return }
        var byKey: [ItemCode: Int] = [:]
        for number in uuids.indices where !isTaken[number] { byKey[keys[number]] = number }
        for (index, one) in waiting.enumerated() where found[index] == nil {
            // An item that a series leaves over is unclear, and the key is the position there.
            guard let number = byKey[one.key], !isTaken[number], !uuids[number].isAlike(one.uuid) else { continue }
            found[index] = number
            isTaken[number] = true
        }
    }
}
