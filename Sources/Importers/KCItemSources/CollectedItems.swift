internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Items in archive order that were all read before, and do not change.
package final class CollectedItems: ItemSource, Sendable {
    let runs: [SortedRun]
    /// How many items there are.
    package let count: Int

    init(_ runs: [SortedRun], count: Int) {
        self.runs = runs
        self.count = count
    }

    /// Visits every item; see `ItemSource`.
    ///
    /// - Throws: what the visitor throws, and, if there were too many items for the memory, `FileFailure`,
    ///   `StreamFailure` and `CryptographyFailure`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        try ItemReadAhead(runs, inBackground: count > Self.few).visit(&visitor)
    }

    // The number of items that are decoded in less time than a thread is worth.
    private static let few = 500

    /// Passes each packed item to `body`, in archive order.
    func forEachRecord(_ body: (borrowing Span<UInt8>) throws -> Void) throws {
        var merge = try RunMerge(runs)
        while let run = merge.first {
            try run.withRecord(body)
            try merge.advance()
        }
    }

    /// True if each item of `other` is here too, by its UUID, with the same secret.
    package func hasAll(of other: CollectedItems) throws -> Bool {
        var mine = try SecretCodes(key: RandomBytes.secret(count: 32))
        var theirs = SecretCodes(key: mine.key.copy())
        try visitItems(&mine)
        try other.visitItems(&theirs)
        return theirs.codes.allSatisfy { mine.codes[$0] == $1 }
    }
}

/// Collects a code of the secret of each item, under a key of one run.
private final class SecretCodes: ItemVisitor {
    let key: SecretBytes
    private(set) var codes: [ItemUUID: [UInt8]] = [:]

    init(key: consuming SecretBytes) { self.key = key }

    func wants(_ item: Item) -> Bool { true }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        var hmac = try HMAC(key: key)
        codes[item.uuid] = try secret.withBytes { bytes in try hmac.authenticate(bytes) }
    }

    func skip(damaged item: Item?) {}
}
