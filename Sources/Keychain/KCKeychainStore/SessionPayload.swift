internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel

/// The two keys of an unlocked keychain in the kernel (docs/keychain-file.md, "Sessions").
enum SessionPart: String, CaseIterable {
    /// The items that are readable while the keychain is unlocked.
    case unlocked
    /// The items that are readable after the first unlock.
    case firstUnlock = "first-unlock"

    /// The key's name in the kernel.
    func name(_ storeID: [UInt8]) -> String { "kcbackup:\(Hexadecimal.encode(storeID)):\(rawValue)" }

    /// The accessibilities whose class keys the kernel key holds, in payload order.
    var accessibilities: [Accessibility] {
        switch self {
        case .unlocked: [.whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly]
        case .firstUnlock: [.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly]
        }
    }
}

/// The payload of a kernel key: class keys, each wrapped for one keychain, one passcode and one position.
///
/// ```
/// version 1, one byte | milliseconds suspended, 8 bytes | AES-KW of a class key, 40 bytes, for each accessibility
/// ```
///
/// The wrapping keys are derived from the device key and everything that must match. So a payload of another passcode,
/// keychain or program does not open, and the kernel key alone opens nothing.
struct SessionPayload {
    let part: SessionPart
    let storeID: [UInt8]
    let keybag: Keybag
    let deviceKey: DeviceKey

    private static let version: UInt8 = 1
    private static let headerSize = 9
    private static let wrappedSize = ClassKey.size + AESKeyWrap.overhead

    /// Wraps the class keys of this part.
    ///
    /// - Parameter suspended: the number of milliseconds that the machine has been suspended so far.
    /// - Throws: `CryptographyFailure`; also if a class key is missing.
    func seal(_ keys: ClassKeys, suspended: Int64) throws(CryptographyFailure) -> SecretBytes {
        var payload = SecretBytes(capacity: Self.headerSize + part.accessibilities.count * Self.wrappedSize)
        payload.append(Self.version)
        for byte in Self.bigEndian(UInt64(clamping: suspended)) { payload.append(byte) }
        for accessibility in part.accessibilities {
            guard let key = keys[accessibility] else { throw .unsupportedParameters("class key of a session") }
            let wrapping = try wrappingKey(accessibility, suspended: UInt64(clamping: suspended))
            for byte in try AESKeyWrap.wrap(key.secret, with: wrapping) { payload.append(byte) }
        }
        return payload
    }

    /// Opens a payload; nil if this device did not make it for this keychain and passcode.
    ///
    /// - Throws: `CryptographyFailure` for failures that the payload does not cause.
    func open(
        _ payload: borrowing SecretBytes
    ) throws(CryptographyFailure) -> (keys: ClassKeys, suspended: Int64)? {
        let bytes = payload.withBytes { span in span.indices.map { span[$0] } }
        guard bytes.count == Self.headerSize + part.accessibilities.count * Self.wrappedSize,
            bytes[0] == Self.version
        else { return nil }
        let suspended = bytes[1..<Self.headerSize].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var keys = ClassKeys()
        for (index, accessibility) in part.accessibilities.enumerated() {
            let start = Self.headerSize + index * Self.wrappedSize
            let wrapped = Array(bytes[start..<start + Self.wrappedSize])
            do {
                let wrapping = try wrappingKey(accessibility, suspended: suspended)
                keys[accessibility] = try ClassKey(AESKeyWrap.unwrap(wrapped, with: wrapping))
            } catch CryptographyFailure.authentication {
                return nil
            }
        }
        return (keys, Int64(clamping: suspended))
    }

    private func wrappingKey(
        _ accessibility: Accessibility, suspended: UInt64
    ) throws(CryptographyFailure) -> SecretBytes {
        // Fixed-length fields come first. The salt changes with each passcode, even if an old file is put back and the
        // generation repeats. The name distinguishes parts and keychains, the code the positions within a part.
        try deviceKey.sessionKey(
            context: keybag.uuid.bytes + Self.bigEndian(UInt64(keybag.generation)) + keybag.salt
                + Self.bigEndian(suspended) + Array("\(part.name(storeID)):\(accessibility.rawValue)".utf8))
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
