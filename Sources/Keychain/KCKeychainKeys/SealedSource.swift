internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// Seals the plain secrets of a source under class keys, so that they can go into an unencrypted archive.
///
/// The class keys are derived from the device key, and wrapped under it like those of a keychain without a passcode.
/// The salt of a seal is a MAC of item and secret. So equal items have equal seals in all archives of a device, as the
/// unchanged items of a keychain have, and two archives can be compared without opening a seal.
package struct SealedSource<Source: ItemSource>: StoredItemSource {
    private let source: Source
    private let deviceKey: DeviceKey

    /// Seals the secrets of `source` for the device with this key.
    package init(_ source: Source, deviceKey: DeviceKey) {
        self.source = source
        self.deviceKey = deviceKey
    }

    /// See `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try source.visitItems(&visitor) }

    /// See `StoredItemSource`.
    ///
    /// - Throws: `CryptographyFailure`, and what the source and the visitor throw.
    package func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor {
        var keys = ClassKeys()
        for accessibility in Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            keys[accessibility] = try ClassKey(deviceKey.sourceSealKey(context: accessibility.rawValue))
        }
        // Without a passcode there is nothing to guess, and the cost is not stored anywhere.
        guard let cost = ScryptCost(logN: Keybag.costRange.lowerBound) else {
            preconditionFailure("a cost in the range is one")
        }
        let keybag = try Keybag.wrapping(
            keys, uuid: ItemUUID(), generation: 1, deviceKey: deviceKey, passcode: nil, cost: cost)
        let stored = StoredKeychain(
            storeID: try RandomBytes.bytes(count: 16), keybag: String(decoding: keybag.text, as: UTF8.self))
        var sealing = SealingVisitor(next: try begin(stored), keys: keys, sealer: try Sealer(deviceKey))
        try source.visitItems(&sealing)
        return sealing.next
    }

    /// Always true: the source provides plain secrets.
    package func canOpen(_ protection: Protection) -> Bool { true }
}

/// Holds the sealer in a class, since a visitor is copied.
private final class Sealer {
    private var sealer: ItemSealer
    private var salts: HMAC
    private(set) var blob = SecretBytes(capacity: 4_096)

    init(_ deviceKey: DeviceKey) throws(CryptographyFailure) {
        let sealer = try ItemSealer()
        salts = try HMAC(key: deviceKey.sourceSealKey(context: "salt"))
        self.sealer = sealer
    }

    /// Seals a secret into `blob`.
    func seal(
        _ secret: borrowing Span<UInt8>, of item: Item, line: borrowing Span<UInt8>, under key: SealingKey
    ) throws(CryptographyFailure) {
        // With its length, a line cannot be taken for the beginning of a longer one.
        let length = (0..<8).map { UInt8(truncatingIfNeeded: line.count >> ($0 * 8)) }
        try salts.update(length.span)
        try salts.update(line)
        let salt = try salts.authenticate(secret)
        sealer.begin(item, line: line)
        try sealer.seal(secret, under: key, salt: salt, into: &blob)
    }
}

/// Passes items on with their secrets sealed.
private struct SealingVisitor<Next: ItemVisitor>: ItemVisitor {
    var next: Next
    let keys: ClassKeys
    let sealer: Sealer

    mutating func wants(_ item: Item) throws -> Bool { try next.wants(item) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        guard let key = keys.sealingKey(item.protection) else {
            preconditionFailure("there is a class key for everything that is in an archive")
        }
        try secret.withBytes { try sealer.seal($0, of: item, line: line, under: key) }
        try next.take(item, line: line, secret: sealer.blob)
    }

    mutating func skip(damaged item: Item?) throws { try next.skip(damaged: item) }
}
