internal import KCBackupArchive
internal import KCByteStreams
internal import KCKeychainKeys
package import KCKeychainModel

// The items that an archive would restore on this device, to be read and not written anywhere.
extension Bring {
    /// Decides which items a restore into an empty keychain would make, without opening a secret.
    ///
    /// - Parameters:
    ///   - step: called once per item.
    ///   - take: receives these items in archive order.
    /// - Returns: the report with the items that would stay behind.
    /// - Throws: as `run`, and what `take` throws.
    package func survey(
        step: @escaping () -> Void, _ take: @escaping (Item) throws -> Void
    ) throws -> RestoreReport {
        let observer = RestoreObserver(step: step) { item, action in if action == .create { try take(item) } }
        return try rehearsing().run(into: EmptyTarget(form: .stored), observer)
    }

    /// Visits the items that a restore into an empty keychain would make, after the archive has been read to its end
    /// once.
    ///
    /// - Parameter step: called once per item and reading.
    /// - Throws: as `run`, and what the visitor throws.
    package func visit<Visitor: ItemVisitor>(
        _ visitor: inout Visitor, step: @escaping () -> Void
    ) throws -> RestoreReport {
        let target = VisitedTarget(visitor)
        defer { visitor = target.visitor }
        return try run(into: target, RestoreObserver(step: step))
    }
}

/// An empty keychain whose items a visitor takes.
private final class VisitedTarget<Visitor: ItemVisitor>: ItemTarget, ItemWriter {
    var visitor: Visitor

    init(_ visitor: Visitor) {
        self.visitor = visitor
    }

    var isEmpty: Bool { true }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result { try body(self) }

    func item(withKeyOf item: Item) -> Item? { nil }

    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }

    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }

    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) -> Int { 0 }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        precondition(form == .plain, "a visitor has no keys of its own")
        if try visitor.wants(item) { try visitor.take(item, line: line, secret: secret) }
    }
}
