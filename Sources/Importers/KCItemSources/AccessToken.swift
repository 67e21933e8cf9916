package import KCByteStreams

/// Recognizes access tokens that appear where a user name is expected and would be readable there.
package enum AccessToken {
    /// A kind of token: how it begins, and what follows.
    private struct Form {
        let beginning: String
        let first: UInt8?
        /// The minimum number of characters behind the beginning.
        let length: Int
        let isOfRest: @Sendable (UInt8) -> Bool

        /// - Parameter characters: besides letters and digits.
        init(_ beginning: String, _ length: Int, _ characters: String = "") {
            self.beginning = beginning
            first = beginning.utf8.first
            self.length = length
            isOfRest = { isLetterOrDigit($0) || characters.utf8.contains($0) }
        }
    }

    /// The kinds of tokens, according to the documentation of GitHub ("About authentication to GitHub"), GitLab
    /// ("GitLab token overview") and others, and to the rules of their secret scanners.
    private static let forms: [Form] =
        ["ghp_", "gho_", "ghu_", "ghr_"].map { Form($0, 36) } + [
            // Tokens of apps may be JSON Web Tokens.
            Form("ghs_", 36, "_.-"), Form("github_pat_", 59, "_"),
        ]
        + [
            "glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-",
            "glsoat-", "glffct-",
        ].map { Form($0, 20, "_.-") } + [
            Form("ATBB", 32), Form("ATATT3", 100, "_=-"), Form("ATCTT3", 100, "_=-"), Form("npm_", 36),
            Form("pypi-", 80, "_-"), Form("hf_", 34), Form("dop_v1_", 64), Form("doo_v1_", 64),
            Form("dckr_pat_", 27, "_-"), Form("xoxb-", 40, "-"), Form("xoxp-", 40, "-"),
        ]
    /// GitLab's form behind a prefix that an instance may choose.
    private static let customForm = Form("-glpat-", 20, "_.-")
    /// The minimum length of a token; few user names are this long.
    private static let shortest = 20
    /// The placeholder password when the user name is the token, according to GitHub's documentation.
    private static let placeholder = "x-oauth-basic"

    /// True if a name is a token: beside a real password, if it has the form of one; otherwise, if it begins like one, or
    /// if the lack of a real password shows it.
    package static func isToken(_ name: borrowing Span<UInt8>, password: borrowing SecretBytes?) -> Bool {
        // A token that was pasted may have white space around it.
        guard let first = name.indices.first(where: { !isSpace(name[$0]) }),
            let last = name.indices.last(where: { !isSpace(name[$0]) })
        else { return false }
        let name = name.extracting(first...last)
        switch password {
        case .some(let password):
            if password.isEmpty { return isTokenAlone(name) }
            if isPlaceholder(password) { return true }
            return hasForm(name)
        case .none: return isTokenAlone(name)
        }
    }

    /// True if there is a name, and it is a token.
    package static func isToken(_ name: String?, password: borrowing SecretBytes?) -> Bool {
        guard let name else { return false }
        return isToken(name.utf8.span, password: password)
    }

    private static func isTokenAlone(_ name: borrowing Span<UInt8>) -> Bool {
        if isOldToken(name) || hasForm(name) { return true }
        guard name.count >= shortest, name.indices.allSatisfy({ isPlain(name[$0]) }) else { return false }
        return forms.contains { $0.first == name[0] && name.starts(with: $0.beginning) }
            || place(of: customForm, in: name) != nil
    }

    private static func hasForm(_ name: borrowing Span<UInt8>) -> Bool {
        guard name.count >= shortest else { return false }
        for form in forms where form.first == name[0] && name.starts(with: form.beginning) {
            return has(form, at: 0, name)
        }
        return place(of: customForm, in: name).map { has(customForm, at: $0, name) } ?? false
    }

    private static func has(_ form: Form, at start: Int, _ name: borrowing Span<UInt8>) -> Bool {
        let rest = start + form.beginning.utf8.count
        return name.count - rest >= form.length && (rest..<name.count).allSatisfy { form.isOfRest(name[$0]) }
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

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "_-.=".utf8.contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Where the beginning of a form is in a name.
    private static func place(of form: Form, in name: borrowing Span<UInt8>) -> Int? {
        name.indices.first { name[$0] == form.first && name.matches(form.beginning.utf8, at: $0) }
    }
}
