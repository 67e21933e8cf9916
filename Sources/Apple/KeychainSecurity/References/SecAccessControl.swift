// Fence: returns an error through a pointer, as Apple's function does.
public import Foundation
internal import KCKeychainModel

/// When an item may be read, as an object; here, only its protection class.
public final class SecAccessControl: Hashable, Sendable, CustomStringConvertible {
    /// One of `kSecAttrAccessible…`.
    let protection: String

    init(protection: String) {
        self.protection = protection
    }

    /// Compares the protection classes.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool {
        left.protection == right.protection
    }

    /// Hashes the protection class.
    public func hash(into hasher: inout Hasher) { hasher.combine(protection) }

    /// The type and the protection class.
    public var description: String { "<SecAccessControl: \(protection)>" }
}

/// Conditions for reading an item; none of them is supported here.
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
    /// One of the conditions suffices.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All conditions must be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// Use of a private key in a Secure Enclave.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// An application password.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}

/// Creates an access control with a protection class.
///
/// ```swift
/// if let access = SecAccessControlCreateWithFlags(
///     nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [], nil)
/// {
///     SecItemAdd(
///         [
///             kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada", kSecAttrAccessControl: access,
///             kSecValueData: Data("correct horse".utf8),
///         ], nil)
/// }
/// ```
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: must be empty. This system cannot enforce any flag, and it is better to create no item than one with less
///     protection than requested.
///   - error: set to the reason, with `NSOSStatusErrorDomain` and `errSecParam` or `errSecUnimplemented`.
/// - Returns: nil for an unknown protection class or for any flag.
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
    guard flags.isEmpty else {
        return refuse(errSecUnimplemented, "no flag of SecAccessControlCreateFlags can be enforced on this system")
    }
    return SecAccessControl(protection: code)
}
