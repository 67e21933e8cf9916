package import ByteStreams

/// One recipient's part of an age header: the file key, wrapped (C2SP age, "Recipient stanza").
package struct Stanza: Hashable, Sendable {
    /// The kind of recipient, such as `X25519`.
    package let type: String
    /// What follows the kind on the first line.
    package let arguments: [String]
    /// The wrapped file key or whatever the kind puts here.
    package let body: [UInt8]

    /// Describes a stanza; kind and arguments are one or more visible ASCII characters each.
    package init(type: String, arguments: [String], body: [UInt8]) {
        for argument in [type] + arguments {
            precondition(Self.isArgument(argument.utf8), "an argument is visible ASCII characters")
        }
        self.type = type
        self.arguments = arguments
        self.body = body
    }

    /// True for one or more visible ASCII characters.
    static func isArgument(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (33...126).contains($0) }
    }

    /// The kind as it may stand in an error: by name where it is one of age's own, else `unknown`.
    var displayedType: String {
        let known = ["X25519", "scrypt", "ssh-ed25519", "ssh-rsa", "mlkem768x25519", "p256tag", "mlkem768p256tag"]
        return known.contains(type) ? type : "unknown"
    }

    /// The stanza as it stands in a header.
    var text: String {
        let encoded = Array(Base64.encode(body, padded: false).utf8)
        var text = "-> " + ([type] + arguments).joined(separator: " ") + "\n"
        var offset = 0
        // The last line is shorter than 64 characters, so a body that fills its lines is followed by an empty one.
        while encoded.count - offset >= Self.columns {
            text += String(decoding: encoded[offset..<offset + Self.columns], as: UTF8.self) + "\n"
            offset += Self.columns
        }
        return text + String(decoding: encoded[offset...], as: UTF8.self) + "\n"
    }

    /// Characters of a full body line.
    static let columns = 64
}

/// Somebody to whom a file key can be wrapped.
package protocol Recipient: Sendable {
    /// Wraps the 16-byte file key.
    ///
    /// - Throws: `AgeFailure`: `malformedRecipient`, `cryptography`.
    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey
}

/// What a recipient adds to an age file: its part of the header, and with whom it may share a file.
package struct WrappedFileKey: Hashable, Sendable {
    /// The stanzas of the recipient; one, or several for kinds such as plug-ins and groups.
    package let stanzas: [Stanza]
    /// Which other recipients a file may have: only those with equal labels.
    ///
    /// A post-quantum recipient has one, for instance, since a file that an X25519 key opens too is no safer than that key
    /// (C2SP age, "age-plugin").
    package let labels: Set<String>

    /// Describes what was wrapped.
    package init(_ stanzas: [Stanza], labels: Set<String> = []) {
        self.stanzas = stanzas
        self.labels = labels
    }
}

/// Somebody who can unwrap a file key.
package protocol Identity: Sendable {
    /// Unwraps the file key from whichever stanza is for this identity; nil when none is.
    ///
    /// - Throws: `AgeFailure`: `malformedHeader` for a stanza of this kind that breaks its rules, and what the kind
    ///   adds (`workFactorTooHigh`, `mixedPassphrase`).
    func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes?
}

/// Bytes of a file key.
let fileKeySize = 16
/// Bytes of a wrapped file key: the key and a tag.
///
/// The length is checked before anything is decrypted, so that a file cannot be made that opens under many keys (C2SP
/// age, "partitioning oracle").
let wrappedFileKeySize = 32
