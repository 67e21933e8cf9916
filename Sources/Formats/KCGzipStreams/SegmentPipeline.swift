internal import KCByteStreams

/// A ring of segments: one is being filled, the others are being compressed, and they are taken back in order.
///
/// Segment *n* goes to lane *n* modulo the number of lanes. Nothing but the segments is shared, so the output depends
/// neither on the number of threads nor on their speed.
final class SegmentPipeline {
    private var ring: [Segment]
    private let lanes: [Lane]
    private let segmentSize: Int
    /// The number of segments submitted, and the number taken back.
    private var submitted = 0
    private var taken = 0

    /// The number of threads that compress at the same time.
    static let laneCount = 2
    // The ring has one segment per lane, one that waits for a lane, and one that is being filled.
    private static let ringSize = laneCount + 2

    init(segmentSize: Int, level: Int) throws(StreamFailure) {
        self.segmentSize = segmentSize
        ring = [Segment(size: segmentSize)]
        var lanes: [Lane] = []
        for _ in 0..<Self.laneCount { lanes.append(Lane(try Deflater(level: level))) }
        self.lanes = lanes
    }

    deinit {
        // Wait even after a failure: no plaintext is in use when this returns.
        for segment in ring { segment.wait() }
    }

    /// True if nothing has been submitted yet.
    var isUnused: Bool { submitted == 0 }

    /// The number of bytes that still fit into the current segment.
    var room: Int { segmentSize - filling.plaintext.count }

    /// Adds `bytes`, which must fit into the current segment.
    func fill(_ bytes: borrowing Span<UInt8>) {
        filling.plaintext.append(bytes)
    }

    /// Sends the filled segment to its lane.
    func submit() {
        lanes[submitted % lanes.count].take(filling)
        submitted += 1
    }

    /// Compresses the current segment on the caller's thread, so that a small stream needs no other; only while
    /// `isUnused`.
    func compressHere() {
        lanes[0].compressHere(filling)
        submitted += 1
    }

    /// False if the oldest segment must be taken back before more can be added.
    var hasFreeSegment: Bool { submitted - taken < Self.ringSize }

    /// True while there are segments to take back.
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
        // Small streams use only the first segment.
        if index == ring.count { ring.append(Segment(size: segmentSize)) }
        return ring[index]
    }
}
