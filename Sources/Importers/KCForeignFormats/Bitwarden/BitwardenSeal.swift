internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources

/// The password protection of a Bitwarden export.
struct BitwardenSeal {
    /// How the key is derived from the password.
    private enum Derivation {
        case pbkdf2(rounds: Int)
        case argon2(Argon2.Cost)
    }

    // The ranges that Bitwarden accepts: lower values do not protect, and higher ones are a denial-of-service attack.
    private static let pbkdf2Rounds: ClosedRange<Int64> = 5_000...2_000_000
    private static let argon2Rounds: ClosedRange<Int64> = 2...10
    private static let argon2MiB: ClosedRange<Int64> = 16...1_024
    private static let argon2Lanes: ClosedRange<Int64> = 1...16

    private let salt: [UInt8]
    private let derivation: Derivation
    /// A sealed text that only serves to verify the password.
    private let validation: SealedText
    private let data: SealedText

    /// Reads the parameters of an export's protection.
    init(_ json: ForeignJSON) throws(ForeignFailure) {
        let root = json.root
        guard let salt = json.text(root["salt"]), let validation = json.text(root["encKeyValidation_DO_NOT_EDIT"]),
            let data = json.text(root["data"])
        else { throw .damaged("its salt or data is missing") }
        // The base64 text itself is the salt, not the bytes that it encodes.
        self.salt = Array(salt.utf8)
        self.validation = try SealedText(validation)
        self.data = try SealedText(data)
        func number(_ name: String, _ range: ClosedRange<Int64>) throws(ForeignFailure) -> Int64 {
            guard let number = json.integer(root[name]) else { throw .damaged("'\(name)' is missing") }
            guard range.contains(number) else {
                if number < range.lowerBound { throw .damaged("'\(name)' is lower than Bitwarden allows") }
                throw .limit("'\(name)'", found: UInt64(number), allowed: UInt64(range.upperBound))
            }
            return number
        }
        switch json.integer(root["kdfType"]) {
        case 0: derivation = .pbkdf2(rounds: Int(try number("kdfIterations", Self.pbkdf2Rounds)))
        case 1:
            derivation = .argon2(
                Argon2.Cost(
                    iterations: UInt32(try number("kdfIterations", Self.argon2Rounds)),
                    memoryInKiB: UInt32(try number("kdfMemory", Self.argon2MiB)) << 10,
                    lanes: UInt32(try number("kdfParallelism", Self.argon2Lanes))))
        case let other?: throw .unknownVariant("key derivation \(other)")
        case nil: throw .damaged("'kdfType' is missing")
        }
    }

    /// The decrypted export, in the form of an unprotected one.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.bitwarden)) { password in
            let key = try masterKey(password)
            let cipherKey = try HKDF.expand(pseudoRandomKey: key, info: Array("enc".utf8), count: 32)
            let macKey = try HKDF.expand(pseudoRandomKey: key, info: Array("mac".utf8), count: 32)
            let isRight = try validation.isGenuine(macKey)
            guard try data.isGenuine(macKey) else {
                throw isRight ? ForeignFailure.damaged("its data was altered") : ForeignFailure.wrongPassword
            }
            guard isRight else { throw ForeignFailure.damaged("its validation field was altered") }
            opened = try ForeignJSON(data.open(cipherKey))
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }

    private func masterKey(_ password: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        switch derivation {
        case .pbkdf2(let rounds):
            try PBKDF2.derive(password: password, salt: salt.span, rounds: rounds, hash: .sha256, count: 32)
        case .argon2(let cost):
            try Argon2.derive(password: password, salt: SHA256.hash(salt.span).bytes, .id, cost, count: 32)
        }
    }
}

/// Text of the form `2.iv|ciphertext|mac`, each part in base64: AES-256-CBC, then HMAC-SHA-256.
private struct SealedText {
    private let iv: [UInt8]
    private let ciphertext: [UInt8]
    private let mac: [UInt8]

    init(_ text: String) throws(ForeignFailure) {
        let parts = text.exact.split(separator: "|", omittingEmptySubsequences: false)
        guard text.exact.hasPrefix("2."), parts.count == 3 else {
            throw .unknownVariant("an encryption other than AES-256-CBC with HMAC-SHA-256")
        }
        guard let iv = Base64.decode(String(parts[0].dropFirst(2))), iv.count == 16,
            let ciphertext = Base64.decode(String(parts[1])), !ciphertext.isEmpty,
            ciphertext.count.isMultiple(of: 16), let mac = Base64.decode(String(parts[2])), mac.count == 32
        else { throw .damaged("its encrypted part does not consist of whole blocks") }
        self.iv = iv
        self.ciphertext = ciphertext
        self.mac = mac
    }

    func isGenuine(_ key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        var hmac = try HMAC(key: key)
        try hmac.update(iv.span)
        try hmac.update(ciphertext.span)
        return constantTimeEqual(try hmac.finalize(), mac)
    }

    /// Decrypts the text, which must have been found genuine.
    func open(_ key: borrowing SecretBytes) throws -> SecretBytes {
        var plaintext = try BlockCipher.decrypt(ciphertext.span, .aes256CBC, key: key, iv: iv.span)
        guard plaintext.removePadding(blockSize: 16) else { throw ForeignFailure.damaged("its padding is wrong") }
        return plaintext
    }
}
