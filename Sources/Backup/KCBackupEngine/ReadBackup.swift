package import KCBackupArchive
package import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel

extension ProvenArchive {
    /// Reads every byte and opens every secret that can be opened here; keeps nothing.
    ///
    /// - Parameters:
    ///   - takesFingerprint: true to compute the fingerprint of the contents, if this device made the archive.
    ///   - step: called for each item.
    /// - Throws: `ArchiveFailure`.
    package func verify(
        takesFingerprint: Bool = false, _ step: @escaping () -> Void = {}
    ) throws -> VerifyReport {
        let code = try takesFingerprint && isFromThisDevice ? device.map { try ContentCode($0, header.mode) } : nil
        var visitor = VerifyingVisitor(step: step, code: code)
        let read = try read(.stored, &visitor)
        return VerifyReport(
            contents: read.contents, opened: visitor.opened, sealedElsewhere: visitor.sealedElsewhere,
            notOpened: visitor.notOpened, broken: visitor.broken, groups: visitor.groups.byGroup,
            fingerprint: try code?.finish())
    }

    /// Verifies the whole archive and reads its metadata, then passes each item to `show` in a second pass.
    ///
    /// - Parameters:
    ///   - step: called for each piece during verification, and for each item in each pass.
    ///   - survey: called with each item in the first pass, for counts and column widths; none of it may be shown
    ///     before the pass has succeeded.
    ///   - begin: called between the passes with the source of the archive and how much it contains.
    ///   - isComplete: called after `begin`; true if the second pass is not needed.
    /// - Throws: `ArchiveFailure`, and what `survey`, `begin` and `show` throw.
    package func inspect(
        step: () -> Void = {}, survey: (Item) throws -> Void, begin: (ReadMetadata) throws -> Void,
        unless isComplete: () -> Bool = { false }, show: (Item) throws -> Void
    ) throws {
        try begin(self.survey(step: step, survey))
        if isComplete() { return }
        try forward { item in
            step()
            try show(item)
        }
    }

    /// Verifies the whole archive, reads its metadata to the end and passes each item to `survey`, for counting only.
    ///
    /// - Parameter step: called for each piece during verification, and for each item.
    /// - Throws: `ArchiveFailure`, and what `survey` throws.
    package func survey(step: () -> Void = {}, _ survey: (Item) throws -> Void) throws -> ReadMetadata {
        try opened.proveStreams(step)
        return try forward { item in
            step()
            try survey(item)
        }
    }

    /// Reads the metadata of an archive that is or was read completely, for what it says about that reading.
    ///
    /// - Throws: `ArchiveFailure`, and what `take` throws.
    func visitMetadata(_ take: (Item) throws -> Void) throws { try forward(take) }

    // The compiler keeps the length of the file's path for its checks at run time: builds elsewhere would differ.
    #sourceLocation(file:"ReadBackup",line:1)
    @discardableResult
    private func forward(_ take: (Item) throws -> Void) throws -> ReadMetadata {
        try withoutActuallyEscaping(take) { take in
            var visitor = ForwardingVisitor(forward: take)
            return try opened.readMetadata(&visitor)
        }
    }
    #sourceLocation()
}

/// The result of verifying an archive.
package struct VerifyReport: Hashable, Sendable {
    /// How much the archive contains, as it states and as was found.
    package let contents: ArchiveContents
    /// The number of items whose secret was opened, or that have none.
    package let opened: Int
    /// The number of items whose secret was sealed by another device: intact, but their content cannot be checked here.
    package let sealedElsewhere: Int
    /// The number of items whose stored secret could not be opened: covered by the signature, but their seals are
    /// unchecked.
    package let notOpened: Int
    /// Items with a broken seal, which were damaged before the archive was made and cannot be restored.
    package let broken: [Item]
    /// The number of items in each access group.
    package let groups: [ExactText: Int]
    /// See `FinishedArchive.fingerprint`; nil if it was not requested, or if a secret is missing for it.
    package let fingerprint: [UInt8]?
}

/// Computes the fingerprint of an archive while it is read, or that of an archive of items that are in none.
final class ContentCode: RecordVisitor {
    private var fingerprint: ContentFingerprint
    private var isWhole = true

    init(_ device: DeviceKey, _ mode: ArchiveMode) throws(CryptographyFailure) {
        fingerprint = try ContentFingerprint(device, mode)
    }

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws(CryptographyFailure) {
        switch state {
        case .open, .absent, .stored, .storedWhole: try fingerprint.add(line, secret)
        case .broken, .sealedElsewhere, .notRead: isWhole = false
        }
    }

    /// Returns nil if a secret was missing.
    func finish() throws(CryptographyFailure) -> [UInt8]? {
        isWhole ? try fingerprint.finish() : nil
    }
}

private struct VerifyingVisitor: RecordVisitor {
    let step: () -> Void
    let code: ContentCode?
    var opened = 0
    var sealedElsewhere = 0
    var notOpened = 0
    var broken: [Item] = []
    var groups = AccessGroupCounts()

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        step()
        groups.add(item)
        try code?.take(item, line: line, secret: secret, state: state)
        switch state {
        case .open, .absent, .storedWhole: opened += 1
        case .sealedElsewhere: sealedElsewhere += 1
        case .stored: notOpened += 1
        case .broken: broken.append(item)
        case .notRead: break
        }
    }
}

/// Passes on the items alone.
struct ForwardingVisitor: RecordVisitor {
    let forward: (Item) throws -> Void

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        try forward(item)
    }
}
