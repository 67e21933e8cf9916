/// Why the keychain or the program's entitlements cannot be used.
///
/// ```swift
/// do {
///     try KeychainClient.configure(entitlements: "mail.entitlements")
/// } catch KeychainClientFailure.entitlementsMalformed(let path) {
///     print("\(path) is not a list of entitlements")
/// }
/// ```
public enum KeychainClientFailure: Error, Hashable, Sendable {
    /// The property list cannot be read, or is too large to be a list of entitlements.
    case entitlementsUnreadable(path: String)
    /// The file is not a property list, or an entry for access groups is neither a string nor an array of strings.
    case entitlementsMalformed(path: String)
    /// The path of this program cannot be determined.
    case executableUnknown
    /// The name of the keychain is empty or contains invalid characters.
    case keychainName
    /// The keychain cannot be created, opened, unlocked or locked; the value is one of `errSec…`.
    case failed(OSStatus)

    /// The status of `failed`; nil for other failures.
    var status: OSStatus? {
        if case .failed(let status) = self { status } else { nil }
    }
}
