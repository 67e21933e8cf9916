public import Foundation

/// The list of programs that may use an item of a keychain on macOS; there is none here.
public final class SecAccess: Sendable {
    private init() {}
}

/// Refuses to create a list of programs: no system but macOS has them, and here every program of the user may use the
/// items in its access groups.
///
/// - Parameters:
///   - descriptor: ignored.
///   - trustedlist: ignored.
///   - accessRef: unchanged.
/// - Returns: `errSecUnimplemented`.
public func SecAccessCreate(
    _ descriptor: CFString, _ trustedlist: CFArray?, _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    errSecUnimplemented
}
