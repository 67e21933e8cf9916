package import KCByteStreams

/// The text form of an age file, as `age -a` writes it (C2SP age, "ASCII armor"; RFC 7468, strict grammar).
///
/// Lines end with LF or CR LF; blank lines may precede and follow the armor.
package enum TextArmor {
    private static let begin = "-----BEGIN AGE ENCRYPTED FILE-----"
    private static let end = "-----END AGE ENCRYPTED FILE-----"
    /// The length of every line but the last, which may be shorter.
    private static let columns = 64
    private static let bytesPerLine = columns / 4 * 3
    /// The maximum number of bytes in blank lines, as in age.
    private static let blankLimit = 1_024

    /// True if the text, after any blank lines, begins like armor, whatever its label.
    package static func isArmored(_ text: borrowing SecretBytes) -> Bool {
        text.withBytes { bytes in
            var start = 0
            while start < min(bytes.count, blankLimit), isBlank(bytes[start]) { start += 1 }
            return bytes.extracting(start...).starts(with: AgeHeader.armorPrefix)
        }
    }

    /// The age file in a text.
    package static func decode(_ text: borrowing SecretBytes) throws(AgeFailure) -> SecretBytes {
        var state = State.before
        var blanks = 0
        var file = SecretBytes(capacity: text.count / 4 * 3)
        try text.withBytes { bytes throws(AgeFailure) in
            try bytes.forEachLine { line, _ throws(AgeFailure) in
                let line = line.extracting(..<(line.count - (endsWithCarriageReturn(line) ? 1 : 0)))
                if state == .before || state == .after, line.indices.allSatisfy({ isBlank(line[$0]) }) {
                    blanks += line.count + 1
                    guard blanks <= blankLimit else { throw .malformedArmor("too many blank lines stand around it") }
                    return
                }
                state = try next(state, line, &file)
            }
        }
        guard state == .after else { throw .malformedArmor("the line '\(end)' is missing") }
        return file
    }

    /// The position of a line in the text.
    private enum State {
        case before
        case body
        /// After a line shorter than the others, which only the last one may be.
        case lastLine
        case after
    }

    /// Processes a line, which may be blank only where that is allowed.
    private static func next(
        _ state: State, _ line: borrowing Span<UInt8>, _ file: inout SecretBytes
    ) throws(AgeFailure) -> State {
        switch state {
        case .before:
            guard isEqual(line, begin) else { throw .malformedArmor("it does not begin with the line '\(begin)'") }
            return .body
        case .body where isEqual(line, end), .lastLine where isEqual(line, end): return .after
        case .body:
            guard !line.isEmpty, line.count <= columns else {
                throw .malformedArmor("a line is empty, or has more than \(columns) characters")
            }
            let before = file.count
            guard Base64.decode(line, into: &file) else { throw .malformedArmor("a line is not canonical base 64") }
            return file.count - before < bytesPerLine ? .lastLine : .body
        case .lastLine: throw .malformedArmor("something stands between the last line and '\(end)'")
        case .after: throw .malformedArmor("something follows the line '\(end)'")
        }
    }

    private static func isEqual(_ line: borrowing Span<UInt8>, _ text: String) -> Bool {
        line.count == text.utf8.count && line.starts(with: text)
    }

    private static func endsWithCarriageReturn(_ line: borrowing Span<UInt8>) -> Bool {
        !line.isEmpty && line[line.count - 1] == 0x0d
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
}
