package import ByteStreams
package import Cryptography
package import DeviceIdentity
package import KeychainModel

/// A code over all items of an archive and their secrets, in order, under a key of the device.
///
/// Two archives of one mode have the same code exactly when they hold the same: it compares what was written with what was
/// to be written, and one backup with the next, without a secret being kept.
package struct ContentFingerprint: ~Copyable {
    private var hmac: HMACSHA256

    /// Starts with nothing.
    ///
    /// - Throws: `CryptographyFailure`.
    package init(_ device: DeviceKey, _ mode: ArchiveMode) throws(CryptographyFailure) {
        hmac = try HMACSHA256(key: device.stateMACKey(context: Array("archive contents \(mode.rawValue)".utf8)))
    }

    /// Adds an item; the length of line and secret goes first, so that no two lists of items read the same.
    ///
    /// - Parameter secret: in the clear in an encrypted archive, as it is stored in an unencrypted one.
    /// - Throws: `CryptographyFailure`.
    package mutating func add(
        _ line: borrowing Span<UInt8>, _ secret: borrowing SecretBytes
    ) throws(CryptographyFailure) {
        var lengths: [UInt8] = []
        lengths.reserveCapacity(16)
        for count in [line.count, secret.count] {
            for shift in stride(from: 0, to: 64, by: 8) { lengths.append(UInt8(truncatingIfNeeded: count >> shift)) }
        }
        try hmac.update(lengths.span)
        try hmac.update(line)
        try secret.withBytes { bytes throws(CryptographyFailure) in try hmac.update(bytes) }
    }

    /// The 32 bytes.
    ///
    /// - Throws: `CryptographyFailure`.
    package mutating func finish() throws(CryptographyFailure) -> [UInt8] {
        try hmac.finalize()
    }

    /// The code of what is in an archive that this device made, both of whose streams are open.
    ///
    /// - Throws: `ArchiveFailure`: `damaged` also where a secret cannot be opened.
    static func read(from archive: OpenedArchive, _ device: DeviceKey) throws -> [UInt8] {
        let mode = archive.header.mode
        var visitor = FingerprintVisitor(of: try ContentFingerprint(device, mode))
        _ = try archive.readAll(device: mode == .encrypted ? device : nil, &visitor)
        return try visitor.finish()
    }
}

private struct FingerprintVisitor: RecordVisitor {
    // A visitor is copied, a fingerprint is not.
    private final class Owner {
        var fingerprint: ContentFingerprint

        init(_ fingerprint: consuming ContentFingerprint) {
            self.fingerprint = fingerprint
        }
    }
    private let owner: Owner

    init(of fingerprint: consuming ContentFingerprint) {
        owner = Owner(fingerprint)
    }

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch state {
        case .open, .absent, .stored: try owner.fingerprint.add(line, secret)
        case .broken, .sealedElsewhere, .storedWhole, .notRead:
            throw ArchiveFailure.damaged(rule: "a secret of this device does not open")
        }
    }

    func finish() throws -> [UInt8] {
        try owner.fingerprint.finish()
    }
}
