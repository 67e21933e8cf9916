public import Foundation
internal import KCCryptography

/// Refuses to store a password that the user's browser shares with this program: no browser here does.
///
/// - Parameters:
///   - fqdn: ignored.
///   - account: ignored.
///   - password: ignored.
///   - completionHandler: called at once, with `errSecUnimplemented`.
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?, _ completionHandler: @escaping (CFError?) -> Void
) {
    completionHandler(unimplemented)
}

/// Refuses to ask for a password that the user's browser shares with this program: no browser here does.
///
/// - Parameters:
///   - fqdn: ignored.
///   - account: ignored.
///   - completionHandler: called at once, with no credentials and `errSecUnimplemented`.
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping (CFArray?, CFError?) -> Void
) {
    completionHandler(nil, unimplemented)
}

/// Generates a password that is easy to type: four groups of three letters and digits, 68 bits together.
///
/// ```swift
/// let password = SecCreateSharedWebCredentialPassword() as String? ?? ""
/// ```
///
/// - Returns: a new password; nil if the kernel has no randomness.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    // Without what looks alike, such as "l" and "1".
    let alphabet = Array("abcdefghkmnopqrstuvwxyABCDEFGHJKLMNPQRSTUVWXYZ3456789".utf8)
    // A larger byte would make the first letters of the alphabet likelier than the others.
    let limit = 256 - 256 % alphabet.count
    var letters: [UInt8] = []
    while letters.count < 12 {
        guard let random = try? RandomBytes.bytes(count: 16) else { return nil }
        letters += random.filter { $0 < limit }.prefix(12 - letters.count).map { alphabet[Int($0) % alphabet.count] }
    }
    let groups = stride(from: 0, to: 12, by: 3).map { String(decoding: letters[$0..<$0 + 3], as: UTF8.self) }
    return groups.joined(separator: "-") as CFString
}

private var unimplemented: CFError {
    CFError(
        domain: statusDomain, code: Int(errSecUnimplemented),
        userInfo: [NSLocalizedDescriptionKey: "no browser shares passwords with programs on this system"])
}
