internal import ByteStreams
internal import Cryptography

/// `SHA256SUMS` in the spelling of coreutils' `sha256sum`: hash, two spaces, name.
enum Checksums {
    static func encode(_ sums: [(name: String, digest: SHA256Digest)]) -> [UInt8] {
        Array(sums.map { "\($0.digest.hex)  \($0.name)\n" }.joined().utf8)
    }
}

/// A source that hashes what passes through it.
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

    /// The hash of all that was read.
    consuming func finalize() -> SHA256Digest {
        hash.finalize()
    }
}
