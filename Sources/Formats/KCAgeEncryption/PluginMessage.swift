package import KCByteStreams

/// A message between a client and a plugin of age: a command, its arguments, and a body that may be a secret (C2SP
/// age-plugin, "IPC protocol").
///
/// Plugins are separate programs that hold keys, such as those of hardware tokens. A message has the form of a stanza.
package struct PluginMessage: ~Copyable {
    /// The task, or the answer to a task.
    package let command: String
    /// The words after the command; visible ASCII characters.
    package let arguments: [String]
    /// A file key, a PIN, or text for the user.
    package let body: SecretBytes

    /// Creates a message; the command and each argument must consist of one or more visible ASCII characters.
    package init(_ command: String, _ arguments: [String] = [], body: consuming SecretBytes) {
        for word in [command] + arguments {
            precondition(Stanza.isArgument(word.utf8), "an argument is visible ASCII characters")
        }
        self.command = command
        self.arguments = arguments
        self.body = body
    }

    /// Creates a message without a body.
    package init(_ command: String, _ arguments: [String] = []) {
        self.init(command, arguments, body: SecretBytes(capacity: 0))
    }

    /// Creates a message that conveys a stanza of a file.
    package init(_ command: String, of file: Int, _ stanza: Stanza) {
        self.init(command, [String(file), stanza.type] + stanza.arguments, body: SecretBytes(stanza.body.span))
    }

    /// Appends the message as it is sent.
    ///
    /// - Parameter secret: a last argument that may be a secret, such as an identity; none if it is empty.
    package borrowing func encode(secret: borrowing Span<UInt8> = Span(), into text: inout SecretBytes) {
        text.append(utf8: "-> " + ([command] + arguments).joined(separator: " "))
        if !secret.isEmpty {
            text.append(UInt8(ascii: " "))
            text.append(secret)
        }
        text.append(UInt8(ascii: "\n"))
        var encoded = SecretBytes(capacity: Base64.encodedCount(body.count, padded: false))
        body.withBytes { Base64.encode($0, padded: false, into: &encoded) }
        encoded.withBytes { characters in
            var offset = 0
            // The last line must be shorter than 64 characters, so an empty line follows a body that fills its lines.
            while characters.count - offset >= Stanza.columns {
                text.append(characters.extracting(offset..<offset + Stanza.columns))
                text.append(UInt8(ascii: "\n"))
                offset += Stanza.columns
            }
            text.append(characters.extracting(offset...))
        }
        text.append(UInt8(ascii: "\n"))
    }
}

extension PluginMessage {
    /// The stanza that a message conveys, and the number of its file; nil if the message has no such form.
    package borrowing func stanza() -> (file: Int, stanza: Stanza)? {
        guard arguments.count >= 2, let file = Self.index(arguments[0]) else { return nil }
        return (
            file,
            Stanza(
                type: arguments[1], arguments: Array(arguments.dropFirst(2)),
                body: body.withBytes { [UInt8](copying: $0) })
        )
    }

    /// Reads a number from 0 in its one spelling; nil for anything else.
    package static func index(_ text: String) -> Int? {
        guard let number = Int(text), number >= 0, String(number).exact == text.exact else { return nil }
        return number
    }
}
