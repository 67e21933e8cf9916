package import KCByteStreams

/// Identifies a JSON document by the member names at its beginning.
package enum JSONHead {
    /// The number of bytes examined.
    private static let size = 8_192

    /// The texts of `names` that are member names, at any level, at the beginning of a document that is an object.
    package static func names(_ names: [String], in bytes: borrowing Span<UInt8>) -> Set<ExactText> {
        var start = bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0
        while start < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[start]) { start += 1 }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return [] }
        let head = bytes.extracting(start..<min(bytes.count, start + size))
        var found: Set<ExactText> = []
        for name in names {
            let wanted = Array("\"\(name)\"".utf8)
            let isThere = head.indices.contains { start in
                head[start] == wanted[0] && head.matches(wanted, at: start)
                    && isName(endingAt: start + wanted.count, in: head)
            }
            if isThere { found.insert(name.exact) }
        }
        return found
    }

    /// True if a colon follows; otherwise the text is a value, which anyone can choose.
    private static func isName(endingAt end: Int, in head: borrowing Span<UInt8>) -> Bool {
        var position = end
        while position < head.count, [0x20, 0x09, 0x0a, 0x0d].contains(head[position]) { position += 1 }
        return position < head.count && head[position] == UInt8(ascii: ":")
    }
}
