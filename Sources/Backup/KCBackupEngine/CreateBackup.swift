package import KCBackupArchive
package import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// Makes an archive of everything that a source contains.
package struct CreateBackup {
    private let source: ArchiveSource
    private let device: DeviceKey
    private let tool: String
    private let destination: any ArchiveDestination
    private let now: Timestamp
    private let target: Passage.Target

    /// Prepares a backup.
    ///
    /// - Parameters:
    ///   - source: the source to name in the archive.
    ///   - tool: the program's name and version, for the header.
    ///   - target: what the archive is for.
    package init(
        of source: ArchiveSource, device: DeviceKey, tool: String, to destination: any ArchiveDestination,
        now: Timestamp, as target: Passage.Target = .archive
    ) {
        self.source = source
        self.device = device
        self.tool = tool
        self.destination = destination
        self.now = now
        self.target = target
    }

    /// Makes an archive that opens with `keys`, on any device.
    ///
    /// - Parameters:
    ///   - isOfMachine: true for an item that restores anywhere, and is of use on this machine alone.
    ///   - bound: called for each item that only this device can restore, or make use of.
    ///   - step: called for each item.
    /// - Throws: `ArchiveFailure`, and what the source and the destination throw; no archive exists then.
    package func encrypted(
        _ source: some ItemSource, with keys: ArchiveKeys, isOfMachine: @escaping (Item) -> Bool = { _ in false },
        bound: @escaping (Item) -> Void = { _ in }, step: @escaping () -> Void = {}
    ) throws -> CreateReport {
        let visitor = try visitor(.encrypted(keys), opens: { _ in true }, bound: bound, step)
        visitor.isOfMachine = isOfMachine
        var taking = visitor
        try source.visitItems(&taking)
        return try finish(visitor)
    }

    /// Makes an archive of the secrets as `source` stores them, which opens only on this device.
    ///
    /// - Parameter step: called for each item.
    /// - Throws: as `encrypted`.
    package func unencrypted(
        _ source: some StoredItemSource, step: @escaping () -> Void = {}
    ) throws -> CreateReport {
        try finish(
            source.visitStoredItems { keychain in
                try visitor(.unencrypted(keychain), opens: { source.canOpen($0) }, bound: { _ in }, step)
            })
    }

    private func visitor(
        _ protection: ArchiveProtection, opens: @escaping (Protection) -> Bool, bound: @escaping (Item) -> Void,
        _ step: @escaping () -> Void
    ) throws(ArchiveFailure) -> ArchivingVisitor {
        try ArchivingVisitor(
            ArchiveWriter(protection, of: source, device: device, folder: destination.workFolder),
            from: source.items, to: target, mode: protection.mode,
            opens: opens, bound: bound, step)
    }

    private func finish(_ visitor: ArchivingVisitor) throws -> CreateReport {
        let archive = try visitor.finish(created: now, tool: tool)
        let report = CreateReport(
            header: archive.header, contents: archive.contents, size: archive.size, groups: visitor.groups.byGroup,
            omitted: visitor.omitted, damaged: visitor.damaged, boundToThisDevice: visitor.boundToThisDevice,
            ofThisMachine: visitor.ofThisMachine, notOpened: visitor.notOpened)
        try destination.receive(archive, report)
        return report
    }
}

/// The result of a backup.
package struct CreateReport: Sendable {
    /// The contents of the archive's `kcbackup.json`.
    package let header: ArchiveHeader
    /// How much the archive contains.
    package let contents: ArchiveContents
    /// The size of the archive in bytes.
    package let size: UInt64
    /// The number of items in each access group.
    package let groups: [ExactText: Int]
    /// The items that archives leave out by rule.
    package let omitted: [Item]
    /// The items that could not be read; nil if not even the attributes form an item.
    package let damaged: [Item?]
    /// The number of items that only this device can restore.
    package let boundToThisDevice: Int
    /// The number of the other items that are of use on this machine alone, wherever they are restored.
    package let ofThisMachine: Int
    /// The number of items whose seals were not checked, because no key for them was available.
    package let notOpened: Int
}

/// Passes items on to the archive, and keeps track of those that are not in it.
private final class ArchivingVisitor: ItemVisitor {
    private let lane: ArchivingLane
    private let source: Passage.Source
    private let target: Passage.Target
    private let mode: ArchiveMode
    private let opens: (Protection) -> Bool
    private let bound: (Item) -> Void
    private let step: () -> Void
    private(set) var notOpened = 0
    private(set) var omitted: [Item] = []
    private(set) var damaged: [Item?] = []
    var isOfMachine: (Item) -> Bool = { _ in false }
    private(set) var boundToThisDevice = 0
    private(set) var ofThisMachine = 0
    private(set) var groups = AccessGroupCounts()

    init(
        _ writer: consuming ArchiveWriter, from source: Passage.Source, to target: Passage.Target,
        mode: ArchiveMode,
        opens: @escaping (Protection) -> Bool, bound: @escaping (Item) -> Void, _ step: @escaping () -> Void
    ) {
        self.source = source
        self.target = target
        self.opens = opens
        self.bound = bound
        lane = ArchivingLane(writer)
        self.mode = mode
        self.step = step
    }

    func wants(_ item: Item) -> Bool {
        step()
        if Passage.decide(item, from: source, to: target) == .moves { return true }
        omitted.append(item)
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        if Verdict.decide(item.accessibility, in: mode, onSameDevice: false) != .restores {
            boundToThisDevice += 1
            bound(item)
        } else if isOfMachine(item) {
            ofThisMachine += 1
            bound(item)
        }
        if !opens(item.protection) { notOpened += 1 }
        groups.add(item)
        try lane.append(item, line: line, secret: secret)
    }

    func skip(damaged item: Item?) {
        damaged.append(item)
    }

    func finish(created: Timestamp, tool: String) throws(ArchiveFailure) -> FinishedArchive {
        try lane.finish(omitted: omitted.count, damaged: damaged.count, created: created, tool: tool)
    }
}
