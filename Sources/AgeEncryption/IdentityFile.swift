public import ByteStreams

/// A file of private keys: one `AGE-SECRET-KEY-1…` a line, with comments, as `age-keygen` writes it.
public struct IdentityFile: Sendable {
    /// The keys, in order; at least one.
    public let identities: [X25519Identity]
    /// The comments without `#` and the blank behind it; those that hold a private key are left out.
    public let comments: [String]

    /// Reads a file that is not encrypted.
    ///
    /// - Throws: `AgeFailure` (`encryptedIdentityFile`, `armored`, `malformedKey`, `unsupportedKey`, `noKeys`,
    ///   `cryptography`).
    public init(parsing text: borrowing SecretBytes) throws(AgeFailure) {
        if Self.isEncrypted(text) { throw .encryptedIdentityFile }
        if text.withBytes({ $0.starts(with: "-----BEGIN AGE") }) { throw .armored }
        var identities: [X25519Identity] = []
        var comments: [String] = []
        try text.forEachLine { number, rawLine throws(AgeFailure) in
            let line = rawLine.extracting(..<KeyLine.withoutReturn(rawLine))
            switch KeyLine.kind(line) {
            case .blank: return
            case .comment:
                if let comment = Self.comment(line) { comments.append(comment) }
            case .key: identities.append(try Self.identity(line, number))
            }
        }
        guard !identities.isEmpty else { throw .noKeys }
        self.identities = identities
        self.comments = comments
    }

    /// Decrypts a file that is encrypted with a passphrase, and reads it.
    ///
    /// - Throws: `AgeFailure`, any case about a header or a passphrase and those of `init(parsing:)`;
    ///   `stream` when the file is damaged or decrypts to more than `PrivateFile.sizeLimit`.
    public init(
        decrypting encrypted: borrowing SecretBytes, passphrase: borrowing SecretBytes,
        highestCost: Int = ScryptIdentity.defaultHighestCost
    ) throws(AgeFailure) {
        let identity = ScryptIdentity(passphrase: passphrase, highestCost: highestCost)
        var decryptor = try AgeDecryptor(MemorySource(encrypted.copy()), identities: [identity])
        let text: SecretBytes
        do throws(StreamFailure) {
            text = try decryptor.readAll(limit: PrivateFile.sizeLimit, as: "identity file size")
        } catch {
            throw .stream(error)
        }
        try self.init(parsing: text)
    }

    /// True when the bytes begin as an age file does.
    public static func isEncrypted(_ text: borrowing SecretBytes) -> Bool {
        text.withBytes { $0.starts(with: AgeHeader.versionStart) }
    }

    /// The text of a new file: comments for time of creation and public key, then `comments`, then the key.
    ///
    /// `created` is a time in the form of RFC 3339. No text may hold a line feed.
    public static func render(
        _ identity: X25519Identity, created: String, comments: [String] = []
    ) -> SecretBytes {
        var text = SecretBytes(capacity: 512)
        for comment in ["created: \(created)", "public key: \(identity.recipient)"] + comments {
            precondition(!comment.utf8.contains { $0 == 10 || $0 == 13 }, "a comment is one line")
            text.append(text: "# \(comment)\n")
        }
        identity.encode(into: &text)
        text.append(UInt8(ascii: "\n"))
        return text
    }

    private static func identity(_ line: borrowing Span<UInt8>, _ number: Int) throws(AgeFailure) -> X25519Identity {
        if let identity = try X25519Identity.parse(line) { return identity }
        if let kind = KeyLine.unsupportedKind(line) { throw .unsupportedKey(line: number, kind: kind) }
        throw .malformedKey(line: number)
    }

    /// The text of a comment; nil when it is not UTF-8, or holds a key that was commented out and stays secret.
    private static func comment(_ line: borrowing Span<UInt8>) -> String? {
        for start in line.indices where isPrivateKey(line.extracting(start...)) { return nil }
        let start = line.count > 1 && line[1] == UInt8(ascii: " ") ? 2 : 1
        return line.extracting(start...).text()
    }

    private static func isPrivateKey(_ bytes: borrowing Span<UInt8>) -> Bool {
        let word = Array("SECRET-KEY-".utf8)
        return bytes.count >= word.count && word.indices.allSatisfy { bytes[$0] & ~0x20 == word[$0] & ~0x20 }
    }
}

/// A file of public keys: one `age1…` a line, with comments.
public enum RecipientFile {
    /// Reads the keys, in order; at least one.
    ///
    /// - Throws: `AgeFailure` (`malformedKey`, `unsupportedKey`, `noKeys`).
    public static func parse(_ text: borrowing SecretBytes) throws(AgeFailure) -> [X25519Recipient] {
        var recipients: [X25519Recipient] = []
        try text.forEachLine { number, rawLine throws(AgeFailure) in
            let line = rawLine.extracting(..<KeyLine.withoutReturn(rawLine))
            guard KeyLine.kind(line) == .key else { return }
            // Looked for first, so that a private key in the wrong file never becomes a text.
            if line.starts(with: X25519Identity.prefix) { throw .unsupportedKey(line: number, kind: "private") }
            if let recipient = line.text().flatMap(X25519Recipient.init) {
                recipients.append(recipient)
            } else if let kind = KeyLine.unsupportedKind(line) {
                throw .unsupportedKey(line: number, kind: kind)
            } else {
                throw .malformedKey(line: number)
            }
        }
        guard !recipients.isEmpty else { throw .noKeys }
        return recipients
    }
}
