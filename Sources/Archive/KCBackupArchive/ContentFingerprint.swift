package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// A MAC of all items of an archive and their secrets, in order, under keys of the device.
///
/// Two archives of one mode have the same MAC if and only if they hold the same. So one backup can be compared with the
/// next without keeping any secret.
package struct ContentFingerprint: ~Copyable {
    private var lines: HMAC
    private var secrets: SecretsCode
    private var line = SecretBytes(capacity: 4_096)

    /// Creates a fingerprint of no items.
    package init(_ device: DeviceKey, _ mode: ArchiveMode) throws(CryptographyFailure) {
        let context = Array("archive contents \(mode.rawValue)".utf8)
        let lines = try HMAC(key: device.stateMACKey(context: context))
        let secrets = try SecretsCode(device, mode)
        self.lines = lines
        self.secrets = secrets
    }

    /// Adds an item, preceded by the lengths of its line and secret, so that no two lists have the same encoding.
    ///
    /// - Parameter secret: in plaintext for an encrypted archive, as stored for an unencrypted one.
    package mutating func add(
        _ line: borrowing Span<UInt8>, _ secret: borrowing SecretBytes
    ) throws(CryptographyFailure) {
        self.line.removeAll()
        self.line.appendLength(line.count)
        self.line.append(line)
        try Self.update(&lines, self.line)
        try secrets.add(secret)
    }

    /// The 32 bytes of the fingerprint, and the MAC of the secrets alone.
    mutating func finishBoth() throws(CryptographyFailure) -> (whole: [UInt8], secrets: [UInt8]) {
        let code = try secrets.finish()
        try lines.update(code.span)
        return (try lines.finalize(), code)
    }

    /// The 32 bytes of the fingerprint.
    package mutating func finish() throws(CryptographyFailure) -> [UInt8] {
        try finishBoth().whole
    }

    // Static, so that the closure captures the MAC separately from the bytes.
    fileprivate static func update(_ hmac: inout HMAC, _ bytes: borrowing SecretBytes) throws(CryptographyFailure) {
        try hmac.update(bytes)
    }

    /// The fingerprint of an archive that this device made; both streams must be open.
    ///
    /// - Throws: `ArchiveFailure`: `damaged` also if a secret cannot be opened.
    static func read(from archive: OpenedArchive, _ device: DeviceKey) throws -> [UInt8] {
        let mode = archive.header.mode
        let owner = Owner(try ContentFingerprint(device, mode))
        var visitor = OwnSecretsVisitor { line, secret throws(CryptographyFailure) in
            try owner.fingerprint.add(line, secret)
        }
        _ = try archive.readAll(device: mode == .encrypted ? device : nil, &visitor)
        return try owner.fingerprint.finish()
    }

    private final class Owner {
        var fingerprint: ContentFingerprint

        init(_ fingerprint: consuming ContentFingerprint) {
            self.fingerprint = fingerprint
        }
    }
}

/// A MAC of the secrets of an archive, in order, under a key of the device.
struct SecretsCode: ~Copyable {
    private var hmac: HMAC
    /// Bytes not yet added to the MAC; most secrets are so short that an update for each would cost more than hashing.
    private var pending = SecretBytes(capacity: pendingSize)

    private static var pendingSize: Int { 16_384 }

    /// Creates a MAC of no secrets.
    init(_ device: DeviceKey, _ mode: ArchiveMode) throws(CryptographyFailure) {
        hmac = try HMAC(key: device.stateMACKey(context: Array("archive secrets \(mode.rawValue)".utf8)))
    }

    /// Adds a secret, preceded by its length.
    mutating func add(_ secret: borrowing SecretBytes) throws(CryptographyFailure) {
        if pending.count + secret.count > Self.pendingSize - 8 { try flush() }
        pending.appendLength(secret.count)
        secret.withBytes { pending.append($0) }
    }

    /// The 32 bytes of the MAC.
    mutating func finish() throws(CryptographyFailure) -> [UInt8] {
        try flush()
        return try hmac.finalize()
    }

    private mutating func flush() throws(CryptographyFailure) {
        try ContentFingerprint.update(&hmac, pending)
        pending.removeAll()
    }
}

extension OpenedArchive {
    /// Reads both streams of an archive that this device made, and returns what was found and the MAC of the secrets.
    ///
    /// - Throws: `ArchiveFailure`: `damaged` also if a secret cannot be opened.
    func readOwn(_ device: DeviceKey) throws -> (streams: ReadStreams, secrets: [UInt8]) {
        let owner = CodeOwner(try SecretsCode(device, header.mode))
        var visitor = OwnSecretsVisitor { _, secret throws(CryptographyFailure) in try owner.code.add(secret) }
        let streams = try readAll(device: header.mode == .encrypted ? device : nil, &visitor)
        return (streams, try owner.code.finish())
    }
}

// The visitor is copyable; the MAC is not.
private final class CodeOwner {
    var code: SecretsCode

    init(_ code: consuming SecretsCode) {
        self.code = code
    }
}

/// Passes on every item; throws if a secret is not accessible.
private struct OwnSecretsVisitor: RecordVisitor {
    let add: (borrowing Span<UInt8>, borrowing SecretBytes) throws(CryptographyFailure) -> Void

    func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch state {
        case .open, .absent, .stored: try add(line, secret)
        case .broken, .sealedElsewhere, .storedWhole, .notRead:
            throw ArchiveFailure.damaged(rule: "a secret of this device does not open")
        }
    }
}

extension SecretBytes {
    /// Appends a length as eight bytes, little-endian.
    fileprivate mutating func appendLength(_ length: Int) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
}
