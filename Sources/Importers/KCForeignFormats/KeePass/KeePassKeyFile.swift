internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// A file that opens a KeePass database, alone or together with a password.
enum KeePassKeyFile {
    /// The 32-byte key that is derived from the file.
    ///
    /// - Throws: `ForeignFailure` (`damagedKeyFile`, `unknownVariant`), `CryptographyFailure`.
    static func key(_ file: ForeignFile) throws -> SecretBytes {
        if let key = try xml(file) { return key }
        if file.bytes.count == 32 { return file.bytes.copy() }
        if file.bytes.count == 64, let key = hexadecimal(file.bytes) { return key }
        return try HashFunction.sha256.hash(file.bytes)
    }

    /// The key of an XML file of version 1 (base64) or 2 (hexadecimal, with a hash); nil if the file is not such XML.
    private static func xml(_ file: ForeignFile) throws -> SecretBytes? {
        let document: XMLDocument
        do throws(XMLFailure) {
            document = try file.bytes.withBytes { bytes throws(XMLFailure) in try XMLDocument(bytes) }
        } catch {
            // Any file can be a key file, but this one was meant to be XML.
            if isMeantAsXML(file) { throw ForeignFailure.damagedKeyFile("its XML is malformed") }
            return nil
        }
        guard document.root.name == "KeyFile" else { return nil }
        let keys = document.children("Key", of: document.root).flatMap { document.children("Data", of: $0) }
        guard keys.count == 1 else { throw ForeignFailure.damagedKeyFile("it does not have exactly one key") }
        let data = keys[0]
        let stated = document.child("Meta", of: document.root).flatMap { document.child("Version", of: $0) }
        let version = stated.map { document.string(of: $0) } ?? "1"
        let text = document.withText(of: data) { SecretBytes(withoutSpace: $0) }
        var bytes = SecretBytes(capacity: 32)
        if version.exact.hasPrefix("1") {
            guard text.withBytes({ Base64.decode($0, into: &bytes) }), !bytes.isEmpty else {
                throw ForeignFailure.damagedKeyFile("its key is not base64")
            }
            return bytes
        }
        guard version.exact.hasPrefix("2") else {
            throw ForeignFailure.unknownVariant("a key file of version \(version)")
        }
        guard let key = hexadecimal(text) else { throw ForeignFailure.damagedKeyFile("its key is not hexadecimal") }
        if let stated = data.attributes["Hash"] {
            let hash = key.withBytes { SHA256.hash($0).bytes.prefix(4) }
            guard Hexadecimal.encode(Array(hash)) == stated.lowercased() else {
                throw ForeignFailure.damagedKeyFile("its key does not match its hash")
            }
        }
        return key
    }

    /// True for a file that begins like the XML of a key file.
    private static func isMeantAsXML(_ file: ForeignFile) -> Bool {
        let mark = Array("<KeyFile".utf8)
        return file.bytes.withBytes { bytes in bytes.indices.prefix(1_024).contains { bytes.matches(mark, at: $0) } }
    }

    private static func hexadecimal(_ text: borrowing SecretBytes) -> SecretBytes? {
        text.withBytes { $0.isEmpty ? nil : $0.bytes(ofHexadecimal: $0.indices) }
    }
}

extension SecretBytes {
    /// Copies a text without its white space.
    init(withoutSpace bytes: borrowing Span<UInt8>) {
        self.init(capacity: bytes.count)
        for index in bytes.indices where ![0x20, 0x09, 0x0a, 0x0d].contains(bytes[index]) { append(bytes[index]) }
    }
}
