public import Foundation

// Swift on Linux has no Core Foundation. With these names, code written for Apple's systems compiles unchanged: a cast
// such as `query as CFDictionary` casts to the type that the value already has.

/// The status of a call: 0 is success, any other value is one of `errSec…`.
public typealias OSStatus = Int32
/// Success, under the name that older code uses.
public let noErr: OSStatus = 0
/// A dictionary, as used for queries, attributes and results.
public typealias CFDictionary = [String: Any]
/// A string, as used for keys and constant values.
public typealias CFString = String
/// Any value that a call can return.
public typealias CFTypeRef = AnyObject
/// Bytes.
public typealias CFData = Data
/// An array.
public typealias CFArray = [Any]
/// A Boolean.
public typealias CFBoolean = Bool
/// A number.
public typealias CFNumber = NSNumber
/// A date.
public typealias CFDate = Date
/// An error as an object, for parameters of type `Unmanaged<CFError>`.
public typealias CFError = NSError
/// Flags as a number.
public typealias CFOptionFlags = UInt
/// A count or a number.
public typealias CFIndex = Int
/// The number of a type; see `CFGetTypeID`.
public typealias CFTypeID = UInt
/// A hash value.
public typealias CFHashCode = UInt
/// The domain of an error.
public typealias CFErrorDomain = CFString
/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary

/// The memory allocator; there is only one, and callers pass `nil`.
public enum CFAllocator: Hashable, Sendable {}

// As on Apple's systems.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// True, for return keys such as `kSecReturnData`.
public let kCFBooleanTrue: CFBoolean! = true
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// False.
public let kCFBooleanFalse: CFBoolean! = false
/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
