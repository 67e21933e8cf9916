import KCByteStreams
import KCCryptography
import KCTestSupport

/// An item that a test writes to a keyring.
struct WrittenItem: Sendable {
    var label: String
    /// The attributes; the value of a number begins with `#`.
    var attributes: [(name: String, value: String)] = []
    var secret: [UInt8]
    var type: UInt32 = 0
    var accessEntries = 0

    static let examples = [
        WrittenItem(
            label: "A page",
            attributes: [("service", "web"), ("username", "ada"), ("xdg:schema", "org.example.Login")],
            secret: Array("pass\nword\0\u{e9}".utf8)),
        WrittenItem(
            label: "Share",
            attributes: [
                ("user", "ada"), ("server", "files.example.com"), ("protocol", "smb"), ("port", "#445"),
                ("object", "home"), ("domain", "WORK"), ("authtype", "ntlm"),
            ], secret: [0xff, 0, 0x80], type: 1, accessEntries: 2),
        WrittenItem(label: "", attributes: [], secret: []),
        WrittenItem(label: "A thought", attributes: [("topic", "none")], secret: Array("dear diary".utf8), type: 2),
    ]
}

/// Writes encrypted keyrings, as described by gnome-keyring's `docs/file-format.txt` and by other readers.
struct KeyringWriter {
    var name = "test"
    var password = "correct horse"
    var iterations: UInt32 = 3
    var items = WrittenItem.examples
    var salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    /// Changes the plaintext after its MD5 hash is computed.
    var alter: (inout [UInt8]) -> Void = { _ in }

    func file() throws -> [UInt8] {
        var bytes = Array("GnomeKeyring\n\r\0\n".utf8) + [0, 0, 0, 0]
        bytes.text(name)
        bytes += [UInt8](repeating: 0, count: 8 + 8 + 4 + 4)
        bytes.number(iterations)
        bytes += salt + [UInt8](repeating: 0, count: 16)
        bytes.number(UInt32(items.count))
        for (index, item) in items.enumerated() {
            bytes.number(UInt32(index + 1))
            bytes.number(item.type)
            bytes.number(UInt32(item.attributes.count))
            for (name, value) in item.attributes { try bytes.attribute(name, value, isHashed: true) }
        }
        let ciphertext = try encrypted(try plaintext())
        bytes.number(UInt32(ciphertext.count))
        return bytes + ciphertext
    }

    private func plaintext() throws -> [UInt8] {
        var bytes: [UInt8] = []
        for item in items {
            bytes.text(item.label)
            // The daemon writes an empty secret as an absent one.
            if item.secret.isEmpty { bytes.number(.max) } else { bytes.data(item.secret) }
            bytes += [0, 0, 0, 0, 0x43, 0xb7, 0x1c, 0x80, 0, 0, 0, 0, 0x43, 0xb7, 0x1c, 0x81]
            bytes.number(.max)
            bytes += [UInt8](repeating: 0, count: 16)
            bytes.number(UInt32(item.attributes.count))
            for (name, value) in item.attributes { try bytes.attribute(name, value, isHashed: false) }
            bytes.number(UInt32(item.accessEntries))
            for _ in 0..<item.accessEntries {
                bytes.number(7)
                bytes.text("a program")
                bytes.text("/usr/bin/program")
                bytes.number(.max)
                bytes.number(0)
            }
        }
        alter(&bytes)
        bytes += [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
        return try HashFunction.md5.hash(bytes.span).bytesForTest() + bytes
    }

    private func encrypted(_ plaintext: [UInt8]) throws -> [UInt8] {
        var digest = Array(password.utf8) + salt
        for _ in 0..<iterations { digest = SHA256.hash(digest.span).bytes }
        let key = SecretBytes(copying: digest.prefix(16))
        let iv = Array(digest.suffix(16))
        var cipher = try BlockCipher(.aes128CBC, .encrypt, key: key, iv: iv.span)
        var ciphertext = SecretBytes(capacity: plaintext.count)
        try cipher.process(plaintext.span, into: &ciphertext)
        return ciphertext.bytesForTest()
    }
}

extension [UInt8] {
    fileprivate mutating func number(_ number: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func data(_ bytes: [UInt8]) {
        number(UInt32(bytes.count))
        self += bytes
    }

    fileprivate mutating func text(_ text: String) { data(Array(text.utf8)) }

    fileprivate mutating func attribute(_ name: String, _ value: String, isHashed: Bool) throws {
        text(name)
        if value.hasPrefix("#"), let plain = UInt32(value.dropFirst()) {
            number(1)
            number(isHashed ? 0x1827_3645 ^ plain ^ (plain << 16 | plain >> 16) : plain)
        } else {
            number(0)
            let md5 = try HashFunction.md5.hash(Array(value.utf8).span).bytesForTest()
            text(isHashed ? Hexadecimal.encode(md5) : value)
        }
    }
}
