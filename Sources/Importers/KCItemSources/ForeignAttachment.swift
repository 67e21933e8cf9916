package import KCByteStreams

/// A file that belongs to a record.
package final class ForeignAttachment: Sendable {
    /// Foreign text.
    package let name: String
    package let bytes: SecretBytes

    /// Names a file.
    package init(name: String, _ bytes: consuming SecretBytes) {
        self.name = name
        self.bytes = bytes
    }
}
