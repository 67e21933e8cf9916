internal import KCByteStreams
internal import KCCryptography

/// `SHA256SUMS` in the format of coreutils' `sha256sum`: hash, two spaces, name.
enum Checksums {
    static func encode(_ sums: [(name: String, digest: SHA256Digest)]) -> [UInt8] {
        Array(sums.map { "\($0.digest.hex)  \($0.name)\n" }.joined().utf8)
    }

    /// Reads the checksums of exactly these members, in exactly this order and format.
    static func decode(
        _ text: [UInt8], of members: [ArchiveMember]
    ) throws(ArchiveFailure) -> [ArchiveMember: SHA256Digest] {
        let lines = String(decoding: text, as: UTF8.self).exact.split(separator: "\n", omittingEmptySubsequences: false)
        var sums: [ArchiveMember: SHA256Digest] = [:]
        for (member, line) in zip(members, lines) { sums[member] = SHA256Digest(hex: String(line.prefix(64))) }
        let found = members.compactMap { member in sums[member].map { (member.name, $0) } }
        guard found.count == members.count, encode(found) == text else {
            throw .damaged(rule: "the checksums are not those of its members")
        }
        return sums
    }
}

/// A source that hashes the bytes that pass through it.
struct HashingSource<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var upstream: Upstream
    private var hash = SHA256()

    init(_ upstream: consuming Upstream) {
        self.upstream = upstream
    }

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let before = output.count
        try upstream.read(into: &output)
        hash.update(output.span.extracting(before..<output.count))
    }

    /// The hash of all bytes read.
    consuming func finalize() -> SHA256Digest {
        hash.finalize()
    }
}
