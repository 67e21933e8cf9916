// Fence: returns results through a pointer, as Apple's functions do.
public import Foundation

// Overloads for dictionaries that are objects, such as `CFMutableDictionary`: on Apple's systems, these are
// `CFDictionary` too.

/// Adds an item; see the overload for `CFDictionary`.
@discardableResult
@_disfavoredOverload
public func SecItemAdd(_ attributes: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard let attributes = attributes as? CFDictionary else { return errSecParam }
    return unsafe SecItemAdd(attributes, result)
}

/// Finds items; see the overload for `CFDictionary`.
@discardableResult
@_disfavoredOverload
public func SecItemCopyMatching(_ query: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard let query = query as? CFDictionary else { return errSecParam }
    return unsafe SecItemCopyMatching(query, result)
}

/// Changes all items that match a query, or none; see the overload for `CFDictionary`.
@discardableResult
@_disfavoredOverload
public func SecItemUpdate(_ query: NSDictionary, _ attributesToUpdate: NSDictionary) -> OSStatus {
    guard let query = query as? CFDictionary, let attributes = attributesToUpdate as? CFDictionary else {
        return errSecParam
    }
    return SecItemUpdate(query, attributes)
}

/// Deletes all items that match a query; see the overload for `CFDictionary`.
@discardableResult
@_disfavoredOverload
public func SecItemDelete(_ query: NSDictionary) -> OSStatus {
    guard let query = query as? CFDictionary else { return errSecParam }
    return SecItemDelete(query)
}
