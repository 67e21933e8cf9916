internal import KCByteStreams

/// A file of recipients, one per line, with comments; lines of `authorized_keys` may be among them.
package enum RecipientFile {
    /// The maximum number of recipients: as many as an age header may have.
    package static let recipientLimit = AgeHeader.stanzaLimit

    /// Reads the text of a recipients file.
    ///
    /// SSH keys that cannot encrypt are passed over, as in age, since lists of a person's keys contain them.
    ///
    /// - Parameters:
    ///   - plugins: runs the plugins of recipients; nil to refuse those.
    ///   - passingOver: learns the line of a key of SSH that is passed over, and its kind.
    /// - Throws: `AgeFailure`: `malformedRecipientLine`, `unsupportedRecipient` (also if all are passed over),
    ///   `noRecipients`, `headerTooLarge`.
    package static func parse(
        _ text: String, plugins: (any PluginHost)? = nil, passingOver: (Int, String) -> Void = { _, _ in }
    ) throws(AgeFailure) -> [GivenRecipient] {
        var recipients: [GivenRecipient] = []
        var firstPassedOver: AgeFailure?
        // Splits by byte, not by character: CR LF is a single character that differs from a line feed, so a comment
        // would swallow the recipients below it.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { continue }
            let line = Substring(bytes)
            guard let recipient = GivenRecipient(String(line), plugins: plugins) else {
                if let kind = SSHRecipient.unsupportedKind(line) {
                    firstPassedOver = firstPassedOver ?? .unsupportedRecipient(line: index + 1, kind: kind)
                    passingOver(index + 1, kind)
                    continue
                }
                if let kind = unsupportedKind(line, withPlugins: plugins != nil) {
                    throw .unsupportedRecipient(line: index + 1, kind: kind)
                }
                throw .malformedRecipientLine(index + 1)
            }
            recipients.append(recipient)
            guard recipients.count <= recipientLimit else {
                throw .headerTooLarge("recipients", allowed: recipientLimit)
            }
        }
        guard !recipients.isEmpty else { throw firstPassedOver ?? .noRecipients }
        return recipients
    }

    /// Names the kind of a recipient that this program does not support; nil for any other text.
    ///
    /// - Parameter withPlugins: true if a plugin's recipient would be supported, if it were well-formed.
    package static func unsupportedKind(_ line: Substring, withPlugins: Bool) -> String? {
        if let kind = SSHRecipient.unsupportedKind(line) { return kind }
        if ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "-----BEGIN "].contains(where: { line.exact.hasPrefix($0) }) {
            return "private key"
        }
        // Written wrongly, since a right one is supported.
        if withPlugins { return nil }
        if ["age1pq1", "age1tag1", "age1tagpq1"].contains(where: { line.exact.hasPrefix($0) }) { return nil }
        // A plugin's recipient has the plugin's name between two separators.
        return line.exact.hasPrefix("age1") && line.utf8.count { $0 == UInt8(ascii: "1") } > 1 ? "plugin" : nil
    }
}
