internal import ByteStreams
internal import Console

/// Collects the results of a run and writes them in large pieces; JSON is in ASCII when a terminal shows it.
struct ResultBuffer {
    /// What is not written yet.
    var bytes: [UInt8] = []

    private let session: Session

    // Large enough that writes do not count.
    private static let size = 65_536

    init(_ session: Session) {
        self.session = session
    }

    /// Writes what there is, if it is a large piece; to be called between two values of JSON.
    mutating func flushIfLarge() throws(Failure) {
        if bytes.count >= Self.size { try flush() }
    }

    /// Writes what there is.
    mutating func flush() throws(Failure) {
        if session.style.isJSON, session.world.terminal.showsOutput {
            var ascii: [UInt8] = []
            appendASCII(bytes.span, to: &ascii)
            bytes = ascii
        }
        try session.write(bytes.span)
        bytes.removeAll(keepingCapacity: true)
    }
}
