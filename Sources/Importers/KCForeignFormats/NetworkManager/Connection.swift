internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// A connection, whose secrets become items, and so does the file itself, so that nothing of it is lost.
struct Connection {
    private let file: ForeignFile
    private let groups: ConnectionFile

    init(_ file: ForeignFile) throws(ForeignFailure) {
        self.file = file
        groups = try file.bytes.withBytes { bytes throws(ForeignFailure) in try ConnectionFile(bytes) }
    }

    /// The keys that are secrets, by group; the properties that nm-settings(5) marks so.
    private static let secretKeys: [ExactText: [ExactText]] = [
        "wifi-security": ["psk", "leap-password", "wep-key0", "wep-key1", "wep-key2", "wep-key3"],
        "802-1x": [
            "password", "password-raw", "ca-cert-password", "client-cert-password", "phase2-ca-cert-password",
            "phase2-client-cert-password", "private-key-password", "phase2-private-key-password", "pin",
        ],
        "wireguard": ["private-key"], "wireguard-peer": ["preshared-key"], "gsm": ["password", "pin"],
        "cdma": ["password"], "adsl": ["password"], "pppoe": ["password"], "macsec": ["mka-cak"],
    ]

    /// Short names of groups that may also have the names of their settings.
    private static let aliases: [ExactText: ExactText] = ["802-11-wireless-security": "wifi-security"]

    private static let peer = "wireguard-peer."
    private static let flags = "-flags"

    func add(to collector: RecordCollector) throws(ForeignFailure) {
        try file.bytes.withBytes { bytes throws(ForeignFailure) in
            let connection = groups["connection"]
            func text(_ key: String) throws(ForeignFailure) -> String? { try connection?[key]?.text(in: bytes) }
            let (id, uuid) = (try text("id"), try text("uuid"))
            let identity = uuid ?? id ?? ""
            let record = RecordWriter(
                collector, identity: identity, ordinal: collector.ordinal(of: identity), title: id ?? file.name)
            record.id = uuid
            (record.created, record.modified) = (file.modified, file.modified)
            record.describe("connection.type", try text("type"))
            try addSecrets(to: record, bytes)
            try record.addAttachment(file.name, SecretBytes(bytes))
            try record.finish()
        }
    }

    private func addSecrets(to record: RecordWriter, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        for group in groups.groups {
            let kind = Self.aliases[group.header] ?? group.header
            if kind == "vpn" {
                leaveOut(group, record)
            } else if kind == "vpn-secrets" {
                for value in group.values { try add(value, of: "vpn", user: vpnUser(bytes), to: record, bytes) }
            } else if let keys = Self.secretKeys[isPeer(kind) ? "wireguard-peer" : kind] {
                leaveOut(group, record)
                let user = try (group["identity"] ?? group["username"])?.text(in: bytes)
                for value in group.values where keys.contains(value.key) {
                    try add(value, of: kind.string, user: user, to: record, bytes)
                }
            }
        }
    }

    private func isPeer(_ kind: ExactText) -> Bool { kind.string.exact.hasPrefix(Self.peer) }

    /// The user of a VPN, under the names that plug-ins have for it.
    private func vpnUser(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String? {
        for key in ["username", "user", "Xauth username"] {
            if let user = try groups["vpn"]?[key]?.text(in: bytes) { return user }
        }
        return nil
    }

    /// Counts the secrets of a group that are elsewhere.
    private func leaveOut(_ group: ConnectionFile.Group, _ record: RecordWriter) {
        file.bytes.withBytes { bytes in
            for value in group.values where value.key.string.exact.hasSuffix(Self.flags) {
                let range = KeyFile.trimmed(value.range, in: bytes)
                // 1: an agent of the user keeps it. 2: nobody does. 4: none is needed.
                guard let flags = bytes.text(range).flatMap({ UInt32($0) }) else { continue }
                if flags & 1 != 0 { record.collector.leaveOut("secret that the keyring of a user has") }
                if flags & 2 != 0 { record.collector.leaveOut("secret that is asked for each time") }
            }
        }
    }

    private func add(
        _ value: KeyFile.Value, of group: String, user: String?, to record: RecordWriter,
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        let secret = value.secret(in: bytes)
        if secret.isEmpty { return }
        let key = value.key.string
        if group.exact == "wifi-security", key.exact == "psk", let network = try network(bytes) {
            try record.addNetwork(network, secret)
        } else if group.exact == "wireguard", key.exact == "private-key" {
            try record.addPrivateKey(secret)
        } else if key.exact == "password" {
            try record.addLogin(user: user, password: secret)
        } else {
            try record.addField("\(group).\(key)", secret)
        }
    }

    /// The name of the Wi-Fi network, as text or as numbers of bytes; nil if it is not UTF-8.
    private func network(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String? {
        guard let value = groups["wifi", "802-11-wireless"]?["ssid"] else { return nil }
        let text = try value.text(in: bytes)
        guard text.utf8.contains(UInt8(ascii: ";")) else { return text }
        var name: [UInt8] = []
        for part in text.exact.split(separator: ";") {
            guard let byte = UInt8(part) else { return text.exact.replacing("\\;", with: ";") }
            name.append(byte)
        }
        return String(validating: name, as: UTF8.self)
    }
}
