package import BackupArchive
internal import ByteStreams
internal import Cryptography
internal import DeviceIdentity
package import KeychainModel

extension ProvenArchive {
    /// Reads every byte and opens whatever can be opened here, keeping nothing.
    ///
    /// - Parameters:
    ///   - takesFingerprint: true to have the fingerprint of what is in it, if this device made it.
    ///   - step: called once an item.
    /// - Throws: `ArchiveFailure`.
    package func verify(
        takesFingerprint: Bool = false, _ step: @escaping () -> Void = {}
    ) throws -> VerifyReport {
        let code = try takesFingerprint && isFromThisDevice ? device.map { try ContentCode($0, header.mode) } : nil
        var visitor = VerifyingVisitor(step: step, code: code)
        let read = try read(.stored, &visitor)
        return VerifyReport(
            contents: read.contents, opened: visitor.opened, sealedElsewhere: visitor.sealedElsewhere,
            notOpened: visitor.notOpened, broken: visitor.broken, fingerprint: try code?.finish())
    }

    /// Proves the whole archive, reads its metadata to the end and only then, in a second pass, hands each item to `show`.
    ///
    /// - Parameters:
    ///   - step: called once a piece while the archive is proved, and once an item in each pass.
    ///   - survey: sees every item in the first pass, for counts and widths; nothing of it may be shown before the
    ///     pass has ended well.
    ///   - begin: told what the archive is of and how much it holds, between the passes.
    /// - Throws: `ArchiveFailure`, and what `begin` and `show` throw.
    package func inspect(
        step: () -> Void = {}, survey: (Item) -> Void, begin: (ReadMetadata) throws -> Void,
        show: (Item) throws -> Void
    ) throws {
        try begin(self.survey(step: step, survey))
        try forward { item in
            step()
            try show(item)
        }
    }

    /// Proves the whole archive, reads the metadata to its end and hands each item to `survey`, for counts alone.
    ///
    /// - Parameter step: called once a piece while the archive is proved, and once an item.
    /// - Throws: `ArchiveFailure`.
    package func survey(step: () -> Void = {}, _ survey: (Item) -> Void) throws -> ReadMetadata {
        try opened.proveStreams(step)
        return try forward { item in
            step()
            survey(item)
        }
    }

    @discardableResult
    private func forward(_ take: (Item) throws -> Void) throws -> ReadMetadata {
        try withoutActuallyEscaping(take) { take in
            var visitor = ForwardingVisitor(forward: take)
            return try opened.readMetadata(&visitor)
        }
    }
}

/// What verifying found.
package struct VerifyReport: Hashable, Sendable {
    /// How much the archive says it holds, which is what was found.
    package let contents: ArchiveContents
    /// Items whose secret was opened, or that have none.
    package let opened: Int
    /// Items whose secret another device sealed: their container is proved, their content cannot be opened here.
    package let sealedElsewhere: Int
    /// Items whose secret is as the keychain stored it, and no key opened it: proved by the signature, not by their seal.
    package let notOpened: Int
    /// Items whose seal is broken: they were damaged before the archive was made, and cannot be restored.
    package let broken: [Item]
    /// See `FinishedArchive.fingerprint`; nil where it was not asked for, or a secret is missing for it.
    package let fingerprint: [UInt8]?
}

/// Makes the fingerprint of an archive that is being read.
private final class ContentCode {
    private var fingerprint: ContentFingerprint
    private var isWhole = true

    init(_ device: DeviceKey, _ mode: ArchiveMode) throws(CryptographyFailure) {
        fingerprint = try ContentFingerprint(device, mode)
    }

    func add(
        _ line: borrowing Span<UInt8>, _ secret: borrowing SecretBytes, _ state: SecretState
    ) throws(CryptographyFailure) {
        switch state {
        case .open, .absent, .stored, .storedWhole: try fingerprint.add(line, secret)
        case .broken, .sealedElsewhere, .notRead: isWhole = false
        }
    }

    /// Nil when a secret was missing.
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

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        step()
        try code?.add(line, secret, state)
        switch state {
        case .open, .absent, .storedWhole: opened += 1
        case .sealedElsewhere: sealedElsewhere += 1
        case .stored: notOpened += 1
        case .broken: broken.append(item)
        case .notRead: break
        }
    }
}

private struct ForwardingVisitor: RecordVisitor {
    let forward: (Item) throws -> Void

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        try forward(item)
    }
}
