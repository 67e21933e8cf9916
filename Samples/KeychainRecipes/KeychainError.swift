import Security

/// A call to the keychain that did not succeed.
struct KeychainError: Error, CustomStringConvertible {
    let status: OSStatus
    var description: String { SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)" }
}
