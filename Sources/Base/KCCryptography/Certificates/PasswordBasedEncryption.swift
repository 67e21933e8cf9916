internal import CKCLibCrypto

/// A limit on the total cost of a file's key derivations.
struct DerivationBudget {
    private var spent = 0

    /// Charges one derivation of `iterations`.
    ///
    /// - Throws: `CertificateFailure` (`tooLarge`; `malformed` if not positive).
    mutating func spend(_ iterations: Int64) throws(CertificateFailure) {
        guard iterations >= 1 else { throw .malformed("a number of iterations is not positive") }
        guard let iterations = Int(exactly: iterations) else { throw .tooLarge(limit: .iterations) }
        try CertificateLimit.iterations.check(iterations)
        try CertificateLimit.totalIterations.check(spent + iterations)
        spent += iterations
    }

    /// Charges a derivation with `number` iterations; a missing number means 1.
    mutating func spend(number: UnsafePointer<ASN1_INTEGER>?) throws(CertificateFailure) {
        guard let number = unsafe number else { return try spend(1) }
        unsafe try spend(integer(number))
    }
}

/// The value of an INTEGER that fits into 64 bits.
private func integer(_ number: UnsafePointer<ASN1_INTEGER>?) throws(CertificateFailure) -> Int64 {
    var value: Int64 = 0
    try LibCrypto.check(unsafe ASN1_INTEGER_get_int64(&value, number), else: .malformed("a number is out of range"))
    return value
}

/// A checked `AlgorithmIdentifier` of password-based encryption: PKCS#12, PBES1 or PBES2 (RFC 7292, RFC 8018).
///
/// The costs stated in the file are charged before any key is derived.
@safe struct PasswordBasedEncryption {
    /// The libcrypto context that has the cipher; NULL for the default one.
    let context: OpaquePointer?

    /// Looks up an algorithm.
    init(
        _ algorithm: UnsafePointer<X509_ALGOR>?, budget: inout DerivationBudget
    ) throws(CertificateFailure) {
        guard let algorithm = unsafe algorithm?.pointee else { throw .malformed("an algorithm is missing") }
        let nid = unsafe OBJ_obj2nid(algorithm.algorithm)
        if nid == NID_pbes2 {
            unsafe context = try Self.pbes2(algorithm, &budget)
            return
        }
        var cipher: Int32 = 0
        guard unsafe EVP_PBE_find(EVP_PBE_TYPE_OUTER, nid, &cipher, nil, nil) == 1, cipher > 0 else {
            throw LibCrypto.failing(.unsupported(unsafe LibCrypto.name(of: algorithm.algorithm)))
        }
        let parameters = unsafe ASN1_TYPE_unpack_sequence(kcbackup_pbe_item(), algorithm.parameter)
        guard let parameters = unsafe parameters?.assumingMemoryBound(to: PBEPARAM.self) else {
            throw LibCrypto.failing(.malformed("the parameters of an encryption are not there"))
        }
        defer { unsafe PBEPARAM_free(parameters) }
        unsafe try budget.spend(number: parameters.pointee.iter)
        unsafe context = try Self.context(of: cipher, name: LibCrypto.name(of: algorithm.algorithm))
    }

    private static func pbes2(
        _ algorithm: X509_ALGOR, _ budget: inout DerivationBudget
    ) throws(CertificateFailure) -> OpaquePointer? {
        let parameters = unsafe ASN1_TYPE_unpack_sequence(kcbackup_pbes2_item(), algorithm.parameter)
        guard let parameters = unsafe parameters?.assumingMemoryBound(to: PBE2PARAM.self) else {
            throw LibCrypto.failing(.malformed("the parameters of an encryption are not there"))
        }
        defer { unsafe PBE2PARAM_free(parameters) }
        guard let derivation = unsafe parameters.pointee.keyfunc?.pointee,
            let encryption = unsafe parameters.pointee.encryption?.pointee
        else { throw .malformed("the parameters of an encryption are not there") }
        switch unsafe OBJ_obj2nid(derivation.algorithm) {
        case NID_id_pbkdf2: unsafe try spendPBKDF2(derivation.parameter, &budget)
        case NID_id_scrypt: unsafe try checkScrypt(derivation.parameter)
        default: throw .unsupported(unsafe LibCrypto.name(of: derivation.algorithm))
        }
        let cipher = unsafe OBJ_obj2nid(encryption.algorithm)
        return unsafe try context(of: cipher, name: LibCrypto.name(of: encryption.algorithm))
    }

    private static func spendPBKDF2(
        _ parameter: UnsafeMutablePointer<ASN1_TYPE>?, _ budget: inout DerivationBudget
    ) throws(CertificateFailure) {
        let parameters = unsafe ASN1_TYPE_unpack_sequence(kcbackup_pbkdf2_item(), parameter)
        guard let parameters = unsafe parameters?.assumingMemoryBound(to: PBKDF2PARAM.self) else {
            throw LibCrypto.failing(.malformed("the parameters of PBKDF2 are not there"))
        }
        defer { unsafe PBKDF2PARAM_free(parameters) }
        unsafe try budget.spend(number: parameters.pointee.iter)
    }

    private static func checkScrypt(_ parameter: UnsafeMutablePointer<ASN1_TYPE>?) throws(CertificateFailure) {
        let parameters = unsafe ASN1_TYPE_unpack_sequence(kcbackup_scrypt_item(), parameter)
        guard let parameters = unsafe parameters?.assumingMemoryBound(to: SCRYPT_PARAMS.self) else {
            throw LibCrypto.failing(.malformed("the parameters of scrypt are not there"))
        }
        defer { unsafe SCRYPT_PARAMS_free(parameters) }
        var work: Int64 = 1
        let cost = unsafe try integer(parameters.pointee.costParameter)
        let blockSize = unsafe try integer(parameters.pointee.blockSize)
        let parallelization = unsafe try integer(parameters.pointee.parallelizationParameter)
        for factor in [cost, blockSize, parallelization] {
            guard factor >= 1 else { throw .malformed("a parameter of scrypt is not positive") }
            let (product, overflow) = work.multipliedReportingOverflow(by: factor)
            guard !overflow, product <= CertificateLimit.scryptWork.value else { throw .tooLarge(limit: .scryptWork) }
            work = product
        }
        let memory = 128 * cost * blockSize
        // The limit must cover libcrypto's small buffers too; 1 MiB is enough for them.
        try CertificateLimit.scryptMemory.check(Int(memory) + 1 << 20)
    }

    /// The context that provides a cipher: the default one, or OpenSSL 3's legacy provider.
    private static func context(of cipher: Int32, name: String) throws(CertificateFailure) -> OpaquePointer? {
        guard let cipherName = unsafe OBJ_nid2sn(cipher), cipher != NID_undef else { throw .unsupported(name) }
        if unsafe has(cipherName, in: nil) { return nil }
        if let legacy = unsafe LibCrypto.legacyContext, unsafe has(cipherName, in: legacy) { return unsafe legacy }
        throw .unsupported(name)
    }

    private static func has(_ cipher: UnsafePointer<CChar>, in context: OpaquePointer?) -> Bool {
        guard let found = unsafe EVP_CIPHER_fetch(context, cipher, nil) else {
            ERR_clear_error()
            return false
        }
        unsafe EVP_CIPHER_free(found)
        return true
    }
}
