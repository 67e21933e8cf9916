internal import CKCLibCrypto
internal import KCByteStreams

/// Owns a libcrypto object and frees it.
@safe struct LibCryptoObject: ~Copyable {
    typealias Free = @convention(c) (OpaquePointer?) -> Void

    let pointer: OpaquePointer
    private let free: Free

    /// Takes ownership of a pointer from libcrypto; NULL throws `failure`.
    init(_ pointer: OpaquePointer?, freedBy free: Free, else failure: CertificateFailure) throws(CertificateFailure) {
        unsafe self.pointer = try LibCrypto.require(pointer, else: failure)
        unsafe self.free = free
    }

    /// Decodes all of `bytes`; on failure, the error carries `rule`.
    ///
    /// - Throws: `CertificateFailure.malformed`, also if bytes are left over.
    init(
        decoding bytes: borrowing Span<UInt8>, freedBy free: Free, rule: String,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) throws(CertificateFailure) {
        var consumed = 0
        let decoded: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            let decoded = unsafe decode(&next, buffer.count)
            if let start = buffer.baseAddress, let next = unsafe next { consumed = unsafe next - start }
            return unsafe decoded
        }
        let object = unsafe try LibCrypto.require(decoded, else: .malformed(rule))
        guard consumed == bytes.count else {
            unsafe free(object)
            throw LibCrypto.failing(.malformed("something follows the end"))
        }
        unsafe pointer = object
        unsafe self.free = free
    }

    deinit {
        unsafe free(pointer)
    }
}

/// An object owned by a libcrypto stack.
@safe struct StackElement {
    let pointer: OpaquePointer
}

extension LibCrypto {
    /// Clears libcrypto's error queue and returns the failure.
    static func failing(_ failure: CertificateFailure) -> CertificateFailure {
        ERR_clear_error()
        return failure
    }

    /// Unwraps a pointer that is NULL on failure.
    static func require<Pointer>(
        _ pointer: Pointer?, else failure: CertificateFailure
    ) throws(CertificateFailure) -> Pointer {
        guard let pointer else { throw failing(failure) }
        return pointer
    }

    /// Checks for libcrypto's success code, 1.
    static func check(_ status: Int32, else failure: CertificateFailure) throws(CertificateFailure) {
        if status != 1 { throw failing(failure) }
    }

    /// The public bytes that an `i2d_…` function writes; it is called twice, first for the length.
    static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(CertificateFailure) -> [UInt8] {
        let length = encode(nil)
        guard length > 0 else { throw failing(.library("encoding")) }
        var written: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var next = buffer.baseAddress
            written = unsafe encode(&next)
            count = written == length ? Int(length) : 0
        }
        guard written == length else { throw failing(.library("encoding")) }
        return bytes
    }

    /// The same for secret bytes.
    static func encodedSecret(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(CertificateFailure) -> SecretBytes {
        let length = encode(nil)
        guard length > 0 else { throw failing(.library("encoding")) }
        return unsafe try secret(length: Int(length)) { start in
            var next: UnsafeMutablePointer<UInt8>? = unsafe start
            return unsafe encode(&next) == length
        }
    }

    /// A secret of exactly `length` bytes that `fill` writes; it returns false on failure.
    static func secret(
        length: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Bool
    ) throws(CertificateFailure) -> SecretBytes {
        try SecretBytes(count: length) { output throws(CertificateFailure) in
            let done: Bool = unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                guard let start = buffer.baseAddress, unsafe fill(start) else { return false }
                count = length
                return true
            }
            guard done else { throw failing(.library("encoding")) }
        }
    }

    /// Every object of a stack, in order.
    static func elements(of stack: OpaquePointer?) -> [StackElement] {
        unsafe (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            unsafe OPENSSL_sk_value(stack, index).map { unsafe StackElement(pointer: OpaquePointer($0)) }
        }
    }

    /// The short name of an object identifier if libcrypto knows one, else its numbers; printable ASCII.
    static func name(of object: OpaquePointer?) -> String {
        let nid = unsafe OBJ_obj2nid(object)
        if nid != NID_undef, let name = unsafe OBJ_nid2sn(nid) { return unsafe String(cString: name) }
        var text = [CChar](repeating: 0, count: 128)
        let length = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard length > 0 else { return "an unknown algorithm" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
