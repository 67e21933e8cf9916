internal import CKCLibCrypto
package import KCByteStreams

/// SHA-1 as KWallet has computed it since 2020: words are read and written little-endian, and a message whose length is
/// 55 modulo 64 gets one block too many.
///
/// No library implements it; each block is processed by libcrypto.
package enum LittleEndianSHA1 {
    /// Appends the 20-byte hash of `bytes` to `output`, since it may be a key.
    package static func hash(_ bytes: borrowing Span<UInt8>, into output: inout SecretBytes) {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        let whole = bytes.count - bytes.count % 64
        update(&state, bytes.extracting(..<whole))
        let zeros = bytes.count % 64 == 55 ? 64 : (119 - bytes.count % 64) % 64
        var end = SecretBytes(bytes.extracting(whole...))
        end.append(0x80)
        end.append(zeroBlock.span.extracting(..<zeros))
        // The length is written big-endian, as in SHA-1, so it is swapped together with the rest.
        let length = UInt64(bytes.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) { end.append(UInt8(truncatingIfNeeded: length >> shift)) }
        end.withBytes { update(&state, $0) }
        for index in state.indices {
            for shift in stride(from: 0, through: 24, by: 8) {
                output.append(UInt8(truncatingIfNeeded: state[index] >> shift))
            }
            state[index] = 0
        }
    }

    private static let zeroBlock = [UInt8](repeating: 0, count: 64)

    private static func update(_ state: inout [UInt32], _ blocks: borrowing Span<UInt8>) {
        unsafe blocks.withUnsafeBufferPointer { buffer in
            for start in stride(from: 0, to: buffer.count, by: 64) {
                unsafe kcbackup_sha1_step(&state, buffer.baseAddress?.advanced(by: start))
            }
        }
    }
}
