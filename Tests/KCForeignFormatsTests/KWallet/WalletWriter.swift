import KCByteStreams
import KCCryptography
import KCTestSupport

/// Writes KDE wallets in the forms of KDE 4 and KDE Frameworks.
struct WalletWriter {
    enum Form: CaseIterable, Sendable {
        /// KDE 4: SHA-1, and Blowfish with byte-swapped words.
        case old
        /// The same with a salt, as some programs write it.
        case oldWithSalt
        /// Frameworks since 2020: KDE's own variant of SHA-1, and Blowfish without byte-swapped words.
        case standardWithoutSalt
        case standard

        var hasSalt: Bool { self == .oldWithSalt || self == .standard }
        fileprivate var isSwapping: Bool { self == .old || self == .oldWithSalt }
    }

    enum Value {
        case password(String?)
        case stream([UInt8]?)
        case map([(String, String?)])
        case raw(UInt32, [UInt8])
    }

    var form = Form.standard
    var password = "correct horse"
    var salt = [UInt8](1...56)
    var folders: [(name: String, entries: [(key: String, value: Value)])] = examples
    /// Changes the plaintext before its hash is computed.
    var alter: (inout [UInt8]) -> Void = { _ in }

    static let examples: [(name: String, entries: [(key: String, value: Value)])] = [
        (
            "Passwords",
            [
                ("mail", .password("p\u{e4}ss 🔑\n")), ("empty", .password("")), ("none", .password(nil)),
                ("blob", .stream([0, 0xff, 0x80])), ("no blob", .stream(nil)), ("other", .raw(7, [1, 2])),
            ]
        ),
        (
            "Form Data",
            [
                ("https://example.com:8443/login#form", .map([("login", "ada"), ("password", "secret")])),
                ("https://example.org/#", .map([("password", "two"), ("remember", ""), ("username", "bob")])),
                ("no address", .map([("password", "three"), ("username", nil)])),
            ]
        ), ("", []),
    ]

    /// The contents, as they are within the encryption.
    var data: [UInt8] {
        folders.flatMap { folder in
            text(folder.name) + big(UInt32(folder.entries.count))
                + folder.entries.flatMap { text($0.key) + encoded($0.value) }
        }
    }

    private func index() throws -> [UInt8] {
        try folders.reduce(big(UInt32(folders.count))) { index, folder in
            try index + md5(folder.name) + big(UInt32(folder.entries.count))
                + folder.entries.flatMap { try md5($0.key) }
        }
    }

    /// The message that GnuPG encrypts: the ID of the key, the index and the contents.
    func message(data other: [UInt8]? = nil) throws -> [UInt8] {
        let (index, data) = (try index(), other ?? data)
        return text("0123ABCD") + big(UInt32(index.count)) + index + big(UInt32(data.count)) + data
    }

    func file() throws -> [UInt8] {
        var data = data
        let index = try index()
        alter(&data)
        let check = hash(data)
        var plain = [UInt8](repeating: 3, count: 8) + big(UInt32(data.count)) + data
        plain += [UInt8](repeating: 4, count: (8 - (plain.count + check.count) % 8) % 8) + check
        let head: [UInt8] = form.hasSalt ? [0, 1, 3, 2] : [0, 0, 0, 0]
        return Array("KWALLET\n\r\0\r\n".utf8) + head + index + (try encrypted(plain))
    }

    private func encrypted(_ plain: [UInt8]) throws -> [UInt8] {
        let iv = [UInt8](repeating: 0, count: form.hasSalt ? 8 : 0)
        var cipher = try BlockCipher(form.hasSalt ? .blowfishCBC : .blowfishECB, .encrypt, key: key(), iv: iv.span)
        var bytes = SecretBytes(copying: form.isSwapping ? swapped(plain) : plain)
        try cipher.process(inPlace: &bytes)
        return form.isSwapping ? swapped(bytes.bytesForTest()) : bytes.bytesForTest()
    }

    private func key() throws -> SecretBytes {
        let password = Array(password.utf8)
        if form.hasSalt {
            return try PBKDF2.derive(
                password: SecretBytes(copying: password), salt: salt.span, rounds: 50_000, hash: .sha512, count: 56)
        }
        func iterated(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            (0..<2_000).reduce(Array(bytes)) { one, _ in hash(one) }
        }
        let pieces = [
            password.prefix(16), password.dropFirst(16).prefix(16), password.dropFirst(32).prefix(16),
            password.dropFirst(48),
        ]
        switch password.count {
        case ...16: return SecretBytes(copying: iterated(pieces[0]))
        case ...32: return SecretBytes(copying: iterated(pieces[0]) + iterated(pieces[1]))
        case ...48:
            return SecretBytes(copying: iterated(pieces[0]) + iterated(pieces[1]) + iterated(pieces[2]).prefix(16))
        default: return SecretBytes(copying: pieces.flatMap { iterated($0).prefix(14) })
        }
    }

    private func hash(_ bytes: [UInt8]) -> [UInt8] {
        if form.isSwapping { return HashFunction.sha1.digest(of: bytes.span) }
        var hash = SecretBytes(capacity: 20)
        LittleEndianSHA1.hash(bytes.span, into: &hash)
        return hash.bytesForTest()
    }

    private func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .password(let password):
            let value = text(password)
            return big(1) + big(UInt32(value.count)) + value
        case .stream(let bytes): return big(2) + (bytes.map { big(UInt32($0.count)) + $0 } ?? big(.max))
        case .map(let fields):
            let value = big(UInt32(fields.count)) + fields.flatMap { text($0.0) + text($0.1) }
            return big(3) + big(UInt32(value.count)) + value
        case .raw(let type, let bytes): return big(type) + big(UInt32(bytes.count)) + bytes
        }
    }

    private func md5(_ text: String) throws -> [UInt8] {
        try HashFunction.md5.hash(text.utf8.span).bytesForTest()
    }

    private func text(_ text: String?) -> [UInt8] {
        guard let text else { return big(.max) }
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        return big(UInt32(units.count)) + units
    }

    private func swapped(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 4).flatMap { bytes[$0..<$0 + 4].reversed() }
    }

    private func big(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
