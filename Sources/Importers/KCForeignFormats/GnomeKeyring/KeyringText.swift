internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The plain-text file of gnome-keyring-daemon, which it writes for keyrings with an empty password.
///
/// The format has no checksum: a file truncated between two items cannot be distinguished from a complete one.
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
            let collector = KeyringCollector(keyring: KeyringName(label: text.label, number: number), file)
            try text.addItems(to: collector, bytes)
            return try collector.finish("plain text", isPlaintext: true)
        }
    }

    /// The label and the number of items.
    static func outline(of file: ForeignFile) throws(ForeignFailure) -> (label: String, items: Int) {
        try file.bytes.withBytes { bytes throws(ForeignFailure) in
            let text = try KeyringText(groups: KeyFile.groups(in: bytes), bytes)
            return (text.label, text.groups.dropFirst().count { !$0.isPart })
        }
    }

    private init(groups: [KeyFile.Group], _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        guard let first = groups.first, first.name == "keyring" else {
            throw .damaged("its first group is not 'keyring'")
        }
        if let damage = first.damage { throw damage }
        self.groups = groups
        if let name = first["display-name"] { label = try name.text(in: bytes) }
    }

    private func addItems(to collector: KeyringCollector, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let parts = try Parts(groups)
        var joined = 0
        var altered = 0
        for (line, failure) in parts.strays {
            try collector.record("line \(line)") { () throws(ForeignFailure) in throw failure }
        }
        for group in groups.dropFirst() where !group.isPart {
            try collector.record("line \(group.line)") { () throws(ForeignFailure) in
                if let damage = group.damage ?? parts.damage[group.name] { throw damage }
                try add(group, parts.attributes[group.name] ?? [], to: collector, bytes)
                if group["secret"]?.hasSeveralLines == true { joined += 1 }
                if group["secret"]?.isAltered(in: bytes) == true { altered += 1 }
            }
        }
        // If the last item ends early, the file may have been cut there, and more items may be missing.
        if !collector.isEmpty, let last = groups.dropFirst().last(where: { !$0.isPart }), last["mtime"] == nil {
            throw Self.undated(last)
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

    private static func undated(_ group: KeyFile.Group) -> ForeignFailure {
        .damagedLine(group.line, "an item has no date")
    }

    /// The groups that belong to items, by the names of the items.
    private struct Parts {
        var attributes: [ExactText: [KeyFile.Group]] = [:]
        /// Why items cannot be read, apart from their own groups.
        var damage: [ExactText: ForeignFailure] = [:]
        /// The groups that belong to no item, with their lines.
        var strays: [(line: Int, ForeignFailure)] = []
        var accessEntries = 0

        init(_ groups: [KeyFile.Group]) throws(ForeignFailure) {
            let items = Set(groups.dropFirst().filter { !$0.isPart }.map(\.name))
            guard items.count <= KeyringLimits.items else {
                throw .limit("items", found: UInt64(items.count), allowed: UInt64(KeyringLimits.items))
            }
            // The daemon writes the date after the secret. The groups that follow an item without a date may be a
            // part of its secret, up to the next date, and must not become readable.
            var isUnclear = false
            for group in groups.dropFirst() {
                let isDated = group["mtime"] != nil
                let owner = group.owner
                var problem =
                    isUnclear
                    ? ForeignFailure.damagedLine(group.line, "it may be a part of the secret of an item without a date")
                    : group.damage
                if group.isPart {
                    guard items.contains(owner) else {
                        strays.append((group.line, .damagedLine(group.line, "it belongs to no item")))
                        continue
                    }
                    if group.kind.exact.hasPrefix(":attribute") {
                        attributes[owner, default: []].append(group)
                    } else if group.kind.exact.hasPrefix(":acl") {
                        accessEntries += 1
                    } else if problem == nil {
                        problem = .damagedLine(group.line, "a group is neither an item nor a part of one")
                    }
                } else {
                    isUnclear = !isDated && (isUnclear || group["secret"] != nil)
                }
                // A second group of one name has its own.
                if let problem, group.isPart || group.damage == nil { damage[owner] = damage[owner] ?? problem }
            }
        }
    }

    private func add(
        _ group: KeyFile.Group, _ attributes: [KeyFile.Group], to collector: KeyringCollector,
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        for value in group.values where !Self.itemKeys.contains(value.key) {
            throw .damagedLine(value.line, "an item has an unknown key")
        }
        guard let modified = try group["mtime"]?.number(in: bytes) else { throw Self.undated(group) }
        var item = KeyringItem(label: .text(try group["display-name"]?.text(in: bytes) ?? ""))
        item.number = UInt32(group.name.string) ?? 0
        item.modified = modified
        item.created = try group["ctime"]?.number(in: bytes) ?? 0
        item.type = UInt32(truncatingIfNeeded: try group["item-type"]?.number(in: bytes) ?? 0)
        guard attributes.count <= KeyringLimits.attributes else {
            throw .limit("attributes", found: UInt64(attributes.count), allowed: UInt64(KeyringLimits.attributes))
        }
        var nameless = 0
        for attribute in attributes {
            guard let name = try attribute["name"]?.text(in: bytes), let value = attribute["value"] else {
                nameless += 1
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
        collector.leaveOut("attribute without a name or a value", nameless)
    }

    private static let itemKeys: Set<ExactText> = [
        "item-type", "display-name", "secret", "binary-secret", "mtime", "ctime",
    ]
}

extension KeyFile.Group {
    private var colon: String.Index? { name.string.utf8.firstIndex(of: UInt8(ascii: ":")) }

    /// True for a part of an item, such as an attribute.
    fileprivate var isPart: Bool { colon != nil }

    /// The name of the item.
    fileprivate var owner: ExactText { colon.map { name.string[..<$0].exact } ?? name }

    /// The part of the name behind that of the item.
    fileprivate var kind: Substring { colon.map { name.string[$0...] } ?? "" }
}
