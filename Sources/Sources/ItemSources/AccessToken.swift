package import ByteStreams

/// Access tokens that stand where the name of a user is expected, and would be readable there.
package enum AccessToken {
    /// What tokens begin with, by the documents of GitHub ("About authentication to GitHub"), GitLab ("GitLab token
    /// overview") and others.
    private static let beginnings = [
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
        "glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-",
        "glsoat-", "glffct-",
        "ATBB", "ATATT3", "ATCTT3", "npm_", "pypi-", "hf_", "dop_v1_", "doo_v1_", "dckr_pat_", "xoxb-", "xoxp-",
    ]
    /// Fewer characters than any token has, and more than people choose for a name.
    private static let shortest = 20
    /// What stands for a password where the name is the token, by GitHub's documents.
    private static let placeholder = "x-oauth-basic"

    /// True for a name that is a token by its beginning.
    package static func isToken(_ name: borrowing Span<UInt8>) -> Bool {
        guard name.count >= shortest, name.indices.allSatisfy({ isPlain(name[$0]) }) else { return false }
        // An instance of GitLab may put a word of its own before.
        return beginnings.contains { name.starts(with: $0) } || contains("-glpat-", name)
    }

    /// True for a name that is a token by its beginning, or since nothing else is a password there.
    package static func isToken(_ name: borrowing Span<UInt8>, password: borrowing SecretBytes?) -> Bool {
        if isToken(name) { return true }
        switch password {
        case .some(let password):
            if password.isEmpty { return isOldToken(name) }
            return !name.isEmpty && isPlaceholder(password)
        case .none: return isOldToken(name)
        }
    }

    /// True for a password that is one only by its place beside a token.
    package static func isSpare(_ password: borrowing SecretBytes?) -> Bool {
        switch password {
        case .some(let password): isSpare(password)
        case .none: true
        }
    }

    /// True for a password that is one only by its place beside a token.
    package static func isSpare(_ password: borrowing SecretBytes) -> Bool {
        password.isEmpty || isPlaceholder(password)
    }

    private static func isPlaceholder(_ password: borrowing SecretBytes) -> Bool {
        password.withBytes { $0.count == placeholder.utf8.count && $0.starts(with: placeholder) }
    }

    /// GitHub's tokens of before 2021, 40 hexadecimal digits.
    private static func isOldToken(_ name: borrowing Span<UInt8>) -> Bool {
        name.count == 40
            && name.indices.allSatisfy { index in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(name[index])
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(name[index])
            }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "_-.=".utf8.contains(byte)
    }

    private static func contains(_ word: String, _ name: borrowing Span<UInt8>) -> Bool {
        name.indices.contains { name.extracting($0...).starts(with: word) }
    }
}
