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
package struct ClassKeys {
    private var keys = [ClassKey?](repeating: nil, count: Accessibility.allCases.count)

    /// Creates an empty set.
    package init() {}

    /// Generates new keys, with or without the one that needs a passcode.
    package init(generatingWithPasscode hasPasscode: Bool) throws(CryptographyFailure) {
        for accessibility in Accessibility.allCases
        where hasPasscode || accessibility != .whenPasscodeSetThisDeviceOnly {
            self[accessibility] = try ClassKey(RandomBytes.secret(count: ClassKey.size))
        }
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
    }

    /// Removes the keys of all accessibilities that satisfy a condition.
    package mutating func forget(where condition: (Accessibility) -> Bool) {
        for accessibility in Accessibility.allCases where condition(accessibility) { self[accessibility] = nil }
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
