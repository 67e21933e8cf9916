internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The plain-text file of gnome-keyring-daemon, which it writes for keyrings with an empty password.
///
/// It has no checksum: a file truncated between two items cannot be distinguished from a complete one.
struct KeyringText {
    private let groups: [KeyFile.Group]
    /// The label of the keyring, from the first group.
    private var label = ""

    /// True for a file whose first group is a keyring's.
    static func begins(_ bytes: borrowing Span<UInt8>) -> Bool {
        var start = 0
        while start < bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? bytes.count
            let line = KeyFile.trimmed(start..<end, in: bytes)
            if !line.isEmpty, bytes[line.lowerBound] != UInt8(ascii: "#") {
                return bytes.extracting(line).starts(with: "[keyring]")
            }
            start = end + 1
        }
        return false
    }

    static func read(_ file: ForeignFile, number: Int) throws -> ForeignContents {
        try file.bytes.withBytes { bytes in
            let text = try KeyringText(groups: KeyFile.groups(in: bytes), bytes)
            var collector = KeyringCollector(keyring: KeyringName(label: text.label, number: number), file)
            try text.addItems(to: &collector, bytes)
            return try collector.finish("plain text", isPlaintext: true)
        }
    }

    private init(groups: [KeyFile.Group], _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        guard let first = groups.first, first.name == "keyring" else {
            throw .damaged("its first group is not 'keyring'")
        }
        self.groups = groups
        if let name = first["display-name"] { label = try name.text(in: bytes) }
    }

    private func addItems(
        to collector: inout KeyringCollector, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        let parts = try attributeGroups()
        var joined = 0
        var altered = 0
        for group in groups.dropFirst() where !group.name.contains(":") {
            if group["secret"]?.hasSeveralLines == true { joined += 1 }
            if group["secret"]?.isAltered(in: bytes) == true { altered += 1 }
            try add(group, parts.attributes[group.name] ?? [], to: &collector, bytes)
        }
        collector.leaveOut("entry of an access list", parts.accessEntries)
        if joined > 0 {
            collector.remark(
                "secrets of several lines, which GNOME Keyring itself cannot read from this file, were joined: "
                    + "\(joined)")
        }
        if altered > 0 {
            collector.remark(
                "secrets with a backslash, or a blank before them, are read as GNOME Keyring reads them, which may not "
                    + "be as they were stored: \(altered)")
        }
    }

    /// The groups with attributes, by the name of their item, and the number of access entries.
    private func attributeGroups() throws(ForeignFailure) -> (attributes: [String: [KeyFile.Group]], accessEntries: Int)
    {
        var items: Set<String> = []
        for group in groups.dropFirst() where !group.name.contains(":") { items.insert(group.name) }
        guard items.count <= KeyringLimits.items else {
            throw .limit("items", found: UInt64(items.count), allowed: UInt64(KeyringLimits.items))
        }
        var attributes: [String: [KeyFile.Group]] = [:]
        var accessEntries = 0
        for group in groups.dropFirst() {
            guard let colon = group.name.firstIndex(of: ":") else { continue }
            let (item, rest) = (String(group.name[..<colon]), group.name[colon...])
            guard items.contains(item) else { throw .damagedLine(group.line, "it belongs to no item") }
            if rest.hasPrefix(":attribute") {
                attributes[item, default: []].append(group)
            } else if rest.hasPrefix(":acl") {
                accessEntries += 1
            } else {
                throw .damagedLine(group.line, "a group is neither an item nor a part of one")
            }
        }
        return (attributes, accessEntries)
    }

    private func add(
        _ group: KeyFile.Group, _ attributes: [KeyFile.Group], to collector: inout KeyringCollector,
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        for value in group.values where !Self.itemKeys.contains(value.key) {
            throw .damagedLine(value.line, "an item has an unknown key")
        }
        // The daemon writes the date after the secret; without it, the end of the secret may be missing.
        guard let modified = try group["mtime"]?.number(in: bytes) else {
            throw .damagedLine(group.line, "an item has no date")
        }
        var item = KeyringItem(label: .text(try group["display-name"]?.text(in: bytes) ?? ""))
        item.number = UInt32(group.name) ?? 0
        item.modified = modified
        item.created = try group["ctime"]?.number(in: bytes) ?? 0
        item.type = UInt32(truncatingIfNeeded: try group["item-type"]?.number(in: bytes) ?? 0)
        guard attributes.count <= KeyringLimits.attributes else {
            throw .limit("attributes", found: UInt64(attributes.count), allowed: UInt64(KeyringLimits.attributes))
        }
        for attribute in attributes {
            guard let name = try attribute["name"]?.text(in: bytes), let value = attribute["value"] else {
                collector.leaveOut("attribute without a name or a value")
                continue
            }
            if try attribute["type"]?.text(in: bytes) == "uint32" {
                item.numbers.append(name)
                item.attributes.append((name, String(try value.number(in: bytes))))
            } else {
                item.attributes.append((name, try value.text(in: bytes)))
            }
        }
        switch (group["secret"], group["binary-secret"]) {
        case (let secret?, nil): try collector.add(item, secret: secret.secret(in: bytes))
        case (nil, let secret?): try collector.add(item, secret: try secret.hexadecimal(in: bytes))
        // The daemon writes an empty secret as a missing one.
        case (nil, nil): try collector.add(item, secret: SecretBytes(capacity: 0))
        case (.some, .some): throw .damagedLine(group.line, "an item has two secrets")
        }
    }

    private static let itemKeys: Set<String> = [
        "item-type", "display-name", "secret", "binary-secret", "mtime", "ctime",
    ]
}
