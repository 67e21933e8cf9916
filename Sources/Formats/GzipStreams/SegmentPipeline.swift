internal import ByteStreams

/// A ring of segments: one is being filled, the others are in the lanes, and they come back in order.
///
/// Segment *n* goes to lane *n* modulo the number of lanes. Only the segments are shared, so the output depends neither
/// on the number of threads nor on their speed.
final class SegmentPipeline {
    private var ring: [Segment]
    private let lanes: [Lane]
    private let segmentSize: Int
    /// The number of segments submitted, and of those taken back.
    private var submitted = 0
    private var taken = 0

    /// Threads that compress at the same time.
    static let laneCount = 2
    // One for each lane, one that waits for a lane, and one that is being filled.
    private static let ringSize = laneCount + 2

    init(segmentSize: Int, level: Int) throws(StreamFailure) {
        self.segmentSize = segmentSize
        ring = [Segment(size: segmentSize)]
        var lanes: [Lane] = []
        for _ in 0..<Self.laneCount { lanes.append(Lane(try Deflater(level: level))) }
        self.lanes = lanes
    }

    deinit {
        // After a failure too: no plaintext is in use any more when this returns.
        for segment in ring { segment.wait() }
    }

    /// True if nothing was submitted yet.
    var isUnused: Bool { submitted == 0 }

    /// Bytes that still fit into the current segment.
    var room: Int { segmentSize - filling.plaintext.count }

    /// Adds `bytes`, which must fit into a free segment.
    func fill(_ bytes: borrowing Span<UInt8>) {
        filling.plaintext.append(bytes)
    }

    /// Sends the filled segment to its lane.
    func submit() {
        lanes[submitted % lanes.count].take(filling)
        submitted += 1
    }

    /// Compresses the filled segment on this thread, so that a small stream needs no other; only while `isUnused`.
    func compressHere() {
        lanes[0].compressHere(filling)
        submitted += 1
    }

    /// False if the oldest segment must be taken back before more can be added.
    var hasFreeSegment: Bool { submitted - taken < Self.ringSize }

    /// True while segments are to be taken back.
    var hasSubmitted: Bool { taken < submitted }

    /// Waits for the oldest segment, passes its compressed bytes to `consume` and frees it for reuse.
    func takeOldest(_ consume: (borrowing Span<UInt8>) throws(StreamFailure) -> Void) throws(StreamFailure) {
        let segment = ring[taken % Self.ringSize]
        segment.wait()
        if let failure = segment.failure { throw failure }
        try segment.compressed.withBytes(consume)
        segment.plaintext.removeAll()
        segment.compressed.removeAll()
        taken += 1
    }

    private var filling: Segment {
        let index = submitted % Self.ringSize
        // Small streams use only the first.
        if index == ring.count { ring.append(Segment(size: segmentSize)) }
        return ring[index]
    }
}
