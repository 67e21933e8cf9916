internal import ByteStreams
internal import Cryptography
package import DeviceIdentity
package import KeychainModel

/// Seals the plain secrets of a source under class keys, so that they can go into an unencrypted archive.
///
/// The class keys are made for this archive alone and wrapped under the device key only, like those of a keychain
/// without a passcode.
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

    /// See `StoredItemSource`; each visit creates new class keys.
    ///
    /// - Throws: `CryptographyFailure`, and what the source and the visitor throw.
    package func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor {
        let keys = try ClassKeys(generatingWithPasscode: false)
        // Without a passcode there is nothing to guess, and the cost is not stored anywhere.
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

    /// Always true: the source provides plain secrets.
    package func canOpen(_ accessibility: Accessibility) -> Bool { true }
}

/// Holds the sealer in a class, since a visitor is copied.
private final class Sealer {
    var sealer: ItemSealer
    var blob = SecretBytes(capacity: 4_096)

    init() throws(CryptographyFailure) { sealer = try ItemSealer() }
}

/// Passes items on with their secrets sealed.
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
