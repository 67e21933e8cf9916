package import KCByteStreams

/// The textual encoding of certificates and keys (RFC 7468), read leniently: text around the blocks is skipped.
package enum PEM {
    /// The content of a block, according to its label.
    package enum Content: Hashable, Sendable {
        /// An X.509 certificate.
        case certificate
        /// A private key: PKCS#8, PKCS#1 or SEC 1, encrypted or not.
        case privateKey
        /// A SubjectPublicKeyInfo.
        case publicKey
        /// PKCS#7 signed data with certificates.
        case pkcs7
        /// Anything else.
        case other
    }

    /// A block between its BEGIN and END lines.
    @safe package final class Block: Sendable {
        /// The text between `BEGIN` and the dashes: at most 64 printable ASCII characters, such as `CERTIFICATE`.
        package let label: String
        /// The `Name: value` lines of a traditionally encrypted key (RFC 1421), each ended by a line feed; otherwise
        /// empty.
        package let headers: String
        /// The decoded content; treated as a secret, since it may be a private key.
        package let bytes: SecretBytes

        fileprivate init(label: String, headers: String, bytes: consuming SecretBytes) {
            self.label = label
            self.headers = headers
            self.bytes = bytes
        }

        /// The kind of content that the label names.
        package var content: Content {
            switch label {
            case "CERTIFICATE", "X509 CERTIFICATE": .certificate
            case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY": .privateKey
            case "PUBLIC KEY": .publicKey
            case "PKCS7", "CMS": .pkcs7
            default: .other
            }
        }

        /// The bytes of a block that is not secret.
        var publicBytes: [UInt8] {
            bytes.withBytes { span in span.indices.map { span[$0] } }
        }
    }

    /// True if a line of `text` begins a block.
    package static func isPEM(_ text: borrowing Span<UInt8>) -> Bool {
        var lines = Lines()
        while let line = lines.next(in: text) {
            if starts(line, with: "-----BEGIN ", in: text) { return true }
        }
        return false
    }

    /// All blocks of `text`, in order; empty if there is no BEGIN line.
    ///
    /// - Throws: `CertificateFailure` (`malformed` for a block without an END line or with anything but base64;
    ///   `tooLarge` beyond `fileSize` or `entryCount`).
    package static func blocks(in text: borrowing Span<UInt8>) throws(CertificateFailure) -> [Block] {
        try CertificateLimit.fileSize.check(text.count)
        var blocks: [Block] = []
        var lines = Lines()
        while let line = lines.next(in: text) {
            if starts(line, with: "-----END", in: text) { throw .malformed("an END line has no BEGIN line") }
            guard starts(line, with: "-----BEGIN", in: text) else { continue }
            guard let label = label(of: line, after: "-----BEGIN ", in: text) else {
                throw .malformed("a BEGIN line is not one")
            }
            try CertificateLimit.entryCount.check(blocks.count + 1)
            blocks.append(try block(label, &lines, in: text))
        }
        return blocks
    }

    /// Reads from the line after BEGIN up to the END line.
    private static func block(
        _ label: String, _ lines: inout Lines, in text: borrowing Span<UInt8>
    ) throws(CertificateFailure) -> Block {
        var headers = ""
        var inHeaders = false
        var base64 = SecretBytes(capacity: 0)
        while let line = lines.next(in: text) {
            if starts(line, with: "-----", in: text) {
                guard self.label(of: line, after: "-----END ", in: text) == label else {
                    throw .malformed("a block does not end with its END line")
                }
                var bytes = SecretBytes(capacity: 0)
                guard base64.withBytes({ Base64.decode($0, into: &bytes) }) else {
                    throw .malformed("a block is not base 64")
                }
                return Block(label: label, headers: headers, bytes: bytes)
            }
            let isHeader = line.contains { text[$0] == UInt8(ascii: ":") }
            if isHeader || inHeaders && !line.isEmpty {
                guard base64.isEmpty, headers.utf8.count + line.count < 4096,
                    let header = String(validating: line.map { text[$0] }, as: UTF8.self)
                else { throw .malformed("a block has misplaced header lines") }
                headers += header + "\n"
                inHeaders = true
            } else {
                inHeaders = false
                for index in line where !isBlank(text[index]) { base64.append(text[index]) }
            }
        }
        throw .malformed("a block has no END line")
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func starts(_ line: Range<Int>, with prefix: StaticString, in text: borrowing Span<UInt8>) -> Bool {
        let prefix = Array("\(prefix)".utf8)
        guard line.count >= prefix.count else { return false }
        for (index, byte) in prefix.enumerated() where text[line.lowerBound + index] != byte { return false }
        return true
    }

    /// The label of a BEGIN or END line; nil for any other line.
    private static func label(
        of line: Range<Int>, after prefix: StaticString, in text: borrowing Span<UInt8>
    ) -> String? {
        guard starts(line, with: prefix, in: text) else { return nil }
        let rest = line.dropFirst(prefix.utf8CodeUnitCount).map { text[$0] }
        let label = rest.dropLast(5)
        guard rest.count > 5, rest.suffix(5).allSatisfy({ $0 == UInt8(ascii: "-") }), label.count <= 64,
            label.allSatisfy({ (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "-") })
        else { return nil }
        return String(decoding: label, as: UTF8.self)
    }
}

/// The lines of a text, without line ends (LF, CR LF or CR) and trailing blanks.
private struct Lines {
    private var position = 0

    mutating func next(in text: borrowing Span<UInt8>) -> Range<Int>? {
        guard position < text.count else { return nil }
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\n"), text[position] != UInt8(ascii: "\r") {
            position += 1
        }
        var end = position
        position += 1
        while end > start, text[end - 1] == UInt8(ascii: " ") || text[end - 1] == UInt8(ascii: "\t") { end -= 1 }
        return start..<end
    }
}
