/// A file of recipients, one a line, with comments.
public enum RecipientFile {
    /// Recipients of a file; more than an age header may have.
    public static let recipientLimit = AgeHeader.stanzaLimit

    /// Reads the text of a recipients file.
    ///
    /// - Throws: `AgeFailure`: `malformedRecipientLine`, `unsupportedRecipient`, `noRecipients`, `headerTooLarge`.
    public static func parse(_ text: String) throws(AgeFailure) -> [X25519Recipient] {
        var recipients: [X25519Recipient] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.last == "\r" ? line.dropLast() : line
            if line.isEmpty || line.first == "#" { continue }
            guard let recipient = X25519Recipient(String(line)) else {
                if let kind = unsupportedKind(line) { throw .unsupportedRecipient(line: index + 1, kind: kind) }
                throw .malformedRecipientLine(index + 1)
            }
            recipients.append(recipient)
            guard recipients.count <= recipientLimit else {
                throw .headerTooLarge("recipients", allowed: recipientLimit)
            }
        }
        guard !recipients.isEmpty else { throw .noRecipients }
        return recipients
    }

    private static func unsupportedKind(_ line: Substring) -> String? {
        if line.hasPrefix("ssh-") { return "SSH" }
        if line.hasPrefix("age1pq1") { return "post-quantum" }
        if line.hasPrefix("age1tag") { return "tagged" }
        return nil
    }
}
