package import KCByteStreams

/// A format of files from which single records can be taken out, so that all else stays byte for byte.
package protocol SeparableFormat: ForeignFormat {
    /// The records of a file that become items whole.
    ///
    /// A record stays if it cannot be read, or if it has something that no item has, such as a comment or a macro.
    func separableRecords(of file: ForeignFile) -> SeparableRecords
}

/// The records of a file that can be taken out of it.
package struct SeparableRecords: Hashable, Sendable {
    /// Where they are in the file, ascending and apart from each other.
    package let pieces: [Range<Int>]
    /// The number of records with secrets that stay.
    package let staying: Int

    package init(_ pieces: [Range<Int>], staying: Int) {
        self.pieces = pieces
        self.staying = staying
    }

    /// True if the pieces are in a file of this size, ascending and apart from each other.
    package func fit(size: Int) -> Bool {
        var end = 0
        for piece in pieces {
            guard piece.lowerBound >= end, !piece.isEmpty else { return false }
            end = piece.upperBound
        }
        return end <= size && staying >= 0
    }
}

extension ForeignKind {
    /// True for a format of which records can be taken out of a file.
    package var isSeparable: Bool { [.gitCredentials, .netrc].contains(self) }

    /// The ending of the file that a program of the format creates while it changes a file; nil if there is none.
    package var lockEnding: String? { self == .gitCredentials ? ".lock" : nil }
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
    /// - Parameter records: some that fit the size of the file.
    package init(of bytes: borrowing Span<UInt8>, without records: SeparableRecords) {
        var rest = SecretBytes(capacity: max(1, bytes.count))
        var position = 0
        for piece in records.pieces {
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
        removed = records.pieces.count
        staying = records.staying
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
