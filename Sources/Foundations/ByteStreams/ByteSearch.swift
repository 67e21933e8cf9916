internal import Glibc

extension Span<UInt8> {
    /// The index of the first `byte` at or after `start`, or nil.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        unsafe withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress, start < buffer.count else { return nil }
            guard let found = unsafe memchr(base + start, Int32(byte), buffer.count - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }
}
