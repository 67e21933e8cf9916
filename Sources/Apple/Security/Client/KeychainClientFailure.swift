/// Why a program cannot be told apart from others, or where its entitlements are wrong.
public enum KeychainClientFailure: Error, Hashable, Sendable {
    /// The property list cannot be read, or is larger than entitlements are.
    case entitlementsUnreadable(path: String)
    /// The file is no property list, or an entry that names access groups is neither a text nor a list of texts.
    case entitlementsMalformed(path: String)
    /// The system does not say which program this is.
    case executableUnknown
    /// The name of the keychain is empty or has characters that a name cannot have.
    case keychainName
}
