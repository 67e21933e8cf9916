internal import CKCArgon2
package import KCByteStreams
package import KCCryptography

/// The password-based key derivation function Argon2 (RFC 9106), for files of other programs.
///
/// ```swift
/// let cost = Argon2.Cost(iterations: 10, memoryInKiB: 65_536, lanes: 2)
/// let key = try Argon2.derive(password: password, salt: salt, .id, cost, count: 32)
/// ```
package enum Argon2 {
    /// The variant of the function.
    package enum Kind: Hashable, Sendable {
        /// Argon2d, whose memory accesses depend on the password.
        case d
        /// Argon2id.
        case id
    }

    /// The version of the function: 1.3, which RFC 9106 describes, or its predecessor 1.0.
    package enum Version: UInt32, Hashable, Sendable {
        case old = 0x10
        case current = 0x13
    }

    /// The cost of a derivation.
    package struct Cost: Hashable, Sendable {
        /// The number of passes over the memory.
        package var iterations: UInt32
        package var memoryInKiB: UInt32
        /// The number of threads.
        package var lanes: UInt32
        package var version: Version

        /// Creates a cost; the caller decides whether it is acceptable.
        package init(iterations: UInt32, memoryInKiB: UInt32, lanes: UInt32, version: Version = .current) {
            self.iterations = iterations
            self.memoryInKiB = memoryInKiB
            self.lanes = lanes
            self.version = version
        }
    }

    /// Derives `count` bytes (at least 4); the library wipes its memory.
    ///
    /// - Parameter salt: at least 8 bytes.
    package static func derive(
        password: borrowing SecretBytes, salt: [UInt8], _ kind: Kind, _ cost: Cost, count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        let type = kind == .d ? Argon2_d : Argon2_id
        var key = SecretBytes(capacity: count)
        try key.append(upTo: count) { output throws(CryptographyFailure) in
            let status: Int32 = password.withBytes { span in
                unsafe span.withUnsafeBufferPointer { password in
                    unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
                        let status = unsafe cargon2_hash(
                            cost.iterations, cost.memoryInKiB, cost.lanes, password.baseAddress, password.count, salt,
                            salt.count, buffer.baseAddress, count, type, cost.version.rawValue)
                        if status == ARGON2_OK.rawValue { filled = count }
                        return status
                    }
                }
            }
            if status != ARGON2_OK.rawValue { throw failure(status, cost) }
        }
        return key
    }

    private static func failure(_ status: Int32, _ cost: Cost) -> CryptographyFailure {
        switch status {
        case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue: .outOfMemory(bytes: Int(cost.memoryInKiB) << 10)
        case ARGON2_THREAD_FAIL.rawValue: .library("Argon2")
        default: .unsupportedParameters("Argon2")
        }
    }
}
