package import KCByteStreams

/// The part of an age header for one recipient: the file key, wrapped (C2SP age, "Recipient stanza").
package struct Stanza: Hashable, Sendable {
    /// The type of recipient, such as `X25519`.
    package let type: String
    /// The rest of the first line.
    package let arguments: [String]
    /// The wrapped file key, or whatever the type defines.
    package let body: [UInt8]

    /// Creates a stanza; its type and each argument must consist of one or more visible ASCII characters.
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

    /// The type as shown in an error: its name if it is one of age's own, else `unknown`.
    package var displayedType: String {
        let known = ["X25519", "scrypt", "mlkem768x25519", "p256tag", "mlkem768p256tag"] + SSHRecipient.types
        return known.contains(type) ? type : "unknown"
    }

    /// The stanza as encoded in a header.
    var text: String {
        let encoded = Array(Base64.encode(body, padded: false).utf8)
        var text = "-> " + ([type] + arguments).joined(separator: " ") + "\n"
        var offset = 0
        // The last line must be shorter than 64 characters, so an empty line follows a body that fills its lines.
        while encoded.count - offset >= Self.columns {
            text += String(decoding: encoded[offset..<offset + Self.columns], as: UTF8.self) + "\n"
            offset += Self.columns
        }
        return text + String(decoding: encoded[offset...], as: UTF8.self) + "\n"
    }

    /// The length of a full body line in characters.
    static let columns = 64
}

/// A party that a file key can be wrapped for.
package protocol Recipient: Sendable {
    /// Wraps the 16-byte file key.
    ///
    /// - Throws: `AgeFailure`: `malformedRecipient`, `cryptography`.
    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey

    /// True if it is known, without wrapping, that a quantum computer does not open what is wrapped for it.
    var isPostQuantum: Bool { get }
}

extension Recipient {
    package var isPostQuantum: Bool { false }
}

/// A recipient's part of an age file: its stanzas, and the labels that limit which recipients it can be combined with.
package struct WrappedFileKey: Hashable, Sendable {
    /// The recipient's stanzas; types such as plug-ins and groups can have several.
    package let stanzas: [Stanza]
    /// The labels of the recipient; all recipients of a file must have equal labels.
    ///
    /// For example, a post-quantum recipient has one, since a file that an X25519 key also opens is no safer than that
    /// key (C2SP age, "age-plugin").
    package let labels: Set<ExactText>

    /// Creates a wrapped file key.
    package init(_ stanzas: [Stanza], labels: Set<ExactText> = []) {
        self.stanzas = stanzas
        self.labels = labels
    }
}

/// A party that can unwrap a file key.
package protocol Identity: Sendable {
    /// Unwraps the file key from a stanza for this identity; nil if there is none.
    ///
    /// - Throws: `AgeFailure`: `malformedHeader` for a stanza of this type that breaks its rules, and other failures of
    ///   the type (`workFactorTooHigh`, `mixedPassphrase`).
    func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes?
}

/// An identity whose private key is in memory, so that its public half is known.
package protocol HeldIdentity: Identity {
    /// The encoding of the public half.
    var publicKey: String { get }
}

/// The length of a file key in bytes.
let fileKeySize = 16
/// The length of a wrapped file key in bytes: the key and a tag.
///
/// The length is checked before decryption, so that a crafted file cannot open under many keys (C2SP age, "partitioning
/// oracle").
let wrappedFileKeySize = 32
