package import KCByteStreams

/// Writes a tar archive that follows `TarProfile` to a sink, member by member.
package struct TarWriter<Downstream: ByteSink & ~Copyable>: ~Copyable {
    private var downstream: Downstream
    private let writer: LibarchiveWriter
    private let modified: Int64
    private var names: [String] = []

    /// Starts an archive; all members get the modification time `modified`.
    ///
    /// - Parameter modified: seconds since 1970 (0 to `TarProfile.timeLimit`).
    /// - Throws: `StreamFailure` of kind `malformed` for any other time, `library` if libarchive cannot start.
    package init(to downstream: consuming Downstream, modified: Int64) throws(StreamFailure) {
        guard (0...TarProfile.timeLimit).contains(modified) else {
            throw StreamFailure(.writingContainer, .malformed("the time is eleven octal digits"))
        }
        writer = try LibarchiveWriter()
        self.downstream = downstream
        self.modified = modified
    }

    /// Adds a member of `length` bytes; `source` must deliver exactly that many.
    ///
    /// The name must be unique and accepted by `TarProfile.isName`; at most 16 members are allowed.
    ///
    /// - Throws: `StreamFailure`: `truncated` or `malformed` for a source of another length, with the offset in the
    ///   source; `limitExceeded` beyond `TarProfile.memberSizeLimit`; the failures of source and sink. The archive is
    ///   then unusable.
    package mutating func append(
        _ name: String, length: UInt64, from source: inout some ByteSource & ~Copyable
    ) throws(StreamFailure) {
        try start(name, length)
        var received: UInt64 = 0
        try source.forEachPiece { piece throws(StreamFailure) in
            guard UInt64(piece.count) <= length - received else {
                let rule = "a member is as long as announced"
                throw StreamFailure(.writingContainer, .malformed(rule), offset: length)
            }
            received += UInt64(piece.count)
            try writer.append(piece)
            try drain()
        }
        guard received == length else { throw StreamFailure(.writingContainer, .truncated, offset: received) }
        try finishMember()
    }

    /// Adds a small member from memory.
    ///
    /// - Throws: `StreamFailure`: the failures of the sink. The archive is then unusable.
    package mutating func append(_ name: String, _ bytes: [UInt8]) throws(StreamFailure) {
        try start(name, UInt64(bytes.count))
        if !bytes.isEmpty { try writer.append(bytes.span) }
        try finishMember()
    }

    /// Writes the two zero blocks and finishes the sink; there must be at least one member.
    package consuming func finish() throws(StreamFailure) -> Downstream.Output {
        precondition(!names.isEmpty, "an archive has at least one member")
        try writer.close()
        try drain()
        return try downstream.finish()
    }

    private mutating func start(_ name: String, _ length: UInt64) throws(StreamFailure) {
        precondition(TarProfile.isName(name.utf8), "a member has a plain name")
        precondition(!names.contains(name), "a name occurs once")
        precondition(names.count < TarProfile.memberLimit, "an archive has at most 16 members")
        guard length <= UInt64(TarProfile.memberSizeLimit) else {
            let kind = StreamFailure.Kind.limitExceeded(
                "member size", found: length, allowed: TarProfile.memberSizeLimit)
            throw StreamFailure(.writingContainer, kind)
        }
        names.append(name)
        try writer.startMember(name, length: length, modified: modified)
        try drain()
    }

    private mutating func finishMember() throws(StreamFailure) {
        try writer.finishMember()
        try drain()
    }

    private mutating func drain() throws(StreamFailure) {
        let output = writer.takeOutput()
        if !output.isEmpty { try downstream.write(output.span) }
    }
}
