/// A byte source over a part of a file; several slices of one file can be read at the same time.
package struct FileSlice: ByteSource {
    private let file: OpenFile
    private var offset: UInt64
    private let end: UInt64

    /// The `length` bytes of `file` from `offset`; `offset + length` must not exceed the largest file size, 2^63 - 1.
    package init(_ file: OpenFile, offset: UInt64, length: UInt64) {
        precondition(offset <= Int64.max && length <= UInt64(Int64.max) - offset, "a slice lies within a file")
        self.file = file
        self.offset = offset
        end = offset + length
    }

    /// All of `file`, at its current length.
    package init(whole file: OpenFile) throws(FileFailure) {
        self.init(file, offset: 0, length: try file.size())
    }

    /// Appends the next bytes.
    ///
    /// - Throws: `StreamFailure` of kind `truncated` if the file has become too short for the slice.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        if offset == end { return }
        let before = output.count
        try file.read(at: offset, upTo: Int(min(UInt64(Int.max), end - offset)), into: &output)
        let count = output.count - before
        if count == 0 { throw StreamFailure(.reading, .truncated, offset: offset) }
        offset += UInt64(count)
    }
}
