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
        return beginning.withBytes { ItemLinesFormat.recognises($0) }
    }
}
