package import KCByteStreams

/// Reads a pipe; a signal ends the wait for data.
package struct PipeSource: ByteSource {
    private let pipe: OpenFile

    package init(pipe: OpenFile) { self.pipe = pipe }

    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try Descriptor(number: pipe.descriptor).read(into: &output)
    }
}
