internal import KCCryptography
internal import KCItemMatching
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore

/// How a keychain differs from an earlier copy of it.
struct KeychainDifference {
    let changes: UndoneChanges
    /// The number of items of the copy.
    var itemsAfter: Int { rows.counts.before }
    private let copy: Keychain
    private let rows: RowDifference

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - copy: its state at an earlier time.
    ///   - written: the rows that the undone command wrote; nil if that is unknown.
    ///   - folder: where items wait that are too many or too large for the memory.
    init(from keychain: Keychain, to copy: Keychain, written: Set<RowSeal>?, spoolingIn folder: String) throws {
        self.copy = copy
        (rows, changes) = try keychain.comparing(with: copy) { rows, now, before in
            let matches = try Matches(rows, now, before)
            let log = UndoneChanges.Log(spoolingIn: folder, knowsSince: written != nil)
            var index = 0
            try now.visit(rows.now) { item, seal in
                let isOwn = seal.map { written?.contains($0) ?? true } ?? (written == nil)
                let since: UndoneChanges.Since? = isOwn ? nil : matches.isMatched(now: index) ? .changed : .added
                if matches.isMatched(now: index) {
                    try log.change(item, since)
                } else {
                    try log.remove(item, since)
                }
                index += 1
            }
            index = 0
            try before.visit(rows.before) { item, _ in
                if !matches.isMatched(before: index) { try log.bringBack(item) }
                index += 1
            }
            var changes = UndoneChanges()
            changes.itemsBefore = rows.counts.now
            try log.finish(&changes)
            return (rows, changes)
        }
    }

    /// True if the copy holds what the keychain holds; rows that are no valid items count, too.
    var isNone: Bool { rows.isNone }

    /// Checks that what was listed, and perhaps confirmed, is still what is removed or set back.
    ///
    /// - Throws: `KeychainStoreError` (`busy` if it is not).
    func requireCurrent(_ writer: KeychainWriter) throws(KeychainStoreError) {
        guard try writer.difference(from: copy).isEqual(to: rows) else { throw .busy }
    }

    /// Which items of the two states are the same ones, by their numbers among those that differ.
    private struct Matches {
        private var matcher = ItemMatcher()
        private var isMatched: [Bool] = []

        init(_ rows: RowDifference, _ now: KeychainReader, _ before: KeychainReader) throws {
            // If only one state has any, nothing is needed of them.
            if rows.now.isEmpty || rows.before.isEmpty { return }
            let codes = try ItemCodes()
            try before.visit(rows.before) { item, _ in matcher.add(item.uuid, key: try codes.key(item)) }
            var waiting: [Int] = []
            try now.visit(rows.now) { item, _ in
                let number = try matcher.match(item.uuid, key: codes.key(item))
                if number == nil { waiting.append(isMatched.count) }
                isMatched.append(number != nil)
            }
            for (index, number) in zip(waiting, matcher.rest()) { isMatched[index] = number != nil }
        }

        func isMatched(now index: Int) -> Bool { index < isMatched.count && isMatched[index] }

        func isMatched(before number: Int) -> Bool { number < matcher.count && matcher.isMatched(number) }
    }
}
