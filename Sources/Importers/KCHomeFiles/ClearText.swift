internal import KCByteStreams

/// Whether a file holds secrets that anyone who can read it can use.
package enum ClearText: Hashable, Sendable {
    /// No: they are encrypted, or there are none.
    case none
    case always
    /// If it has more than comments and titles of sections.
    case settings
    /// The same, in a form from which they can be imported.
    case passwords
    /// If it is a private key without a passphrase.
    case privateKey
    /// If any of these words is in it.
    case words([String])

    // How an unencrypted key of OpenSSH begins in base64: the magic word and the cipher "none" (PROTOCOL.key of OpenSSH).
    private static let openSSHWithoutCipher = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"

    /// The kind of secret that bytes hold in the clear; nil if they hold none.
    func kind(of bytes: borrowing SecretBytes) -> HomeContents.Clear.Kind? {
        if bytes.isEmpty { return nil }
        return bytes.withBytes { span in
            switch self {
            case .none: nil
            case .always: .secret
            case .settings: Self.saysSomething(span) ? .secret : nil
            case .passwords: Self.saysSomething(span) ? .passwords : nil
            case .privateKey: Self.isOpenKey(span) ? .privateKey : nil
            case .words(let words): words.contains { span.holds($0) } ? .secret : nil
            }
        }
    }

    /// True if there is a line that is neither empty, a comment nor the title of a section.
    private static func saysSomething(_ bytes: borrowing Span<UInt8>) -> Bool {
        var isAtStart = true
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): isAtStart = true
            case UInt8(ascii: " "), UInt8(ascii: "\t"): continue
            case UInt8(ascii: "#"), UInt8(ascii: ";"), UInt8(ascii: "["): isAtStart = false
            default: if isAtStart { return true }
            }
        }
        return false
    }

    private static func isOpenKey(_ bytes: borrowing Span<UInt8>) -> Bool {
        guard bytes.holds("PRIVATE KEY-----") else { return false }
        return bytes.holds("BEGIN OPENSSH") ? bytes.holds(openSSHWithoutCipher) : !bytes.holds("ENCRYPTED")
    }
}
