public import Foundation

// Swift on Linux has no Core Foundation. On Apple's systems each of these types is toll-free bridged to a class of
// Foundation; here it is that class, so the casts that bridge Foundation's classes bridge these types too.

/// The status of a call: 0 is success, any other value is one of `errSec…`.
public typealias OSStatus = Int32
/// Success, under the name that older code uses.
public let noErr: OSStatus = 0
/// A dictionary, as used for queries, attributes and results.
public typealias CFDictionary = NSDictionary
/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary
/// A string, as used for keys and constant values.
public typealias CFString = NSString
/// A mutable string.
public typealias CFMutableString = NSMutableString
/// Any value that a call can return.
public typealias CFTypeRef = AnyObject
/// A value that a property list can hold.
public typealias CFPropertyList = CFTypeRef
/// Bytes.
public typealias CFData = NSData
/// Bytes that can be changed.
public typealias CFMutableData = NSMutableData
/// An array.
public typealias CFArray = NSArray
/// A mutable array.
public typealias CFMutableArray = NSMutableArray
/// A set.
public typealias CFSet = NSSet
/// A Boolean.
public typealias CFBoolean = NSNumber
/// A number.
public typealias CFNumber = NSNumber
/// A date.
public typealias CFDate = NSDate
/// The null object.
public typealias CFNull = NSNull
/// A URL.
public typealias CFURL = NSURL
/// An error.
public typealias CFError = NSError
/// Flags as a number.
public typealias CFOptionFlags = UInt
/// A count or a number.
public typealias CFIndex = Int
/// The number of a type; see `CFGetTypeID`.
public typealias CFTypeID = UInt
/// A hash value.
public typealias CFHashCode = UInt
/// Seconds.
public typealias CFTimeInterval = Double
/// Seconds since 2001-01-01 00:00:00 UTC.
public typealias CFAbsoluteTime = CFTimeInterval
/// The domain of an error.
public typealias CFErrorDomain = CFString

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
