import CKCTestSupport

/// A key pair on P-256 of a token in software.
@safe final class TokenKey {
    private let key: OpaquePointer
    /// x before y.
    let point: [UInt8]

    init() {
        guard let key = unsafe ctest_key_new() else { preconditionFailure("there is no key") }
        unsafe self.key = key
        var point = [UInt8](repeating: 0, count: 64)
        precondition(unsafe ctest_key_point(key, &point) == 0)
        self.point = point
    }

    deinit { unsafe ctest_key_free(key) }

    /// 32 bytes that the holder of the key of `point` gets too.
    func agree(with point: [UInt8]) -> [UInt8]? {
        var shared = [UInt8](repeating: 0, count: 32)
        return unsafe ctest_key_agree(key, point, &shared) == 0 ? shared : nil
    }

    /// A signature with SHA-256, in DER.
    func sign(_ message: [UInt8]) -> [UInt8] {
        var (signature, length) = ([UInt8](repeating: 0, count: 72), 0)
        precondition(unsafe ctest_key_sign(key, message, message.count, &signature, &length) == 0)
        return Array(signature.prefix(length))
    }

    /// The public key in COSE (RFC 9053).
    func cose(_ algorithm: Int) -> CBOR {
        .map([
            (.integer(1), .integer(2)), (.integer(3), .integer(algorithm)), (.integer(-1), .integer(1)),
            (.integer(-2), .bytes(Array(point.prefix(32)))), (.integer(-3), .bytes(Array(point.suffix(32)))),
        ])
    }
}

/// AES-256-CBC with an IV of zeros.
func blocks(_ input: [UInt8], _ key: [UInt8], encrypts: Bool) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: input.count)
    precondition(unsafe ctest_aes_cbc(encrypts ? 1 : 0, key, input, input.count, &output) == 0)
    return output
}
