// Fence: hands an error out through a pointer, as Apple's function does.
public import Foundation
internal import KeychainModel

/// When an item may be read, as an object: here no more than its protection class.
public final class SecAccessControl: Hashable, Sendable, CustomStringConvertible {
    /// One of `kSecAttrAccessible…`.
    let protection: String

    init(protection: String) {
        self.protection = protection
    }

    /// Equal when the protection is.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool {
        left.protection == right.protection
    }

    /// Feeds the protection.
    public func hash(into hasher: inout Hasher) { hasher.combine(protection) }

    /// The protection.
    public var description: String { "<SecAccessControl: \(protection)>" }
}

/// What somebody must do before an item is handed out; none of it can be asked for here.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    /// The flags as bits.
    public let rawValue: CFOptionFlags

    /// Takes bits.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// The presence of the user.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// A finger or a face.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The older name of `biometryAny`.
    public static let touchIDAny = biometryAny
    /// A finger or a face that is enrolled now.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The older name of `biometryCurrentSet`.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode, at each use.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// One of the conditions is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All conditions are needed.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The use of a private key in a Secure Enclave.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the program.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}

/// Makes an access control from a protection class.
///
/// - Parameters:
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: must be empty. A flag asks for something that this system cannot make sure of, and an item with less
///     protection than was asked for would be worse than none.
///   - error: gets the reason, with `NSOSStatusErrorDomain` and `errSecParam` or `errSecUnimplemented`.
/// - Returns: nil for an unknown protection class and for any flag.
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
