// Fence: copies bytes directly out of wiped memory, so that there is no other copy.
package import Foundation
package import KCByteStreams

extension SecretBytes {
    /// A copy in ordinary memory that is not wiped, for callers of the API.
    package var data: Data {
        borrowing get {
            withBytes { bytes in unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) } }
        }
    }
}
