internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

extension KeePassEntry {
    /// A passkey as an object of CXF, with its host and user.
    struct Passkey: ~Copyable {
        let host: String
        let user: String?
        let object: SecretBytes
    }

    /// The parts of an entry that have not become items yet, so that nothing is forgotten or imported twice.
    struct Rest {
        private var strings: [(key: String, value: XMLDocument.Element)]
        private(set) var binaries: [(name: String, value: XMLDocument.Element)]

        init(_ entry: KeePassEntry) {
            strings = entry.strings.filter { key, _ in
                !["Title", "UserName", "URL"].contains(key) && !KeePassEntry.isFurtherAddress(key)
            }
            binaries = entry.binaries
        }

        /// True if there is anything besides empty standard strings.
        func hasContent(in database: KDBXDatabase) -> Bool {
            !binaries.isEmpty
                || strings.contains { key, value in
                    !KeePassEntry.standardKeys.contains(key) || !database.value(value).isEmpty
                }
        }

        mutating func take(_ key: String) -> XMLDocument.Element? {
            strings.firstIndex { $0.key == key }.map { strings.remove(at: $0).value }
        }

        mutating func takeAll() -> [(key: String, value: XMLDocument.Element)] {
            defer { strings = [] }
            return strings
        }

        /// The secret of an item that kcbackup's export stored here; nil if there is none.
        mutating func takeSecret(
            of kind: ExportedRecord.Kind, title: String, user: String?, in database: KDBXDatabase
        ) throws -> SecretBytes? {
            if let index = binaries.firstIndex(where: { $0.name.exact == KDBXWriter.binaryName.exact }),
                let bytes = try database.attachment(binaries[index].value)
            {
                binaries.remove(at: index)
                return bytes
            }
            let key = KDBXWriter.field(of: kind)
            // Other programs add missing strings with empty values.
            guard kind == .oneTimePassword else { return take(key).map { database.value($0) } }
            return takeReturnedOneTimePassword(title: title, user: user, in: database)
        }

        /// A passkey as stored by KeePassXC, converted to an object of CXF.
        mutating func takePasskey(in database: KDBXDatabase) -> Passkey? {
            let prefix = "KPEX_PASSKEY_"
            func has(_ name: String) -> Bool { strings.contains { $0.key == prefix + name } }
            guard has("CREDENTIAL_ID"), has("PRIVATE_KEY_PEM"), has("RELYING_PARTY"),
                let id = take(prefix + "CREDENTIAL_ID"), let pem = take(prefix + "PRIVATE_KEY_PEM"),
                let party = take(prefix + "RELYING_PARTY")
            else { return nil }
            let host = text(of: party, in: database)
            let user = take(prefix + "USERNAME").map { text(of: $0, in: database) }
            var object = SecretJSON()
            object.add("credentialId", text: database.value(id))
            object.add("rpId", host)
            object.add("username", user)
            object.add("userDisplayName", user)
            if let handle = take(prefix + "USER_HANDLE") { object.add("userHandle", text: database.value(handle)) }
            let key = database.value(pem)
            if let der = key.unarmored { object.add("key", base64URL: der) } else { object.add("key", text: key) }
            return Passkey(host: host, user: user, object: object.finish())
        }

        func text(of element: XMLDocument.Element, in database: KDBXDatabase) -> String {
            database.value(element).withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }
    }
}

extension SecretBytes {
    /// Decodes the base64 between the first and last lines of PEM; nil for anything else.
    fileprivate var unarmored: SecretBytes? {
        var text = SecretBytes(capacity: count)
        withBytes { bytes in
            var isInside = false
            var line = 0..<0
            for index in 0...bytes.count where index == bytes.count || bytes[index] == 0x0a {
                line = line.upperBound..<index
                let isFrame = !line.isEmpty && bytes[line.lowerBound] == UInt8(ascii: "-")
                if isFrame {
                    isInside = !isInside
                } else if isInside {
                    for place in line where ![0x20, 0x0d].contains(bytes[place]) { text.append(bytes[place]) }
                }
                line = min(index + 1, bytes.count)..<min(index + 1, bytes.count)
            }
        }
        var der = SecretBytes(capacity: text.count)
        guard !text.isEmpty, text.withBytes({ Base64.decode($0, into: &der) }) else { return nil }
        return consume der
    }
}
