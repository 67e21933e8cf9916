package import KCByteStreams

/// A format of files from which single records can be taken out, so that all else stays byte for byte.
package protocol SeparableFormat: ForeignFormat {
    /// The rest of a file without the records that become items whole.
    ///
    /// A record stays if it cannot be read, or if it has something that no item has, such as a comment or a macro.
    ///
    /// - Throws: `ForeignFailure` as `read`.
    func remainder(of file: ForeignFile) throws(ForeignFailure) -> FileRemainder

    /// The ending of the file that a program of the format creates while it changes a file; nil if there is none.
    var lockEnding: String? { get }
}

extension SeparableFormat {
    package var lockEnding: String? { nil }
}

/// The rest of a file without some of its records.
package struct FileRemainder: ~Copyable {
    /// Nil if nothing but blanks remains.
    package let bytes: SecretBytes?
    /// The number of records that are not in it.
    package let removed: Int
    /// The number of records with secrets that stay.
    package let staying: Int

    /// Cuts pieces out of a file; a line of which nothing but blanks remains goes as a whole.
    ///
    /// - Parameters:
    ///   - pieces: the positions of the records, ascending and apart from each other.
    ///   - staying: the number of records that stay.
    package init(of bytes: borrowing Span<UInt8>, without pieces: [Range<Int>], staying: Int) {
        var rest = SecretBytes(capacity: max(1, bytes.count))
        var position = 0
        for piece in pieces {
            let start = Self.lineStart(of: piece, after: position, in: bytes)
            let end = Self.lineEnd(of: piece, in: bytes)
            if let start, let end {
                rest.append(bytes.extracting(position..<start))
                position = end
            } else {
                rest.append(bytes.extracting(position..<piece.lowerBound))
                position = piece.upperBound
            }
        }
        rest.append(bytes.extracting(position..<bytes.count))
        let isBlank = rest.withBytes { span in span.indices.allSatisfy { Self.blanks.contains(span[$0]) } }
        if isBlank { self.bytes = nil } else { self.bytes = consume rest }
        removed = pieces.count
        self.staying = staying
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0d, 0x0a]

    /// Where the line of a piece begins; nil if something else is before it in the line.
    private static func lineStart(
        of piece: Range<Int>, after position: Int, in bytes: borrowing Span<UInt8>
    ) -> Int? {
        var start = piece.lowerBound
        while start > position, bytes[start - 1] != 0x0a {
            guard blanks.contains(bytes[start - 1]) else { return nil }
            start -= 1
        }
        return start == 0 || bytes[start - 1] == 0x0a ? start : nil
    }

    /// Where the line after a piece begins; nil if something else is behind it in its line.
    private static func lineEnd(of piece: Range<Int>, in bytes: borrowing Span<UInt8>) -> Int? {
        var end = piece.upperBound
        while end < bytes.count {
            guard blanks.contains(bytes[end]) else { return nil }
            end += 1
            if bytes[end - 1] == 0x0a { break }
        }
        return end
    }
}
