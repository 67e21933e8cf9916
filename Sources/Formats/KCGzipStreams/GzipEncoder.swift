package import KCByteStreams

/// Compresses to gzip (RFC 1952), with one member per segment, so that two threads can work on one stream.
///
/// The output depends only on the plaintext and the level, not on how the plaintext is split into writes or on the
/// threads.
package struct GzipEncoder<Downstream: ByteSink & ~Copyable>: ByteSink, ~Copyable {
    private var downstream: Downstream
    private let pipeline: SegmentPipeline

    /// The size of a member's plaintext in bytes.
    ///
    /// Larger segments would not compress better (the window is 32 KiB), and two encoders with eight segments each stay
    /// within the default limit of 8 MiB of locked memory.
    package static var segmentSize: Int { 262_144 }

    /// Starts a stream.
    ///
    /// Level 1 is the fastest and 9 the smallest; see `docs/performance.md`.
    ///
    /// - Throws: `StreamFailure` of kind `library` if there is no memory.
    package init(to downstream: consuming Downstream, level: Int = 1) throws(StreamFailure) {
        precondition((1...9).contains(level), "deflate has the levels 1 to 9")
        pipeline = try SegmentPipeline(segmentSize: Self.segmentSize, level: level)
        self.downstream = downstream
    }

    /// Compresses all of `bytes`.
    package mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        var start = 0
        while start < bytes.count {
            // A full segment is submitted only when more data follows, so that the last one can be recognized.
            if pipeline.room == 0 { try submit() }
            let end = min(bytes.count, start + pipeline.room)
            pipeline.fill(bytes.extracting(start..<end))
            start = end
        }
    }

    /// Compresses the rest, so that there is at least one member, and finishes the sink.
    package consuming func finish() throws(StreamFailure) -> Downstream.Output {
        if pipeline.isUnused {
            pipeline.compressHere()
        } else {
            try submit()
        }
        while pipeline.hasSubmitted { try passOn() }
        return try downstream.finish()
    }

    private mutating func submit() throws(StreamFailure) {
        pipeline.submit()
        if !pipeline.hasFreeSegment { try passOn() }
    }

    private mutating func passOn() throws(StreamFailure) {
        try pipeline.takeOldest { compressed throws(StreamFailure) in try downstream.write(compressed) }
    }
}
