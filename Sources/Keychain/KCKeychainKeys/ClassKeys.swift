package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// The key of one accessibility, and the HKDF state for deriving item keys from it.
package final class ClassKey {
    package static let size = 32

    package let secret: SecretBytes
    var expander: HKDFExpander

    package init(_ secret: consuming SecretBytes) throws(CryptographyFailure) {
        expander = try HKDFExpander(pseudoRandomKey: secret)
        self.secret = secret
    }
}

/// The available class keys: all if unlocked, otherwise only those of `dk` and `dku`.
///
/// Public halves of presence keys are always among them, the private ones only after the passcode, or the secret of a
/// security token, was given.
package struct ClassKeys {
    private var keys = [ClassKey?](repeating: nil, count: Accessibility.allCases.count)
    /// The keys that seal the secrets of items with a constraint; empty without a passcode.
    var presencePublicKeys: [AccessConstraint: PresencePublicKey] = [:]
    /// The keys that open them.
    private(set) var presenceKeys: [AccessConstraint: PresenceKey] = [:]

    /// Creates an empty set.
    package init() {}

    /// Generates new keys, with or without those that need a passcode.
    package init(generatingWithPasscode hasPasscode: Bool) throws(CryptographyFailure) {
        for accessibility in Accessibility.allCases
        where hasPasscode || accessibility != .whenPasscodeSetThisDeviceOnly {
            self[accessibility] = try ClassKey(RandomBytes.secret(count: ClassKey.size))
        }
        guard hasPasscode else { return }
        for constraint in AccessConstraint.allCases { add(try PresenceKey.generate(), for: constraint) }
    }

    package subscript(accessibility: Accessibility) -> ClassKey? {
        get { keys[accessibility.position] }
        set { keys[accessibility.position] = newValue }
    }

    /// Adds the keys of `other`, replacing existing ones.
    package mutating func merge(_ other: ClassKeys) {
        for accessibility in Accessibility.allCases {
            if let key = other[accessibility] { self[accessibility] = key }
        }
        presencePublicKeys.merge(other.presencePublicKeys) { $1 }
        presenceKeys.merge(other.presenceKeys) { $1 }
    }

    /// The same keys for use by another thread, without the private halves of the presence keys.
    package func copy() throws(CryptographyFailure) -> ClassKeys {
        var copy = ClassKeys()
        for accessibility in Accessibility.allCases {
            guard let key = self[accessibility] else { continue }
            copy[accessibility] = try ClassKey(key.secret.withBytes { SecretBytes($0) })
        }
        copy.presencePublicKeys = presencePublicKeys
        return copy
    }

    /// Adds both halves of a presence key.
    mutating func add(_ key: PresenceKey, for constraint: AccessConstraint) {
        presencePublicKeys[constraint] = key.publicKey
        presenceKeys[constraint] = key
    }

    /// Removes the keys of all accessibilities that satisfy a condition.
    package mutating func forget(where condition: (Accessibility) -> Bool) {
        for accessibility in Accessibility.allCases where condition(accessibility) { self[accessibility] = nil }
    }

    /// Removes the private halves of the presence keys.
    package mutating func forgetPresence() { presenceKeys = [:] }

    /// The key that opens secrets of a protection; nil if a part of it is missing.
    package func openingKey(_ protection: Protection) -> OpeningKey? {
        guard let classKey = self[protection.accessibility] else { return nil }
        guard let constraint = protection.constraint else { return OpeningKey(classKey: classKey, presence: nil) }
        return presenceKeys[constraint].map { OpeningKey(classKey: classKey, presence: $0) }
    }

    /// The key that seals secrets of a protection; nil if a part of it is missing.
    package func sealingKey(_ protection: Protection) -> SealingKey? {
        guard let classKey = self[protection.accessibility] else { return nil }
        guard let constraint = protection.constraint else { return SealingKey(classKey: classKey, presence: nil) }
        return presencePublicKeys[constraint].map { SealingKey(classKey: classKey, presence: $0) }
    }
}

extension Accessibility {
    fileprivate var position: Int {
        switch self {
        case .whenUnlocked: 0
        case .afterFirstUnlock: 1
        case .always: 2
        case .whenUnlockedThisDeviceOnly: 3
        case .afterFirstUnlockThisDeviceOnly: 4
        case .alwaysThisDeviceOnly: 5
        case .whenPasscodeSetThisDeviceOnly: 6
        }
    }
}
