internal import KCBackupArchive
internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// The source of a restore: an archive, or items that are in none.
package enum RestoreSource {
    case archive(ProvenArchive)
    /// Items that do not change any more, such as those of a file that was read.
    ///
    /// Their origin does not matter: anyone who can read the file has its secrets.
    case items(any ItemSource)

    /// The archive; nil for items.
    package var archive: ProvenArchive? { if case .archive(let archive) = self { archive } else { nil } }

    /// Where the items come from.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    func passage() throws -> Passage.Source {
        switch self {
        case .archive(let archive): try archive.opened.source().items
        case .items: .itemList
        }
    }

    /// The bytes that identify a restore that was broken off, so that the same one later finishes it: of an archive its ID,
    /// of items 32 bytes that are the same for the same items and secrets on this device.
    ///
    /// - Returns: nil for items without a device key.
    /// - Throws: `CryptographyFailure`, and what the items throw.
    package func identity(on device: DeviceKey?) throws -> [UInt8]? {
        switch self {
        case .archive(let archive): return archive.header.archiveID
        case .items(let items):
            guard let device else { return nil }
            var code = try ContentCode(device, .encrypted)
            _ = try items.visitRecords(to: .archive, &code)
            return try code.finish()
        }
    }
}

extension ItemSource {
    /// Passes the items that may go to `target` to `visitor`, as if they were in an archive of this device.
    ///
    /// - Returns: how much such an archive would contain.
    /// - Throws: what the items and the visitor throw; `ArchiveFailure.stream` for a signal.
    func visitRecords<Visitor: RecordVisitor>(
        to target: Passage.Target, _ visitor: inout Visitor
    ) throws -> ArchiveContents {
        var recording = RecordingVisitor(next: visitor, target: target)
        defer { visitor = recording.next }
        try visitItems(&recording)
        return recording.contents
    }
}

private struct RecordingVisitor<Next: RecordVisitor>: ItemVisitor {
    var next: Next
    let target: Passage.Target
    var contents = ArchiveContents()

    mutating func wants(_ item: Item) throws -> Bool {
        if Interruption.isRequested { throw ArchiveFailure.stream(StreamFailure(.reading, .interrupted)) }
        if Passage.decide(item, from: .itemList, to: target) == .moves { return true }
        contents.omitted += 1
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        contents.counts[item.itemClass] += 1
        try next.take(item, line: line, secret: secret, state: item.secretSize == nil ? .absent : .open)
    }

    mutating func skip(damaged item: Item?) { contents.damaged += 1 }
}
