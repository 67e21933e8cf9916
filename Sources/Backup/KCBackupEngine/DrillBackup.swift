internal import KCBackupArchive
internal import KCByteStreams
package import KCKeychainModel

/// A trial restore: restores an archive and compares the result with the archive.
package struct DrillBackup {
    private let archive: ProvenArchive
    private let restore: Bring

    /// Prepares a trial restore.
    ///
    /// The result is discarded, so the origin of the archive does not matter.
    package init(_ archive: ProvenArchive) throws(RestoreRefusal) {
        var options = RestoreOptions()
        options.acceptedOrigin = archive.header.device
        restore = try Bring(.archive(archive), options: options)
        self.archive = archive
    }

    /// Restores into an empty target, and reads every item and secret back.
    ///
    /// - Parameters:
    ///   - reopened: opens the target again, as a later user would.
    ///   - step: called for each item, in each of three passes.
    /// - Throws: `ArchiveFailure` (`passcodeNeeded` if stored secrets cannot be opened), and what the targets throw.
    package func run<Target: ItemTarget, Reopened: ItemTarget & ItemSource>(
        into target: Target, reopened: () throws -> Reopened, _ step: @escaping () -> Void = {}
    ) throws -> DrillReport {
        let report = try restore.run(into: target, RestoreObserver(step: step))
        let found = try reopened()
        var counter = CountingVisitor()
        try found.visitItems(&counter)
        return try found.readItems { existing in
            var visitor = ComparingVisitor(
                existing, mode: archive.header.mode, isSameDevice: archive.isFromThisDevice, step: step)
            _ = try archive.read(.plain, &visitor)
            return DrillReport(
                compared: visitor.compared, stayingBehind: report.stayingBehind, failing: report.failing,
                differences: visitor.differences,
                surplus: max(0, counter.count - visitor.found))
        }
    }
}

/// The result of a trial restore.
package struct DrillReport: Sendable {
    /// The number of items that were restored and compared, whatever the result.
    package let compared: Int
    /// The items that the rules leave behind.
    package let stayingBehind: [(item: Item, reason: Verdict.Reason)]
    /// The items that cannot be restored, because they were damaged before the archive was made or no key opens them.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// The items that differ from the archive after the restore.
    package let differences: [(item: Item, difference: Difference)]
    /// The number of items in the target that should not be there.
    package let surplus: Int

    /// How a restored item differs from the archive.
    package enum Difference: String, CaseIterable, Hashable, Sendable {
        case missing
        case attributes
        case secret
        /// The item is there, although the rules leave it behind.
        case unexpected
    }

    /// True if the target contains exactly what it should.
    package var isSame: Bool { differences.isEmpty && surplus == 0 }
}

/// Counts the items in a target, including those that cannot be read.
private struct CountingVisitor: ItemVisitor {
    var count = 0

    mutating func wants(_ item: Item) -> Bool {
        count += 1
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) { count += 1 }
}

/// Looks up each item of the archive in the target.
private struct ComparingVisitor: RecordVisitor {
    private let existing: any ExistingItems
    private let mode: ArchiveMode
    private let isSameDevice: Bool
    private let step: () -> Void
    private(set) var compared = 0
    /// The number of items in the target that match one in the archive.
    private(set) var found = 0
    private(set) var differences: [(item: Item, difference: DrillReport.Difference)] = []

    init(_ existing: any ExistingItems, mode: ArchiveMode, isSameDevice: Bool, step: @escaping () -> Void) {
        self.existing = existing
        self.mode = mode
        self.isSameDevice = isSameDevice
        self.step = step
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        step()
        let restored = try existing.item(withUUID: item.uuid)
        if restored != nil { found += 1 }
        let isOpen = state == .open || state == .absent
        if isOpen, Verdict.decide(item.accessibility, in: mode, onSameDevice: isSameDevice) == .restores {
            compared += 1
            if let difference = try difference(of: restored, from: item, secret) {
                differences.append((item, difference))
            }
        } else if restored != nil {
            differences.append((item, .unexpected))
        }
    }

    private func difference(
        of restored: Item?, from item: Item, _ secret: borrowing SecretBytes
    ) throws -> DrillReport.Difference? {
        guard let restored else { return .missing }
        guard restored == item else { return .attributes }
        return try existing.secret(of: restored, equals: secret, in: .plain) ? nil : .secret
    }
}
