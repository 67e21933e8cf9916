public import Foundation

// Swift on Linux has no Core Foundation. Under these names, code written for Apple's systems compiles as it is: a cast
// such as `query as CFDictionary` is a cast to the same type.

/// The status of a call: 0 is success, everything else is one of `errSec…`.
public typealias OSStatus = Int32
/// Success, under the name that older code compares with.
public let noErr: OSStatus = 0
/// A dictionary, as queries, attributes and results are.
public typealias CFDictionary = [String: Any]
/// A text, as the names of keys and their fixed values are.
public typealias CFString = String
/// Anything that a call can hand out.
public typealias CFTypeRef = AnyObject
/// Bytes.
public typealias CFData = Data
/// A list.
public typealias CFArray = [Any]
/// A truth value.
public typealias CFBoolean = Bool
/// A number.
public typealias CFNumber = NSNumber
/// A moment.
public typealias CFDate = Date
/// An error as an object, for parameters of type `Unmanaged<CFError>`.
public typealias CFError = NSError
/// Flags as a number.
public typealias CFOptionFlags = UInt

/// Where memory comes from; there is nothing to choose here, and `nil` is what everybody passes.
public enum CFAllocator: Hashable, Sendable {}

/// True, for return keys such as `kSecReturnData`.
public let kCFBooleanTrue: CFBoolean? = true
/// False.
public let kCFBooleanFalse: CFBoolean? = false
/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
