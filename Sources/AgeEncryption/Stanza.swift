public import ByteStreams

/// One way into an age file: the file key, wrapped for one recipient (C2SP age, "Recipient stanza").
public struct Stanza: Hashable, Sendable {
    /// The first argument: the kind of recipient.
    public let type: String
    /// The other arguments.
    public let arguments: [String]
    /// The bytes of the body, normally the wrapped file key.
    public let body: [UInt8]

    /// Takes arguments of one or more visible ASCII characters each.
    public init(type: String, arguments: [String], body: [UInt8]) {
        for argument in [type] + arguments {
            precondition(Self.isArgument(argument.utf8), "an argument is visible ASCII")
        }
        self.type = type
        self.arguments = arguments
        self.body = body
    }

    static func isArgument(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

/// The public half of a key: can make files that its identity opens.
public protocol Recipient: Sendable {
    /// Wraps the 16-byte `fileKey`; a stanza of type `scrypt` must be the file's only one.
    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> Stanza
}

/// The private half of a key: opens files that were made for its recipient.
public protocol Identity: Sendable {
    /// Returns the 16-byte file key, or nil if none of `stanzas`, which are all of the file's, is for this identity.
    ///
    /// Stanzas of other types are ignored; a malformed one of its own type is an error.
    func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes?
}
