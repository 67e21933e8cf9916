internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

extension KeePassEntry {
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

        /// Takes the secrets that kcbackup's export wrote as they are, beside their forms in other programs.
        mutating func takeOwnSecrets(of returned: ReturnedRecord, in database: KDBXDatabase) {
            if let seed = take(KDBXWriter.seedName) {
                returned.setSecret(of: .oneTimePassword, database.value(seed))
            }
            guard let own = take(KDBXWriter.passkeyName).map({ database.value($0) }) else { return }
            guard let passkey = Passkey(json: own) else { return }
            returned.setSecret(of: .passkey(passkey.host), own)
        }

        /// A passkey as stored by KeePassXC.
        mutating func takePasskey(in database: KDBXDatabase) -> Passkey? {
            let prefix = Self.passkeyPrefix
            func has(_ name: String) -> Bool { strings.contains { $0.key == prefix + name } }
            guard has("PRIVATE_KEY_PEM"), has("RELYING_PARTY"),
                // Versions before 2.7.7 have the ID under another name.
                let id = take(prefix + "CREDENTIAL_ID") ?? take(prefix + "GENERATED_USER_ID"),
                let pem = take(prefix + "PRIVATE_KEY_PEM"), let party = take(prefix + "RELYING_PARTY")
            else { return nil }
            var passkey = Passkey(
                id: text(of: id, in: database), host: text(of: party, in: database), key: database.value(pem))
            passkey.userName = take(prefix + "USERNAME").map { text(of: $0, in: database) }
            passkey.displayName = passkey.userName
            passkey.userHandle = take(prefix + "USER_HANDLE").map { Passkey.unpadded(text(of: $0, in: database)) }
            for (name, flag) in KDBXWriter.passkeyFlags {
                passkey.add(name, take(prefix + flag).map { text(of: $0, in: database) })
            }
            return passkey
        }

        private static let passkeyPrefix = "KPEX_PASSKEY_"

        /// True if parts of a passkey are left, without its private key.
        var hasTornPasskey: Bool { strings.contains { $0.key.exact.hasPrefix(Self.passkeyPrefix) } }

        func text(of element: XMLDocument.Element, in database: KDBXDatabase) -> String {
            database.value(element).withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }
    }
}
