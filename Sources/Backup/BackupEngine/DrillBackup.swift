internal import BackupArchive
internal import ByteStreams
package import KeychainModel

/// Restores an archive for a trial, and compares what came of it with what the archive holds.
package struct DrillBackup {
    private let archive: ProvenArchive
    private let restore: RestoreBackup

    /// Prepares a trial.
    ///
    /// Nothing of it is kept, so it does not matter who made the archive.
    ///
    /// - Throws: `RestoreRefusal.unencryptedElsewhere`.
    package init(_ archive: ProvenArchive) throws(RestoreRefusal) {
        var options = RestoreOptions()
        options.acceptedOrigin = archive.header.device
        restore = try RestoreBackup(archive, options: options)
        self.archive = archive
    }

    /// Restores into an empty target, and reads every item and secret of it again.
    ///
    /// - Parameters:
    ///   - reopened: the target as somebody finds it who opens it later.
    ///   - step: called once an item in each of three readings.
    /// - Throws: `ArchiveFailure` (`passcodeNeeded` where stored secrets stay closed), and what the targets throw.
    package func run<Target: ItemTarget, Reopened: ItemTarget & ItemSource>(
        into target: Target, reopened: () throws -> Reopened, _ step: @escaping () -> Void = {}
    ) throws -> DrillReport {
        let report = try restore.run(into: target, step: step)
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

/// What a trial found.
package struct DrillReport: Sendable {
    /// How many items were restored and compared, whatever came of that.
    package let compared: Int
    /// The items that stay behind by rule.
    package let stayingBehind: [(item: Item, reason: Verdict.Reason)]
    /// The items that cannot be restored, since they were damaged before the archive was made, or no key opens them.
    package let failing: [(item: Item, problem: RestoreAction.Problem)]
    /// The items that did not come back as the archive has them.
    package let differences: [(item: Item, difference: Difference)]
    /// How many items are there that should not be.
    package let surplus: Int

    /// How an item differs from what the archive has.
    package enum Difference: String, CaseIterable, Hashable, Sendable {
        case missing
        case attributes
        case secret
        /// It should have stayed behind.
        case unexpected
    }

    /// True if the target holds what it should, and nothing else.
    package var isSame: Bool { differences.isEmpty && surplus == 0 }
}

/// Counts the items of a target, those that cannot be read among them.
private struct CountingVisitor: ItemVisitor {
    var count = 0

    mutating func wants(_ item: Item) -> Bool {
        count += 1
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) { count += 1 }
}

/// Looks up each item of the archive.
private struct ComparingVisitor: RecordVisitor {
    private let existing: any ExistingItems
    private let mode: ArchiveMode
    private let isSameDevice: Bool
    private let step: () -> Void
    private(set) var compared = 0
    /// How many items of the target belong to one of the archive.
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
