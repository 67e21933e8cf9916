package import KCByteStreams

extension OpenFile {
    /// True if the file starts with the name of an archive's first member.
    package func startsAsArchive() throws(StreamFailure) -> Bool {
        let name = Array("kcbackup.json\0".utf8)
        var beginning = SecretBytes(capacity: 64)
        try beginning.append(upTo: name.count) { output throws(StreamFailure) in try read(at: 0, into: &output) }
        return beginning.withBytes { span in span.indices.map { span[$0] } } == name
    }

    /// True if the first line is an item or seems intended as one.
    package func startsAsItems() throws(StreamFailure) -> Bool {
        var beginning = SecretBytes(capacity: 8_192)
        try beginning.append(upTo: 8_192) { output throws(StreamFailure) in try read(at: 0, into: &output) }
        return beginning.withBytes { ItemLines.begin($0) }
    }
}

extension ItemLines {
    /// True if `bytes` can be the beginning of such a file.
    package static func begin(_ bytes: borrowing Span<UInt8>) -> Bool {
        let mark = bytes.starts(with: byteOrderMark) ? byteOrderMark.utf8.count : 0
        let start = (mark..<bytes.count).first { ![0x20, 0x09, 0x0d, 0x0a].contains(bytes[$0]) }
        // A file of white space is more likely the output of a failed command.
        guard let start else { return false }
        guard bytes[start] == UInt8(ascii: "{") else { return false }
        let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
        let line = bytes.extracting(start..<min(end, start + 4_096))
        // Items of the Credential Exchange Format may contain such objects.
        return ["\"class\"", "\"attributes\""].contains { line.holds($0) } && !line.holds("\"credentials\"")
    }
}
