internal import CKCFIDO2
internal import Glibc
internal import KCByteStreams
internal import KCCryptography

/// A connection to one token.
@safe final class TokenConnection {
    private var device: OpaquePointer?
    private let call = unsafe TokenLibrary.functions

    // Names the purpose of a credential to the token, which keeps those of each purpose apart.
    private static let party = "kcbackup"
    private static let secretSize = 32

    /// Opens a token.
    ///
    /// - Parameters:
    ///   - transport: nil for a device file.
    ///   - patience: how long an answer may take, in milliseconds.
    init(_ path: String, through transport: (any TokenTransport)?, patience: Int32) throws(TokenFailure) {
        try TokenLibrary.load()
        if transport == nil {
            // The library says only that it failed.
            guard unsafe access(path, F_OK) == 0 else { throw .noAnswer }
            guard unsafe access(path, R_OK | W_OK) == 0 else { throw .noAccess(path: path) }
        }
        unsafe device = call.pointee.fido_dev_new()
        guard unsafe device != nil else { throw .refused(call: "fido_dev_new", code: ENOMEM) }
        try check(unsafe call.pointee.fido_dev_set_timeout(device, patience), "fido_dev_set_timeout")
        guard let transport else {
            try open(path)
            return
        }
        var functions = TokenTransports.functions()
        try check(unsafe call.pointee.fido_dev_set_io_functions(device, &functions), "fido_dev_set_io_functions")
        try TokenTransports.with(transport) { path throws(TokenFailure) in try open(path) }
    }

    deinit {
        // Harmless if it was not opened.
        if unsafe device != nil {
            _ = unsafe call.pointee.fido_dev_close(device)
            unsafe call.pointee.fido_dev_free(&device)
        }
    }

    private func open(_ path: String) throws(TokenFailure) {
        try check(unsafe call.pointee.fido_dev_open(device, path), "fido_dev_open")
    }

    private func check(_ code: Int32, _ name: String) throws(TokenFailure) {
        if code == 0 { return }
        let failure = TokenFailure(code, of: name)
        // A signal ends the wait for an answer; the token would go on blinking.
        if failure == .noAnswer, Interruption.isRequested {
            _ = unsafe call.pointee.fido_dev_cancel(device)
            throw .interrupted
        }
        if case .wrongPIN = failure { throw .wrongPIN(triesLeft: triesLeft()) }
        throw failure
    }

    /// True if the token has a PIN.
    var hasPIN: Bool { unsafe call.pointee.fido_dev_has_pin(device) }

    /// How many more wrong PINs the token accepts; nil if it does not say.
    func triesLeft() -> Int? {
        var count: Int32 = 0
        return unsafe call.pointee.fido_dev_get_retry_count(device, &count) == 0 ? Int(count) : nil
    }

    /// Refuses a token that has no secrets.
    func requireSecrets() throws(TokenFailure) {
        guard unsafe call.pointee.fido_dev_is_fido2(device) else { throw .noSecrets }
        var facts = unsafe call.pointee.fido_cbor_info_new()
        defer { unsafe call.pointee.fido_cbor_info_free(&facts) }
        try check(unsafe call.pointee.fido_dev_get_cbor_info(device, facts), "fido_dev_get_cbor_info")
        let count = unsafe call.pointee.fido_cbor_info_extensions_len(facts)
        let names = unsafe call.pointee.fido_cbor_info_extensions_ptr(facts)
        let hasSecrets = (0..<count).contains { index in
            unsafe names?[index].map { unsafe strcmp($0, "hmac-secret") == 0 } == true
        }
        if !hasSecrets { throw .noSecrets }
    }
}

// Credentials.
extension TokenConnection {
    /// Makes a credential, for which the token is touched.
    ///
    /// - Parameter pin: the PIN, if it is needed for that.
    func makeCredential(_ presence: TokenPresence, pin: borrowing SecretBytes?) throws -> TokenCredential {
        let (challenge, user) = (try RandomBytes.bytes(count: 32), try RandomBytes.bytes(count: 32))
        var made = unsafe call.pointee.fido_cred_new()
        defer { unsafe call.pointee.fido_cred_free(&made) }
        let call = unsafe call.pointee
        try check(unsafe call.fido_cred_set_type(made, cfido2_es256), "fido_cred_set_type")
        try check(
            unsafe call.fido_cred_set_clientdata_hash(made, challenge, challenge.count),
            "fido_cred_set_clientdata_hash")
        try check(unsafe call.fido_cred_set_rp(made, Self.party, Self.party), "fido_cred_set_rp")
        try check(
            unsafe call.fido_cred_set_user(made, user, user.count, Self.party, Self.party, nil), "fido_cred_set_user")
        try check(unsafe call.fido_cred_set_extensions(made, cfido2_hmac_secret), "fido_cred_set_extensions")
        // A credential that the token stores would take one of its few places, and is shown by any program.
        try check(unsafe call.fido_cred_set_rk(made, FIDO_OPT_FALSE), "fido_cred_set_rk")
        try check(unsafe withPIN(pin) { unsafe call.fido_dev_make_cred(device, made, $0) }, "fido_dev_make_cred")
        unsafe try verify(made)
        let credential = unsafe TokenCredential(
            id: Self.bytes(call.fido_cred_id_ptr(made), call.fido_cred_id_len(made)),
            publicKey: Self.bytes(call.fido_cred_pubkey_ptr(made), call.fido_cred_pubkey_len(made)), presence: presence)
        guard let credential else { throw TokenFailure.wrongAnswer }
        return credential
    }

