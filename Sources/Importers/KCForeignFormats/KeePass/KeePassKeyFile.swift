internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCXMLDocuments

/// A file that opens a KeePass database, alone or together with a password.
enum KeePassKeyFile {
    /// The 32-byte key that is derived from the file.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    static func key(_ file: ForeignFile) throws -> SecretBytes {
        if let key = try xml(file) { return key }
        if file.bytes.count == 32 { return file.bytes.copy() }
        if file.bytes.count == 64, let key = hexadecimal(file.bytes) { return key }
        return try file.bytes.withBytes { bytes throws(CryptographyFailure) in try HashFunction.sha256.hash(bytes) }
    }

    /// The key of an XML file of version 1 (base64) or 2 (hexadecimal, with a hash); nil if the file is not such XML.
    private static func xml(_ file: ForeignFile) throws -> SecretBytes? {
        let document: XMLDocument
        do throws(XMLFailure) {
            document = try file.bytes.withBytes { bytes throws(XMLFailure) in try XMLDocument(bytes) }
        } catch {
            return nil
        }
        guard document.root.name == "KeyFile", let key = document.child("Key", of: document.root),
            let data = document.child("Data", of: key)
        else { return nil }
        let stated = document.child("Meta", of: document.root).flatMap { document.child("Version", of: $0) }
        let version = stated.map { document.string(of: $0) } ?? "1"
        let text = document.withText(of: data) { SecretBytes(withoutSpace: $0) }
        var bytes = SecretBytes(capacity: 32)
        if version.hasPrefix("1") {
            guard text.withBytes({ Base64.decode($0, into: &bytes) }) else {
                throw ForeignFailure.damaged("the key file has no key")
            }
            return bytes
        }
        guard let key = hexadecimal(text) else { throw ForeignFailure.damaged("the key file has no key") }
        if let stated = data.attributes["Hash"] {
            let hash = key.withBytes { SHA256.hash($0).bytes.prefix(4) }
            guard Hexadecimal.encode(Array(hash)) == stated.lowercased() else {
                throw ForeignFailure.damaged("the key file does not match its hash")
            }
        }
        return key
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
