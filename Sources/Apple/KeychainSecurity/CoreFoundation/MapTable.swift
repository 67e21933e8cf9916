internal import Foundation

/// A table whose keys or values may be weak references, as in Apple's Foundation, which Foundation on Linux does not
/// have.
///
/// An entry whose weak key or value is gone counts as absent. Keys that are `Hashable` are compared by value, others by
/// identity. The table may be used on several threads.
///
/// ```swift
/// let open = NSMapTable<NSString, SecKey>.strongToWeakObjects()
/// ```
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: @unchecked Sendable {
    // The lock guards `entries`.
    private let lock = NSLock()
    private var entries: [AnyHashable: Entry] = [:]
    private let hasWeakKeys: Bool
    private let hasWeakObjects: Bool

    private struct Entry {
        let key: Reference<KeyType>
        let object: Reference<ObjectType>

        var isAlive: Bool { key.value != nil && object.value != nil }
    }

    private struct Reference<Value: AnyObject> {
        private let strong: Value?
        private weak let weak: Value?

        init(_ value: Value, isWeak: Bool) {
            strong = isWeak ? nil : value
            weak = value
        }

        var value: Value? { strong ?? weak }
    }

    private init(weakKeys: Bool, weakObjects: Bool) {
        hasWeakKeys = weakKeys
        hasWeakObjects = weakObjects
    }

    /// Creates a table that keeps its keys and objects alive.
    public class func strongToStrongObjects() -> NSMapTable { NSMapTable(weakKeys: false, weakObjects: false) }
    /// Creates a table that keeps its keys alive, but not its objects.
    public class func strongToWeakObjects() -> NSMapTable { NSMapTable(weakKeys: false, weakObjects: true) }
    /// Creates a table that keeps its objects alive, but not its keys, which are compared by identity.
    public class func weakToStrongObjects() -> NSMapTable { NSMapTable(weakKeys: true, weakObjects: false) }
    /// Creates a table that keeps nothing alive; keys are compared by identity.
    public class func weakToWeakObjects() -> NSMapTable { NSMapTable(weakKeys: true, weakObjects: true) }

    /// The object of a key.
    public func object(forKey key: KeyType?) -> ObjectType? {
        guard let key else { return nil }
        return lock.withLock {
            guard let entry = entries[identity(key)], entry.isAlive else { return nil }
            return entry.object.value
        }
    }

    /// Sets the object of a key; nil, as key or as object, changes nothing.
    public func setObject(_ object: ObjectType?, forKey key: KeyType?) {
        guard let object, let key else { return }
        lock.withLock {
            entries = entries.filter(\.value.isAlive)
            entries[identity(key)] = Entry(
                key: Reference(key, isWeak: hasWeakKeys), object: Reference(object, isWeak: hasWeakObjects))
        }
    }

    /// Removes a key.
    public func removeObject(forKey key: KeyType?) {
        guard let key else { return }
        lock.withLock { entries[identity(key)] = nil }
    }

    /// Removes all keys.
    public func removeAllObjects() { lock.withLock { entries = [:] } }

    /// The number of entries.
    public var count: Int { lock.withLock { entries.values.count(where: \.isAlive) } }

    // The hash of a weak key must not change when the key is gone.
    private func identity(_ key: KeyType) -> AnyHashable {
        if !hasWeakKeys, let key = key as? AnyHashable { return key }
        return ObjectIdentifier(key)
    }
}
