// Fence: takes keys and values through pointers, as Apple's functions do.
public import Foundation

/// How a dictionary keeps its keys; there is only one way here.
public struct CFDictionaryKeyCallBacks: Sendable {
    /// Creates the only value.
    public init() {}
}

/// How a dictionary keeps its values; there is only one way here.
public struct CFDictionaryValueCallBacks: Sendable {
    /// Creates the only value.
    public init() {}
}

/// Keys that are objects.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Keys that are objects.
public let kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Values that are objects.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Creates a dictionary.
///
/// - Parameters:
///   - allocator: ignored.
///   - keys: pointers to string objects; an entry with any other key is left out.
///   - values: pointers to objects, as many as there are keys.
///   - count: the number of entries.
///   - keyCallBacks: ignored, as there is only one way to keep keys.
///   - valueCallBacks: ignored, as there is only one way to keep values.
/// - Returns: the dictionary.
public func CFDictionaryCreate(
    _ allocator: CFAllocator?, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>?,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>?, _ count: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>?,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>?
) -> CFDictionary! {
    let dictionary = CFMutableDictionary()
    guard let keys = unsafe keys, let values = unsafe values else { return dictionary }
    for index in 0..<max(0, count) {
        guard let key = unsafe object(keys[index]) as? String, let value = unsafe object(values[index]) else {
            continue
        }
        dictionary.setObject(value, forKey: NSString(string: key))
    }
    return dictionary.copy() as? CFDictionary
}

/// Creates an empty mutable dictionary.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator?, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>?,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>?
) -> CFMutableDictionary! {
    CFMutableDictionary()
}

/// Creates a mutable copy of a dictionary.
public func CFDictionaryCreateMutableCopy(
    _ allocator: CFAllocator?, _ capacity: CFIndex, _ dictionary: CFDictionary!
) -> CFMutableDictionary! {
    (dictionary ?? [:]).mutableCopy() as? CFMutableDictionary
}

/// Sets a value.
///
/// - Parameters:
///   - dictionary: the dictionary to change.
///   - key: a pointer to a string object; with any other object, nothing is set.
///   - value: a pointer to an object.
public func CFDictionarySetValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    guard let key = unsafe object(key) as? String, let value = unsafe object(value) else { return }
    dictionary.setObject(value, forKey: NSString(string: key))
}

/// Sets a value for a key that is not in the dictionary yet; see `CFDictionarySetValue`.
public func CFDictionaryAddValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    guard let text = unsafe object(key) as? String, dictionary.object(forKey: NSString(string: text)) == nil else {
        return
    }
    unsafe CFDictionarySetValue(dictionary, key, value)
}

/// The number of entries in a dictionary.
public func CFDictionaryGetCount(_ dictionary: CFDictionary!) -> CFIndex { dictionary.count }

private func object(_ pointer: UnsafeRawPointer?) -> AnyObject? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
}
