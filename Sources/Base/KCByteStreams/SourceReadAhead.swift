/// Reads another source on a thread of its own, so that decoding goes on beside the work of whoever reads.
///
/// A failure of the source is thrown where its next bytes would have come. A source that ends within the first piece
/// needs no thread.
package struct SourceReadAhead<Source: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    /// What the thread uses while it is busy.
    private final class Upstream {
        var source: Source

        init(_ source: consuming Source) { self.source = source }
    }

    private let upstream: Upstream
    private var worker: Worker<ReadPiece>?
    /// The piece that is being delivered; `position` bytes of it were.
    private var current = ReadPiece()
    private var position = 0
    /// The piece that is being read.
    private var next: ReadPiece?

    /// Reads nothing yet.
    package init(_ source: consuming Source) {
        upstream = Upstream(source)
    }

    /// Appends the next bytes.
    ///
    /// - Throws: what the source throws, also whenever it is called again.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        while position == current.count {
            switch current.outcome {
            case .more: advance()
            case .end: return
            case .failure(let failure): throw failure
            }
        }
        position += current.copy(from: position, into: &output)
    }

    /// Moves to the next piece, and has the one after it read.
    private mutating func advance() {
        position = 0
        if let worker, let read = next {
            worker.wait()
            next = current
            current = read
        } else {
            current.fill(from: &upstream.source)
        }
        guard case .more = current.outcome else { return }
        let upstream = upstream
        let worker = self.worker ?? Worker<ReadPiece> { piece in piece.fill(from: &upstream.source) }
        let following = next ?? ReadPiece()
        worker.start(following)
        self.worker = worker
        next = following
    }
}

/// Consecutive bytes of a source, and what follows them.
private final class ReadPiece {
    enum Outcome {
        case more, end
        case failure(StreamFailure)
    }

    private var bytes = SecretBytes(capacity: size)
    private(set) var outcome = Outcome.more

    // Large enough to make the handover cheap, small enough for the processor's caches.
    private static let size = 131_072

    var count: Int { bytes.count }

    /// Appends the bytes from `position` on, as far as there is room, and returns their number.
    func copy(from position: Int, into output: inout OutputSpan<UInt8>) -> Int {
        let count = min(bytes.count - position, output.freeCapacity)
        bytes.withBytes { bytes in output.append(copying: bytes.extracting(position..<position + count)) }
        return count
    }

    /// Replaces the bytes by the next ones.
    func fill<Source: ByteSource & ~Copyable>(from source: inout Source) {
        bytes.removeAll()
        do throws(StreamFailure) {
            while bytes.count < Self.size {
                let before = bytes.count
                try bytes.append(upTo: Self.size - before) { output throws(StreamFailure) in
                    try source.read(into: &output)
                }
                if bytes.count == before {
                    outcome = .end
                    return
                }
            }
        } catch {
            outcome = .failure(error)
        }
    }
}
