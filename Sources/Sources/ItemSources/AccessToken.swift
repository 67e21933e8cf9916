package import ByteStreams

/// Recognizes access tokens that appear where a user name is expected and would be readable there.
package enum AccessToken {
    /// The prefixes of tokens, according to the documentation of GitHub ("About authentication to GitHub"), GitLab
    /// ("GitLab token overview") and others.
    private static let beginnings = [
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
        "glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-",
        "glsoat-", "glffct-",
        "ATBB", "ATATT3", "ATCTT3", "npm_", "pypi-", "hf_", "dop_v1_", "doo_v1_", "dckr_pat_", "xoxb-", "xoxp-",
    ]
    /// The minimum length of a token: no real token is shorter, and few user names are this long.
    private static let shortest = 20
    /// The placeholder password when the user name is the token, according to GitHub's documentation.
    private static let placeholder = "x-oauth-basic"

    /// True if a name looks like a token, judging by its prefix.
    package static func isToken(_ name: borrowing Span<UInt8>) -> Bool {
        guard name.count >= shortest, name.indices.allSatisfy({ isPlain(name[$0]) }) else { return false }
        // A GitLab instance may put its own prefix before this one.
        return beginnings.contains { name.starts(with: $0) } || contains("-glpat-", name)
    }

    /// True if a name is a token, judging by its prefix or by the lack of a real password beside it.
    package static func isToken(_ name: borrowing Span<UInt8>, password: borrowing SecretBytes?) -> Bool {
        if isToken(name) { return true }
        switch password {
        case .some(let password):
            if password.isEmpty { return isOldToken(name) }
            return !name.isEmpty && isPlaceholder(password)
        case .none: return isOldToken(name)
        }
    }

    /// True if the password beside a token is missing, empty or a placeholder.
    package static func isSpare(_ password: borrowing SecretBytes?) -> Bool {
        switch password {
        case .some(let password): isSpare(password)
        case .none: true
        }
    }

    /// True if the password beside a token is empty or a placeholder.
    package static func isSpare(_ password: borrowing SecretBytes) -> Bool {
        password.isEmpty || isPlaceholder(password)
    }

    private static func isPlaceholder(_ password: borrowing SecretBytes) -> Bool {
        password.withBytes { $0.count == placeholder.utf8.count && $0.starts(with: placeholder) }
    }

    /// True if a name has the form of GitHub's tokens from before 2021: 40 hexadecimal digits.
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
