internal import Foundation

/// A table whose keys or values may be weak references, as in Apple's Foundation, which Foundation on Linux does not
/// have.
///
/// An entry whose weak key or value is gone counts as absent. Keys that are `Hashable` are compared by value, weak keys
/// and others by identity. Use a table on one thread at a time, as on Apple's systems.
///
/// ```swift
/// let open = NSMapTable<NSString, SecKey>.strongToWeakObjects()
/// ```
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject> {
    private var entries: [AnyHashable: Entry] = [:]
    private let hasWeakKeys: Bool
    private let hasWeakObjects: Bool
    /// The number of entries at which those that are gone are removed; it doubles with the table.
    private var sweepCount = 32

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
        guard let key, let entry = entries[identity(key)], entry.key.value != nil else { return nil }
        return entry.object.value
    }

    /// Sets the object of a key; nil, as key or as object, changes nothing.
    public func setObject(_ object: ObjectType?, forKey key: KeyType?) {
        guard let object, let key else { return }
        sweep()
        let entry = Entry(key: Reference(key, isWeak: hasWeakKeys), object: Reference(object, isWeak: hasWeakObjects))
        // The replaced entry is released when the table has changed: its deinit may use the table.
        let replaced = entries.updateValue(entry, forKey: identity(key))
        withExtendedLifetime(replaced) {}
    }

    /// Removes a key.
    public func removeObject(forKey key: KeyType?) {
        guard let key else { return }
        let removed = entries.removeValue(forKey: identity(key))
        withExtendedLifetime(removed) {}
    }

    /// Removes all keys.
    public func removeAllObjects() {
        let removed = entries
        entries = [:]
        withExtendedLifetime(removed) {}
    }

    /// The number of entries.
    public var count: Int { entries.values.count(where: \.isAlive) }

    private func sweep() {
        guard hasWeakKeys || hasWeakObjects, entries.count >= sweepCount else { return }
        let alive = entries.filter(\.value.isAlive)
        let before = entries
        entries = alive
        sweepCount = max(32, 2 * alive.count)
        withExtendedLifetime(before) {}
    }

    // The hash of a weak key must not change when the key is gone.
    private func identity(_ key: KeyType) -> AnyHashable {
        if !hasWeakKeys, let key = key as? AnyHashable { return key }
        return ObjectIdentifier(key)
    }
}
