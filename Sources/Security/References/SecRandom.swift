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
///   memory unchanged.
public func SecRandomCopyBytes(_ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    do {
        let random = try RandomBytes.secret(count: count)
        random.withBytes { span in
            unsafe span.withUnsafeBytes {
                unsafe bytes.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(bytes), byteCount: $0.count)
            }
        }
        return errSecSuccess
    } catch {
        return errSecAllocate
    }
}
