internal import ByteStreams
internal import Dispatch

/// A piece of plaintext on its way through a compressor.
///
/// It belongs to the thread that fills and empties it, except between `SegmentPipeline.submit` and the end of
/// `wait()`, when it belongs to its lane. Dispatch orders the memory accesses on both sides of each handover.
private final class Segment: @unchecked Sendable {
    var plaintext: SecretBytes
    var compressed: SecretBytes
    var failure: StreamFailure?
    let isInLane = DispatchGroup()

    init(size: Int) {
        plaintext = SecretBytes(capacity: size)
        compressed = SecretBytes(capacity: 0)
    }

    func compress(with deflater: Deflater) {
        do { try deflater.compress(plaintext, into: &compressed) } catch { failure = error }
    }

    func wait() {
        isInLane.wait()
    }
}

/// A compressor and the queue on which it works through segments, one at a time.
///
/// The compressor is used on the queue, or before anything was submitted to it.
private final class Lane: @unchecked Sendable {
    let deflater: Deflater
    let queue: DispatchQueue

    init(_ deflater: Deflater) {
        self.deflater = deflater
        queue = DispatchQueue(label: "kcbackup.deflate")
    }
}

/// A ring of segments: one is being filled, the others are with the lanes, and they come back in order.
///
/// Segment *n* goes to lane *n* modulo their number. No state is shared but the segments, so that neither the number
/// of threads nor their speed shows in the output.
final class SegmentPipeline {
    private var ring: [Segment]
    private let lanes: [Lane]
    private let segmentSize: Int
    /// How many segments were submitted, and how many of those were taken back.
    private var submitted = 0
    private var taken = 0

    /// Threads that compress at the same time.
    static let laneCount = 2
    // One for each lane, one that waits for a lane, and one that is being filled.
    private static let ringSize = laneCount + 2

    init(segmentSize: Int, level: Int, strategy: DeflateStrategy) throws(StreamFailure) {
        self.segmentSize = segmentSize
        ring = [Segment(size: segmentSize)]
        var lanes: [Lane] = []
        for _ in 0..<Self.laneCount { lanes.append(Lane(try Deflater(level: level, strategy: strategy))) }
        self.lanes = lanes
    }

    deinit {
        // After a failure too: when this returns, no plaintext is in use any more.
        for segment in ring { segment.wait() }
    }

    /// True when nothing was submitted yet.
    var isUnused: Bool { submitted == 0 }

    /// Bytes that still fit into the segment that is being filled.
    var room: Int { segmentSize - filling.plaintext.count }

    /// Adds `bytes`, for which there must be room, and a free segment.
    func fill(_ bytes: borrowing Span<UInt8>) {
        filling.plaintext.append(bytes)
    }

    /// Sends the filled segment to its lane.
    func submit() {
        let segment = filling
        let lane = lanes[submitted % lanes.count]
        lane.queue.async(group: segment.isInLane) { segment.compress(with: lane.deflater) }
        submitted += 1
    }

    /// Compresses the filled segment on this thread; only while `isUnused`.
    func compressHere() {
        precondition(isUnused, "the lanes have the compressors")
        filling.compress(with: lanes[0].deflater)
        submitted += 1
    }

    /// False when the oldest segment must be taken back before more can be filled in.
    var hasFreeSegment: Bool { submitted - taken < Self.ringSize }

    /// True while segments are to be taken back.
    var hasSubmitted: Bool { taken < submitted }

    /// Waits for the oldest segment, lends its compressed bytes and frees it for reuse.
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
        // Small streams never need more than the first.
        if index == ring.count { ring.append(Segment(size: segmentSize)) }
        return ring[index]
    }
}
