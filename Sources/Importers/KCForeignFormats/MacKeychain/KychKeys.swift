internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The two keys of a macOS keychain: one encrypts the keys stored in it, the other authenticates them.
///
/// Source: Apple's securityd, `dbcrypto.cpp` and `ssblob.h`; libsecurity_cdsa_utilities, `wrapKeyCms.cpp`.
struct KychKeys: ~Copyable {
    private let encryption: SecretBytes
    private let signing: SecretBytes

    private static let blobMagic: UInt32 = 0xfade_0711
    private static let rounds = 1_000
    private static let masterLength = 24
    private static let signingLength = 20
    private static let codeLength = 20
    private static let ivLength = 8
    /// The outer of the two initialization vectors for a key, the same for all keys (RFC 3217).
    private static let outerIV: [UInt8] = [0x4a, 0xdd, 0xa2, 0x2c, 0x79, 0xe8, 0x21, 0x05]

    /// The bytes that identify a keychain, and do not change after its creation.
    static func signature(of blob: Range<Int>, _ bytes: borrowing Span<UInt8>) -> [UInt8] {
        blob.count < 32 ? [] : bytes.array(blob.lowerBound + 16..<blob.lowerBound + 32)
    }

    // MARK: Opening the keychain

    /// Derives the master key from a password.
    static func master(
        _ password: borrowing SecretBytes, _ blob: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws -> SecretBytes {
        guard blob.count >= 92 else { throw tooShort }
        let salt = bytes.extracting(blob.lowerBound + 44..<blob.lowerBound + 64)
        return try PBKDF2.derive(password: password, salt: salt, rounds: rounds, hash: .sha1, count: masterLength)
    }

    /// The master key that a SystemKey file holds for a keychain.
    ///
    /// - Throws: `ForeignFailure.wrongPassword` if the file is not a SystemKey, or is that of another keychain.
    static func master(
        systemKey: borrowing Span<UInt8>, _ blob: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> SecretBytes {
        guard systemKey.count == 48, systemKey.matches([0xfa, 0xde, 0x07, 0x11]),
            systemKey.array(32..<48) == signature(of: blob, bytes)
        else { throw .wrongPassword }
        return SecretBytes(systemKey.extracting(8..<32))
    }

    /// Opens the blob of the keychain itself.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword`; `wrongPasswordOrDamaged` if the key fits but its code does not).
    init(_ master: borrowing SecretBytes, _ blob: Range<Int>, _ bytes: borrowing Span<UInt8>) throws {
        let head = try Head(blob, shortest: 92, bytes)
        let start = blob.lowerBound
        let ciphertext = bytes.extracting(head.ciphertext)
        var plain = SecretBytes(capacity: 0)
        if head.ciphertext.count.isMultiple(of: 8) {
            plain = try BlockCipher.decrypt(
                ciphertext, .tripleDESCBC, key: master, iv: bytes.extracting(start + 64..<start + 72))
        }
        guard plain.removePadding(blockSize: 8) else { throw ForeignFailure.wrongPassword }
        guard plain.count >= Self.masterLength + Self.signingLength else { throw ForeignFailure.wrongPasswordOrDamaged }
        let encryption = plain.withBytes { SecretBytes($0.extracting(..<Self.masterLength)) }
        let signing = plain.withBytes {
            SecretBytes($0.extracting(Self.masterLength..<Self.masterLength + Self.signingLength))
        }
        let code = try Self.code(
            head.version, signing, bytes.extracting(start..<start + 72),
            bytes.extracting(start + 92..<head.ciphertext.upperBound))
        guard constantTimeEqual(code, bytes.array(start + 72..<start + 92)) else {
            throw ForeignFailure.wrongPasswordOrDamaged
        }
        self.encryption = encryption
        self.signing = signing
    }

    // MARK: Keys in the keychain

    /// Decrypts the key in a blob.
    ///
    /// - Throws: `KeyProblem`, `CryptographyFailure`.
    func key(in blob: Range<Int>, _ bytes: borrowing Span<UInt8>) throws -> SecretBytes {
        let start = blob.lowerBound
        let head = try failing(as: KeyProblem.init, Head(blob, shortest: 136, bytes))
        if bytes.extracting(start + 116..<start + 136).matches(Array("Cleartext public key".utf8)) {
            return SecretBytes(bytes.extracting(head.ciphertext))
        }
        let code = try Self.code(
            head.version, signing, bytes.extracting(start..<start + 116),
            bytes.extracting(start + 136..<head.ciphertext.upperBound))
        guard constantTimeEqual(code, bytes.array(start + 116..<start + 136)), head.ciphertext.count.isMultiple(of: 8)
        else { throw KeyProblem.notGenuine }
        var outer = try BlockCipher.decrypt(
            bytes.extracting(head.ciphertext), .tripleDESCBC, key: encryption, iv: Self.outerIV.span)
        guard outer.removePadding(blockSize: 8), outer.count > Self.ivLength else { throw KeyProblem.notGenuine }
        outer.reverse()
        let iv = outer.withBytes { $0.array(0..<Self.ivLength) }
        guard iv == bytes.array(start + 16..<start + 24), outer.count.isMultiple(of: 8) else {
            throw KeyProblem.notGenuine
        }
        var inner = try outer.withBytes { span in
            try BlockCipher.decrypt(span.extracting(Self.ivLength...), .tripleDESCBC, key: encryption, iv: iv.span)
        }
        guard inner.removePadding(blockSize: 8) else { throw KeyProblem.notGenuine }
        return try inner.withBytes { span in
            // An access list precedes the key.
            guard span.count >= 4 else { throw KeyProblem.notGenuine }
            let length = (0..<4).reduce(0) { $0 << 8 | Int(span[$1]) }
            guard length <= span.count - 4 else { throw KeyProblem.notGenuine }
            return SecretBytes(span.extracting((4 + length)...))
        }
    }

    /// Why a key cannot be read although the keychain was opened.
    enum KeyProblem: Error, Hashable {
        /// Its authentication code or its content is wrong.
        case notGenuine
        /// Its blob is malformed.
        case malformed(String)
        /// Its blob has an unknown version.
        case unknownVariant(String)

        fileprivate init(_ failure: ForeignFailure) {
            switch failure {
            case .unknownVariant(let what): self = .unknownVariant(what)
            case .damaged(let rule): self = .malformed(rule)
            default: self = .notGenuine
            }
        }

        /// The problem in words.
        var words: String {
            switch self {
            case .notGenuine: "its authentication code does not match its content"
            case .malformed(let rule): "its key is damaged: \(rule)"
            case .unknownVariant(let what): "its key is of an unknown kind: \(what)"
            }
        }
    }

    /// The header of a blob: its version, and the position of the ciphertext.
    private struct Head {
        let version: UInt32
        let ciphertext: Range<Int>

        init(_ blob: Range<Int>, shortest: Int, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
            guard blob.count >= shortest else { throw tooShort }
            var cursor = ByteCursor(blob)
            guard try cursor.uint32(in: bytes) == blobMagic else { throw .damaged("a blob does not begin as one") }
            version = try cursor.uint32(in: bytes)
            guard [0x100, 0x101, 0x200].contains(version) else {
                throw .unknownVariant("version \(version) of a blob")
            }
            let start = Int(try cursor.uint32(in: bytes))
            let end = Int(try cursor.uint32(in: bytes))
            guard start >= shortest, start <= end, end <= blob.count else { throw tooShort }
            ciphertext = blob.lowerBound + start..<blob.lowerBound + end
        }
    }

    private static let tooShort = ForeignFailure.damaged("a blob ends before its parts do")

    /// HMAC-SHA-1 over two parts; version 0x100 finishes it after the first one and starts it again.
    private static func code(
        _ version: UInt32, _ key: borrowing SecretBytes, _ first: borrowing Span<UInt8>,
        _ second: borrowing Span<UInt8>
    ) throws -> [UInt8] {
        guard version == 0x100 else {
            var hmac = try HMAC(.sha1, key: key)
            try hmac.update(first)
            try hmac.update(second)
            return try hmac.finalize()
        }
        var inner = padded(key, 0x36)
        inner.append(first)
        var middle = padded(key, 0x5c)
        try HashFunction.sha1.hash(inner, into: &middle)
        let again = padded(key, 0x36)
        again.withBytes { middle.append($0) }
        middle.append(second)
        var outer = padded(key, 0x5c)
        try HashFunction.sha1.hash(middle, into: &outer)
        let code = try HashFunction.sha1.hash(outer)
        return code.withBytes { $0.array(0..<codeLength) }
    }

    private static func padded(_ key: borrowing SecretBytes, _ mask: UInt8) -> SecretBytes {
        key.withBytes { span in SecretBytes(copying: (0..<64).map { ($0 < span.count ? span[$0] : 0) ^ mask }) }
    }

    // MARK: Passwords

    /// Decrypts the password of a record; nil if it is malformed.
    ///
    /// - Parameter key: the key with the record's label.
    static func password(
        _ data: Range<Int>, _ key: borrowing SecretBytes, _ bytes: borrowing Span<UInt8>
    ) throws -> SecretBytes? {
        let ivStart = data.lowerBound + labelLength
        let ciphertext = ivStart + ivLength..<data.upperBound
        if ciphertext.isEmpty { return SecretBytes(capacity: 0) }
        guard ciphertext.count.isMultiple(of: 8), key.count == masterLength else { return nil }
        var plain = try BlockCipher.decrypt(
            bytes.extracting(ciphertext), .tripleDESCBC, key: key, iv: bytes.extracting(ivStart..<ivStart + ivLength))
        guard plain.removePadding(blockSize: 8) else { return nil }
        return plain
    }

    /// The label of the key that opens a record's data; nil if the data is not an encrypted password.
    static func label(of data: Range<Int>, _ bytes: borrowing Span<UInt8>) -> [UInt8]? {
        guard data.count >= labelLength + ivLength, bytes.extracting(data).starts(with: passwordPrefix) else {
            return nil
        }
        return bytes.array(data.prefix(labelLength))
    }

    /// The beginning of the labels of keys that encrypt passwords; 16 random bytes follow.
    static let passwordPrefix = "ssgp"
    private static let labelLength = 20
}

extension SecretBytes {
    fileprivate mutating func reverse() {
        withMutableBytes { span in
            for index in 0..<span.count / 2 { span.swapAt(index, span.count - 1 - index) }
        }
    }
}
