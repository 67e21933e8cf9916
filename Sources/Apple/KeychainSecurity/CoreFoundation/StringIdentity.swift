public import Foundation

extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Makes a string object the same `AnyHashable` as the `String` with its text, as on Apple's systems.
    ///
    /// Without it, a `[AnyHashable: Any]` with attributes would have nothing under `kSecAttrAccount`.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
