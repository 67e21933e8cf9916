internal import KCByteStreams
internal import KCKeychainKeys

/// Identifies a version of a row by its seal, which binds every attribute and begins with random bytes.
///
/// Each change of a row makes a new seal. Restoring an unencrypted archive writes the seals that it has: rows with the same
/// seal have the same contents.
package struct RowSeal: Hashable, Sendable {
    /// The number of bytes of a seal that are compared.
    package static let size = SealedFrame.mark.count
    private let high: UInt64
    private let low: UInt64

    /// Takes bytes that `append` once wrote; nil if there are not `size` of them.
    package init?(bytes: borrowing Span<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        high = bytes.word(at: 0)
        low = bytes.word(at: 8)
    }

    /// Takes the sealed secret of a row; nil if it is none.
    init?(of blob: borrowing Span<UInt8>) {
        guard SealedFrame(measuring: blob) != nil else { return nil }
        self.init(bytes: blob.extracting(SealedFrame.mark))
    }

    /// Appends the bytes by which seals are compared.
    func append(to record: inout [UInt8]) {
        for half in [high, low] {
            for shift in stride(from: 0, to: 64, by: 8) { record.append(UInt8(truncatingIfNeeded: half >> shift)) }
        }
    }
}
