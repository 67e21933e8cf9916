// Fence: copies bytes out of wiped memory at once, so that no other copy of them is made.
internal import ByteStreams
internal import Foundation

extension SecretBytes {
    /// A copy in ordinary memory, which nothing wipes: what the API hands out.
    var data: Data {
        borrowing get {
            withBytes { bytes in unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) } }
        }
    }
}
