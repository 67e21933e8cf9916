internal import ByteStreams
internal import Cryptography
package import DeviceIdentity
package import KeychainModel

/// Gives a source that stores no secrets under class keys a stored form, for an unencrypted archive.
///
/// The class keys are made for the one archive and wrapped under the device key alone, as those of a keychain without a
/// passcode are.
package struct SealedSource<Source: ItemSource>: StoredItemSource {
    private let source: Source
    private let deviceKey: DeviceKey

    /// Seals what `source` holds for the device with this key.
    package init(_ source: Source, deviceKey: DeviceKey) {
        self.source = source
        self.deviceKey = deviceKey
    }

    /// See `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try source.visitItems(&visitor) }

    /// See `StoredItemSource`; each visit makes new class keys.
    ///
    /// - Throws: `CryptographyFailure`, and what source and visitor throw.
    package func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor {
        let keys = try ClassKeys(generatingWithPasscode: false)
        // Without a passcode there is nothing to guess, and the cost is written nowhere.
        guard let cost = ScryptCost(logN: Keybag.costRange.lowerBound) else {
            preconditionFailure("a cost in the range is one")
        }
        let keybag = try Keybag.wrapping(
            keys, uuid: ItemUUID(), generation: 1, deviceKey: deviceKey, passcode: nil, cost: cost)
        let stored = StoredKeychain(
            storeID: try RandomBytes.bytes(count: 16), keybag: String(decoding: keybag.text, as: UTF8.self))
        var sealing = SealingVisitor(next: try begin(stored), keys: keys, sealer: try Sealer())
        try source.visitItems(&sealing)
        return sealing.next
    }

    /// True for everything: the secrets come in the clear.
    package func canOpen(_ accessibility: Accessibility) -> Bool { true }
}

/// Where secrets are sealed; a class, since a visitor is copied.
private final class Sealer {
    var sealer: ItemSealer
    var blob = SecretBytes(capacity: 4_096)

    init() throws(CryptographyFailure) { sealer = try ItemSealer() }
}

/// Hands items on with their secrets sealed.
private struct SealingVisitor<Next: ItemVisitor>: ItemVisitor {
    var next: Next
    let keys: ClassKeys
    let sealer: Sealer

    mutating func wants(_ item: Item) throws -> Bool { try next.wants(item) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        guard let key = keys[item.accessibility] else {
            preconditionFailure("there is a class key for everything that is in an archive")
        }
        sealer.sealer.begin(item, line: line)
        try secret.withBytes { try sealer.sealer.seal($0, under: key, into: &sealer.blob) }
        try next.take(item, line: line, secret: sealer.blob)
    }

    mutating func skip(damaged item: Item?) throws { try next.skip(damaged: item) }
}
