// Fence: fills the caller's memory.
internal import KCByteStreams
internal import KCCryptography

/// A source of random bytes; there is only one, and callers pass nil.
public enum SecRandomRef: Hashable, Sendable {}

/// The only source.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from libcrypto's private generator.
///
/// ```swift
/// var key = [UInt8](repeating: 0, count: 32)
/// guard SecRandomCopyBytes(kSecRandomDefault, key.count, &key) == errSecSuccess else { fatalError() }
/// ```
///
/// - Returns: `errSecSuccess`; `errSecParam` for a negative count; `errSecAllocate` if the generator fails, in which
///   case the memory may be partly filled.
@discardableResult
public func SecRandomCopyBytes(_ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var filled = 0
    while filled < count {
        // In pieces, so that a huge count does not allocate as much memory again.
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

// In bytes.
private let randomPiece = 65_536
