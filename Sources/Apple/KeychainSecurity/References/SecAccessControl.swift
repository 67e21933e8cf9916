// Fence: returns an error through a pointer, as Apple's function does.
public import Foundation
internal import KCKeychainModel

/// When an item may be read, as an object: its protection class, and what each read asks for.
public final class SecAccessControl: Hashable, Sendable, CustomStringConvertible {
    /// A constant `kSecAttrAccessible…`.
    let protection: String
    /// The condition that each read must meet; nil for none.
    let constraint: AccessConstraint?

    init(protection: String, constraint: AccessConstraint? = nil) {
        self.protection = protection
        self.constraint = constraint
    }

    /// True if each read asks for the passcode.
    package var asks: Bool { constraint != nil }

    /// Compares the protection classes and the conditions.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool {
        left.protection == right.protection && left.constraint == right.constraint
    }

    /// Hashes the protection class and the condition.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(protection)
        hasher.combine(constraint)
    }

    /// The type, the protection class and the condition.
    public var description: String {
        "<SecAccessControl: \(protection)\(constraint.map { ";\($0.rawValue)" } ?? "")>"
    }
}

/// Conditions for reading an item, of which `userPresence` and `devicePasscode` can be enforced here.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    /// The flags as bits.
    public let rawValue: CFOptionFlags

    /// Creates flags from bits.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// The user must be present.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// A fingerprint or face.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The older name of `biometryAny`.
    public static let touchIDAny = biometryAny
    /// A currently enrolled fingerprint or face.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The older name of `biometryCurrentSet`.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode, for each use.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// Any of the conditions suffices.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All conditions must be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// Use of a private key in a Secure Enclave.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// An application password.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}

/// Creates an access control with a protection class and a condition.
///
/// The secret of an item with `userPresence` or `devicePasscode` can be added while the keychain is unlocked, but each
/// call that reads or changes it needs the passcode, which `KeychainClient.setPasscodeSource` provides; without that, it
/// fails with `errSecInteractionNotAllowed`.
///
/// ```swift
/// if let access = SecAccessControlCreateWithFlags(
///     nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, nil)
/// {
///     SecItemAdd(
///         [
///             kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada", kSecAttrAccessControl: access,
///             kSecValueData: Data("correct horse".utf8),
///         ] as CFDictionary, nil)
/// }
/// ```
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: `userPresence`, `devicePasscode` or none. This system cannot enforce others, and it is better to create no
///     item than one with less protection than requested.
///   - error: set to the reason, with `NSOSStatusErrorDomain` and `errSecParam` or `errSecUnimplemented`.
/// - Returns: nil for an unknown protection class or for other flags.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    func refuse(_ status: OSStatus, _ reason: String) -> SecAccessControl? {
        let failure = NSError(
            domain: statusDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
        unsafe error?.pointee = Unmanaged.passRetained(failure)
        return nil
    }
    guard let code = protection as? String, Accessibility(rawValue: code) != nil else {
        return refuse(errSecParam, "the protection is none of kSecAttrAccessible…")
    }
    switch flags {
    case []: return SecAccessControl(protection: code)
    case .userPresence: return SecAccessControl(protection: code, constraint: .userPresence)
    case .devicePasscode: return SecAccessControl(protection: code, constraint: .devicePasscode)
    default: return refuse(errSecUnimplemented, "these flags cannot be enforced on this system")
    }
}