    /// Verifies what the token says of a new credential, and its signature if there is one.
    ///
    /// No maker's certificate is trusted: that the token has the key is proved each time that it gives a secret.
    private func verify(_ made: OpaquePointer?) throws(TokenFailure) {
        let call = unsafe call.pointee
        guard unsafe call.fido_cred_flags(made) & cfido2_present != 0, let format = unsafe call.fido_cred_fmt(made)
        else { throw .wrongAnswer }
        if unsafe strcmp(format, "none") == 0 { return }
        let isBySelf = unsafe call.fido_cred_x5c_ptr(made) == nil
        let code = unsafe isBySelf ? call.fido_cred_verify_self(made) : call.fido_cred_verify(made)
        if code != 0 { throw .wrongAnswer }
    }

    /// True if the token has made the credential; it is not touched for that.
    func holds(_ credential: TokenCredential) throws -> Bool {
        var answer = unsafe try request(credential)
        defer { unsafe call.pointee.fido_assert_free(&answer) }
        let call = unsafe call.pointee
        try check(unsafe call.fido_assert_set_up(answer, FIDO_OPT_FALSE), "fido_assert_set_up")
        do throws(TokenFailure) {
            try check(unsafe call.fido_dev_get_assert(device, answer, nil), "fido_dev_get_assert")
            return true
        } catch {
            switch error {
            case .otherToken: return false
            // The token says nothing without its PIN; one whose credentials do not need it is another token.
            case .pinNeeded where credential.presence == .pin: return true
            default: throw error
            }
        }
    }

    /// The secret of a credential for a salt of 32 bytes, for which the token is touched.
    func secret(of credential: TokenCredential, salt: [UInt8], pin: borrowing SecretBytes?) throws -> SecretBytes {
        var answer = unsafe try request(credential)
        defer { unsafe call.pointee.fido_assert_free(&answer) }
        let call = unsafe call.pointee
        try check(unsafe call.fido_assert_set_up(answer, FIDO_OPT_TRUE), "fido_assert_set_up")
        try check(unsafe call.fido_assert_set_extensions(answer, cfido2_hmac_secret), "fido_assert_set_extensions")
        try check(unsafe call.fido_assert_set_hmac_salt(answer, salt, salt.count), "fido_assert_set_hmac_salt")
        try check(unsafe withPIN(pin) { unsafe call.fido_dev_get_assert(device, answer, $0) }, "fido_dev_get_assert")
        unsafe try verify(answer, of: credential)
        guard unsafe call.fido_assert_hmac_secret_len(answer, 0) == Self.secretSize,
            let start = unsafe call.fido_assert_hmac_secret_ptr(answer, 0)
        else { throw TokenFailure.wrongAnswer }
        return SecretBytes(unsafe UnsafeBufferPointer(start: start, count: Self.secretSize).span)
    }

    /// Verifies that the one answer is signed by the key of the credential, and how the user was verified.
    private func verify(_ answer: OpaquePointer?, of credential: TokenCredential) throws(TokenFailure) {
        let call = unsafe call.pointee
        var key = call.es256_pk_new()
        defer { unsafe call.es256_pk_free(&key) }
        guard unsafe call.fido_assert_count(answer) == 1,
            unsafe call.es256_pk_from_ptr(key, credential.publicKey, credential.publicKey.count) == 0,
            unsafe call.fido_assert_verify(answer, 0, cfido2_es256, UnsafeRawPointer(key)) == 0
        else { throw .wrongAnswer }
        let isVerified = unsafe call.fido_assert_flags(answer, 0) & cfido2_verified != 0
        if isVerified != (credential.presence == .pin) { throw .otherPresence }
    }

    /// A request about one credential, with a challenge of its own; the caller frees it.
    private func request(_ credential: TokenCredential) throws -> OpaquePointer? {
        let challenge = try RandomBytes.bytes(count: 32)
        let call = unsafe call.pointee
        var request = call.fido_assert_new()
        do throws(TokenFailure) {
            try check(
                unsafe call.fido_assert_set_clientdata_hash(request, challenge, challenge.count),
                "fido_assert_set_clientdata_hash")
            try check(unsafe call.fido_assert_set_rp(request, Self.party), "fido_assert_set_rp")
            try check(
                unsafe call.fido_assert_allow_cred(request, credential.id, credential.id.count),
                "fido_assert_allow_cred")
        } catch {
            unsafe call.fido_assert_free(&request)
            throw error
        }
        return unsafe request
    }

    /// Calls `body` with a terminated PIN, or none.
    private func withPIN(
        _ pin: borrowing SecretBytes?, _ body: (UnsafePointer<CChar>?) -> Int32
    ) throws(TokenFailure) -> Int32 {
        var text = SecretBytes(capacity: 64)
        switch pin {
        case nil: return body(nil)
        case let pin?: pin.withBytes { text.append($0) }
        }
        // The PIN would be cut short, and the token would count that as a wrong one.
        let isCut = text.withBytes { bytes in bytes.indices.contains { bytes[$0] == 0 } }
        if isCut || text.isEmpty { throw .wrongPIN(triesLeft: nil) }
        text.append(0)
        return text.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
        }
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: unsafe start == nil ? 0 : count))
    }
}
