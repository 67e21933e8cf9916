package import KCByteStreams

/// A file in a tar archive, and the location of its data.
package struct TarMember: Hashable, Sendable {
    /// The name, a single component (`TarProfile.isName`).
    package let name: String
    /// The offset of the data from the start of the tar.
    package let offset: UInt64
    /// The size of the data in bytes, at most `TarProfile.memberSizeLimit`.
    package let length: UInt64
    /// Seconds since 1970, at most `TarProfile.timeLimit`.
    package let modified: Int64

    /// The data, in the file that the directory was read from.
    package func data(in file: OpenFile) -> FileSlice {
        FileSlice(file, offset: offset, length: length)
    }
}

/// The members of a tar archive whose bytes, except those of data, are all as `TarProfile` says.
///
/// A general reader would accept truncated and concatenated archives, and interpret extensions (decision 0023).
package struct TarDirectory: Hashable, Sendable {
    /// The rule that an archive breaks if something was appended to it.
    package static let endRule = "nothing follows the end of the archive"

    /// The members in file order, at least one, with unique names.
    package let members: [TarMember]

    /// Reads all headers of `file` and all padding, but not the data.
    ///
    /// - Throws: `StreamFailure` with the byte offset: `truncated`; `malformed` with the broken rule; `limitExceeded`
    ///   beyond `memberLimit`; `system` and `interrupted` from reading.
    package static func read(
        _ file: OpenFile, memberLimit: Int = TarProfile.memberLimit
    ) throws(StreamFailure) -> TarDirectory {
        var scan = try TarScan(file, memberLimit: memberLimit)
        return TarDirectory(members: try scan.members())
    }
}

/// Strictly scans the blocks of a file.
private struct TarScan {
    private let file: OpenFile
    private let end: UInt64
    private let memberLimit: Int
    private var position: UInt64 = 0

    private static let block = UInt64(TarProfile.blockSize)

    init(_ file: OpenFile, memberLimit: Int) throws(StreamFailure) {
        self.file = file
        self.memberLimit = memberLimit
        do {
            end = try file.size()
        } catch {
            guard case .system(let code, _) = error.problem else { preconditionFailure("fstat fails with an errno") }
            throw StreamFailure(.readingContainer, .system(code))
        }
    }

    mutating func members() throws(StreamFailure) -> [TarMember] {
        var members: [TarMember] = []
        while true {
            let block = try bytes(at: position, Self.block)
            if block.allSatisfy({ $0 == 0 }) { break }
            let header: UstarHeader
            do { header = try UstarHeader(block) } catch { throw broken(error.rule, at: position) }
            guard members.count < memberLimit else {
                throw StreamFailure(
                    .readingContainer, .limitExceeded("members", found: nil, allowed: memberLimit), offset: position)
            }
            guard members.allSatisfy({ $0.name.exact != header.name.exact }) else {
                throw broken("a name occurs once", at: position)
            }
            guard members.allSatisfy({ $0.modified == header.modified }) else {
                throw broken("all members have one time", at: position)
            }
            let offset = position + Self.block
            members.append(
                TarMember(name: header.name, offset: offset, length: header.length, modified: header.modified))
            try skipData(from: offset, header.length)
        }
        guard !members.isEmpty else { throw broken("there is at least one member", at: 0) }
        try checkEnd()
        return members
    }

    /// Skips data, which must exist, and its padding, which must be zero.
    private mutating func skipData(from offset: UInt64, _ length: UInt64) throws(StreamFailure) {
        guard length <= end - min(offset, end) else { throw truncated }
        let dataEnd = offset + length
        let padding = (Self.block - length % Self.block) % Self.block
        guard try bytes(at: dataEnd, padding).allSatisfy({ $0 == 0 }) else {
            throw broken("data is padded with zeros", at: dataEnd)
        }
        position = dataEnd + padding
    }

    /// Checks that the zero block at `position` is followed by a second one and nothing else.
    private func checkEnd() throws(StreamFailure) {
        guard try bytes(at: position + Self.block, Self.block).allSatisfy({ $0 == 0 }) else {
            throw broken("two zero blocks end the archive", at: position + Self.block)
        }
        guard position + 2 * Self.block == end else {
            throw broken(TarDirectory.endRule, at: position + 2 * Self.block)
        }
    }

    /// Exactly `count` bytes, at most a block.
    private func bytes(at offset: UInt64, _ count: UInt64) throws(StreamFailure) -> [UInt8] {
        guard offset <= end, count <= end - offset else { throw truncated }
        return try [UInt8](capacity: Int(count)) { output throws(StreamFailure) in
            while !output.isFull {
                let before = output.count
                try file.read(at: offset + UInt64(before), into: &output)
                if output.count == before { throw truncated }
            }
        }
    }

    private var truncated: StreamFailure { StreamFailure(.readingContainer, .truncated, offset: end) }

    private func broken(_ rule: String, at offset: UInt64) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed(rule), offset: offset)
    }
}
