// Fence: fills memory of the caller.
internal import ByteStreams
internal import Cryptography

/// A source of random bytes; there is one.
public enum SecRandomRef: Hashable, Sendable {}

/// The only source.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from libcrypto's generator for secrets.
///
/// - Returns: `errSecSuccess`; `errSecParam` for a negative count; `errSecAllocate` when there is no randomness, with the
///   memory filled in part.
public func SecRandomCopyBytes(_ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var filled = 0
    while filled < count {
        // In pieces, so that a count that cannot be meant is not allocated a second time.
        let size = min(count - filled, randomPiece)
        guard let random = try? RandomBytes.secret(count: size) else { return errSecAllocate }
        random.withBytes { span in
            unsafe span.withUnsafeBytes { piece in
                guard let start = piece.baseAddress else { return }
                unsafe (bytes + filled).copyMemory(from: start, byteCount: piece.count)
            }
        }
        filled += size
    }
    return errSecSuccess
}

// Bytes that are made at a time.
private let randomPiece = 65_536
