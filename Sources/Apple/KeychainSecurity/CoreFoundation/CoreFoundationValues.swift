// Fence: creates and reads bytes through pointers, and shares string objects, as Apple's functions do.
public import Foundation

// MARK: Arrays, data, strings, Booleans and dates

/// The number of elements in an array.
public func CFArrayGetCount(_ array: CFArray!) -> CFIndex { array.count }

/// Creates data by copying bytes.
///
/// - Parameters:
///   - allocator: ignored.
///   - bytes: the bytes; may be nil if there are none.
///   - length: the number of bytes; a negative one counts as 0.
public func CFDataCreate(_ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex) -> CFData! {
    guard let bytes = unsafe bytes, length > 0 else { return CFData() }
    return unsafe CFData(bytes: bytes, length: length)
}

/// The number of bytes.
public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }

/// The bytes, as long as the object exists and is not changed.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    unsafe data.bytes.assumingMemoryBound(to: UInt8.self)
}

/// The number of UTF-16 units in a string.
public func CFStringGetLength(_ string: CFString!) -> CFIndex { string.length }

/// The value of a Boolean object.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean.boolValue }

/// The moment of a date, in seconds since 2001-01-01 00:00:00 UTC.
public func CFDateGetAbsoluteTime(_ date: CFDate!) -> CFAbsoluteTime { date.timeIntervalSinceReferenceDate }

/// The current moment, in seconds since 2001-01-01 00:00:00 UTC.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// The seconds between 1970 and 2001, the zero points of Unix and of Core Foundation.
public let kCFAbsoluteTimeIntervalSince1970: CFTimeInterval = 978_307_200

/// Describes a value, for logs.
public func CFCopyDescription(_ value: CFTypeRef!) -> CFString! {
    value.map { String(describing: $0) as CFString }
}

// MARK: Errors

/// Creates an error.
///
/// ```swift
/// let error = CFErrorCreate(nil, kCFErrorDomainOSStatus, Int(errSecAuthFailed), nil)
/// ```
///
/// - Parameters:
///   - allocator: ignored.
///   - domain: such as `kCFErrorDomainOSStatus`.
///   - code: the code within the domain.
///   - userInfo: further information; entries whose keys are not strings are left out.
public func CFErrorCreate(
    _ allocator: CFAllocator?, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    var information: [String: Any] = [:]
    for (key, value) in userInfo ?? [:] { if let key = key as? String { information[key] = value } }
    return CFError(domain: domain as String, code: code, userInfo: information)
}

// As on Apple's systems.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an `OSStatus`.
@safe public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! = "NSOSStatusErrorDomain"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an `errno`.
@safe public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = "NSPOSIXErrorDomain"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of an error's description.
@safe public nonisolated(unsafe) let kCFErrorLocalizedDescriptionKey: CFString! = "NSLocalizedDescription"

// MARK: Bundles

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the identifier in a bundle's information.
@safe public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the version in a bundle's information.
@safe public nonisolated(unsafe) let kCFBundleVersionKey: CFString! = "CFBundleVersion"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the name in a bundle's information.
@safe public nonisolated(unsafe) let kCFBundleNameKey: CFString! = "CFBundleName"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the executable in a bundle's information.
@safe public nonisolated(unsafe) let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
