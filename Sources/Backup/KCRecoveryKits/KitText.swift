package import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography

/// An identity as a recovery kit prints it: numbered lines of groups, each with a check character at its end.
///
/// ```
///   1   QPZR Y9X8 GF2T VDW0   K
/// ```
///
/// The characters are those of the identity after `AGE-SECRET-KEY-1` or `AGE-SECRET-KEY-PQ-1`, so whoever leaves out
/// numbers, blanks and check characters has an identity for any age that knows its kind. The check character says in
/// which line a mistake is; it is the first five bits of the SHA-256 of number and characters, `1QPZRY9X8GF2TVDW0`. The
/// check character misses one wrong line of 32, and the identity's own checksum decides about all lines.
package enum KitText {
    /// Returns the text before the first line; it may be left out, since the identity's own checksum is about it too.
    package static func prefix(_ kind: NativeIdentity.Kind) -> String { kind.prefix + "1" }
    /// How that begins for every kind of key.
    package static let beginning = X25519Identity.prefix
    /// The number of characters in each line, without its check character.
    package static let lineLengths = [16, 16, 16, 10]

    static let groupLength = 4
    static let alphabet = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".utf8)

    /// The lines of an identity, each with a line feed.
    package static func lines(of identity: NativeIdentity) -> SecretBytes {
        var key = SecretBytes(capacity: 128)
        identity.encode(into: &key)
        key.removeFirst(prefix(identity.kind).utf8.count)
        var text = SecretBytes(capacity: 256)
        var start = 0
        for (index, length) in lineLengths.enumerated() {
            key.withBytes { bytes in
                let line = bytes.extracting(start..<start + length)
                text.append("  \(index + 1)   ".utf8.span)
                for position in line.indices {
                    if position > 0, position % groupLength == 0 { text.append(UInt8(ascii: " ")) }
                    text.append(line[position])
                }
                text.append("   ".utf8.span)
                text.append(check(of: line, number: index + 1))
                text.append(UInt8(ascii: "\n"))
            }
            start += length
        }
        return text
    }

    /// Returns one line of an identity, numbered from 1, with a line feed.
    package static func line(_ number: Int, of identity: NativeIdentity) -> SecretBytes {
        var line = lines(of: identity)
        var start = 0
        for _ in 1..<number { start += line.withBytes { $0.firstLine(from: start) } }
        line.removeFirst(start)
        let length = line.withBytes { $0.firstLine(from: 0) }
        line.removeLast(line.count - length)
        return line
    }

    /// True if a line ends with its check character.
    static func hasCheck(_ line: borrowing Span<UInt8>, number: Int) -> Bool {
        check(of: line.extracting(..<(line.count - 1)), number: number) == line[line.count - 1]
    }

    /// The check character of a line.
    static func check(of line: borrowing Span<UInt8>, number: Int) -> UInt8 {
        var hash = SHA256()
        hash.update(String(number).utf8.span)
        hash.update(line)
        return alphabet[Int(hash.finalize().bytes[0] >> 3)]
    }
}

extension Span<UInt8> {
    /// The length of the line that begins at `start`, with its line feed.
    fileprivate func firstLine(from start: Int) -> Int {
        var end = start
        while end < count, self[end] != UInt8(ascii: "\n") { end += 1 }
        return end + 1 - start
    }
}
