public import ByteStreams
internal import Dispatch

/// Compresses into gzip (RFC 1952): many members, so that `zcat` reads it and segments are compressed side by side.
///
/// The output depends on the input and the level alone, not on how the input was cut or how many threads ran.
public struct GzipEncoder<Downstream: ByteSink & ~Copyable>: ByteSink, ~Copyable {
    private var downstream: Downstream
    private let level: Int32
    private var filling: SegmentJob
    private var running: [SegmentJob] = []
    private var idle: [SegmentJob] = []
    private var hasWritten = false

    /// Starts a stream at a zlib level from 1 (fastest) to 9 (smallest).
    public init(to downstream: consuming Downstream, level: Int = 1) throws(StreamFailure) {
        precondition((1...9).contains(level), "zlib's levels go from 1 to 9")
        self.downstream = downstream
        self.level = Int32(level)
        filling = try SegmentJob(level: Int32(level))
    }

    /// Takes all of `bytes`.
    public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, offset + SegmentJob.segmentSize - filling.input.count)
            filling.input.append(bytes.extracting(offset..<end))
            offset = end
            if filling.input.count == SegmentJob.segmentSize { try startFilled() }
        }
    }

    /// Compresses what is held back and finishes the stage below; an empty input becomes one empty member.
    public consuming func finish() throws(StreamFailure) -> Downstream.Output {
        if !filling.input.isEmpty || !hasWritten { try startFilled() }
        while !running.isEmpty { try passOnOldest() }
        return try downstream.finish()
    }

    private mutating func startFilled() throws(StreamFailure) {
        hasWritten = true
        filling.start()
        running.append(filling)
        if running.count > SegmentJob.mostRunning { try passOnOldest() }
        filling = if let job = idle.popLast() { job } else { try SegmentJob(level: level) }
    }

    private mutating func passOnOldest() throws(StreamFailure) {
        let job = running.removeFirst()
        guard job.waitUntilDone() else { throw StreamFailure(.compressing, .library("zlib failed")) }
        try job.output.withBytes { bytes throws(StreamFailure) in try downstream.write(bytes) }
        job.input.removeAll()
        idle.append(job)
    }
}

/// One segment on its way through zlib on another thread.
///
/// Ownership passes with `start` and comes back with `waitUntilDone`; in between only the worker touches it.
final class SegmentJob: @unchecked Sendable {
    // Large enough that the 32 KiB window is rarely cold, small enough that all buffers of two streams stay within
    // the 8 MiB that may be locked into memory by default.
    static let segmentSize = 256 << 10
    // Two cores, and one segment waiting for each.
    static let mostRunning = 3

    private static let workers = DispatchQueue(label: "kcbackup.gzip", attributes: .concurrent)

    var input = SecretBytes(capacity: segmentSize)
    private(set) var output = SecretBytes(capacity: segmentSize)
    private let deflater: Deflater
    private let done = DispatchSemaphore(value: 0)
    private var succeeded = false

    init(level: Int32) throws(StreamFailure) {
        deflater = try Deflater(level: level)
    }

    func start() {
        Self.workers.async { [self] in
            succeeded = deflater.compress(input, into: &output)
            done.signal()
        }
    }

    func waitUntilDone() -> Bool {
        done.wait()
        return succeeded
    }
}
