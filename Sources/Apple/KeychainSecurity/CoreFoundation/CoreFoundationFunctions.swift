public import Foundation

/// The types that `CFGetTypeID` knows; Apple's systems use other numbers, which are not constants there.
private enum KnownType: CFTypeID {
    case other = 1
    case string
    case data
    case boolean
    case number
    case date
    case array
    case dictionary
    case error
    case null
    case certificate
    case key
    case identity
    case accessControl
    case policy
    case trust

    init(of value: Any) {
        self =
            switch value {
            case is SecCertificate: .certificate
            case is SecKey: .key
            case is SecIdentity: .identity
            case is SecAccessControl: .accessControl
            case is SecPolicy: .policy
            case is SecTrust: .trust
            case is NSNull: .null
            case is String: .string
            case is Data: .data
            case is Date: .date
            case let number as NSNumber: Self.isTruth(number) ? .boolean : .number
            case is NSError: .error
            case is [Any]: .array
            case is NSDictionary, is [AnyHashable: Any]: .dictionary
            default: .other
            }
    }

    private static func isTruth(_ number: NSNumber) -> Bool {
        // Foundation has one object for each Boolean value, which is never the object of a number.
        number === NSNumber(value: true) || number === NSNumber(value: false)
    }
}

/// Returns the type of a value, for comparison with `CFStringGetTypeID()` and similar functions.
///
/// ```swift
/// var result: CFTypeRef?
/// SecItemCopyMatching([kSecClass: kSecClassKey, kSecReturnRef: true], &result)
/// if let result, CFGetTypeID(result) == SecKeyGetTypeID() { print("a key") }
/// ```
public func CFGetTypeID(_ value: CFTypeRef!) -> CFTypeID { KnownType(of: value as Any).rawValue }

/// The type of strings.
public func CFStringGetTypeID() -> CFTypeID { KnownType.string.rawValue }
/// The type of bytes.
public func CFDataGetTypeID() -> CFTypeID { KnownType.data.rawValue }
/// The type of Booleans.
public func CFBooleanGetTypeID() -> CFTypeID { KnownType.boolean.rawValue }
/// The type of numbers, except Booleans.
public func CFNumberGetTypeID() -> CFTypeID { KnownType.number.rawValue }
/// The type of dates.
public func CFDateGetTypeID() -> CFTypeID { KnownType.date.rawValue }
/// The type of arrays.
public func CFArrayGetTypeID() -> CFTypeID { KnownType.array.rawValue }
/// The type of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { KnownType.dictionary.rawValue }
/// The type of errors.
public func CFErrorGetTypeID() -> CFTypeID { KnownType.error.rawValue }
/// The type of the null object.
public func CFNullGetTypeID() -> CFTypeID { KnownType.null.rawValue }
/// The type of certificates.
public func SecCertificateGetTypeID() -> CFTypeID { KnownType.certificate.rawValue }
/// The type of keys.
public func SecKeyGetTypeID() -> CFTypeID { KnownType.key.rawValue }
/// The type of identities.
public func SecIdentityGetTypeID() -> CFTypeID { KnownType.identity.rawValue }
/// The type of access controls.
public func SecAccessControlGetTypeID() -> CFTypeID { KnownType.accessControl.rawValue }
/// The type of policies.
public func SecPolicyGetTypeID() -> CFTypeID { KnownType.policy.rawValue }
/// The type of trust objects.
public func SecTrustGetTypeID() -> CFTypeID { KnownType.trust.rawValue }

/// True if two values are equal, as their type defines equality.
public func CFEqual(_ one: CFTypeRef!, _ other: CFTypeRef!) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    if one === other { return true }
    // As the text is stored: a composed letter is not a decomposed one.
    if let one = one as? CFString, let other = other as? CFString { return one.isEqual(toUnits: other) }
    guard let left = one as? AnyHashable, let right = other as? AnyHashable else { return false }
    return KnownType(of: one) == KnownType(of: other) && left == right
}

/// Returns the hash of a value; equal values have equal hashes.
public func CFHash(_ value: CFTypeRef!) -> CFHashCode {
    guard let value else { return 0 }
    guard let hashable = value as? AnyHashable else { return CFHashCode(bitPattern: ObjectIdentifier(value).hashValue) }
    return CFHashCode(bitPattern: hashable.hashValue)
}

/// Returns the code of an error; with `NSOSStatusErrorDomain`, one of `errSec…`.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }

/// Returns the domain of an error.
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! { error.domain as CFString }

/// Returns the additional information in an error.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! { error.userInfo as CFDictionary }

/// Returns a description of an error, as a sentence.
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! { error.localizedDescription as CFString }

extension CFString {
    /// True if both have the same UTF-16 units.
    fileprivate func isEqual(toUnits other: CFString) -> Bool {
        length == other.length && (0..<length).allSatisfy { character(at: $0) == other.character(at: $0) }
    }
}
