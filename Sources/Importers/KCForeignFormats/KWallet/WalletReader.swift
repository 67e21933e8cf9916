internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Makes items from the entries of a wallet, which are serialized by Qt's QDataStream.
struct WalletReader {
    let collector: RecordCollector
    /// The names of everything read, in order.
    private(set) var names: [(folder: String, keys: [String])] = []

    private static let formData = "Form Data"

    init(_ file: ForeignFile) {
        collector = RecordCollector(format: "kwallet", date: file.modified)
    }

    func finish(details: String, isPlaintext: Bool = false) throws(ForeignFailure) -> ForeignContents {
        try collector.finish(details: details, isPlaintext: isPlaintext)
    }

    mutating func add(_ bytes: borrowing Span<UInt8>, entryLimit: Int) throws(ForeignFailure) {
        var cursor = ByteCursor(0..<bytes.count)
        while cursor.left > 0 {
            let folder = try Self.name(&cursor, bytes)
            // The shortest entry has an empty name, a type and no value.
            let count = try cursor.count(ofAtLeast: 12, "entries", limit: entryLimit, in: bytes)
            var keys: [String] = []
            defer { names.append((folder, keys)) }
            for _ in 0..<count {
                let key = try Self.name(&cursor, bytes)
                keys.append(key)
                let type = try cursor.uint32(in: bytes)
                let value = try cursor.piece(in: bytes)
                var entry = Entry(folder: folder, key: key, type: type, value: value)
                entry.ordinal = collector.ordinal(of: entry.identity)
                try collector.record(entry.title) { () throws(ForeignFailure) in
                    try add(entry, bytes)
                    try addRest(of: entry)
                }
            }
        }
    }

    private struct Entry {
        let folder: String
        let key: String
        let type: UInt32
        /// Nil for a missing value, as distinct from an empty one.
        let value: Range<Int>?

        var kind: String {
            switch type {
            case 1: "password"
            case 3: "map"
            case 2: "stream"
            default: "unknown"
            }
        }

        /// The number of earlier entries with the same identity.
        var ordinal = 0
        /// The key as an address; browsers use the addresses of forms as keys.
        let address: WebAddress?

        init(folder: String, key: String, type: UInt32, value: Range<Int>?) {
            self.folder = folder
            self.key = key
            self.type = type
            self.value = value
            address = key.exact.contains("://") ? WebAddress(key) : nil
        }

        /// True if the key is an address that is not well-formed, and may hold a password.
        var isUnclear: Bool { address == nil && key.exact.contains("://") }

        /// The key without what may be secret in it.
        var name: String { isUnclear ? "address" : address?.readable ?? key }

        /// Identifies the entry, except among those with the same name.
        var identity: String { "\(folder.utf8.count)\n\(folder)\n\(name)" }

        /// The name in messages.
        var title: String { "\(folder)/\(name)" }

        /// The item that holds the complete entry.
        var draft: ItemDraft {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text(folder)
            draft.attributes[.acct] = .text(name)
            draft.attributes[.labl] = .text(title)
            if kind != "password" { draft.attributes[.desc] = .text(kind) }
            draft.extra = extra
            return draft
        }

        var extra: [ExtraAttribute] {
            [
                ExtraAttribute(name: "source.format", value: "kwallet"),
                ExtraAttribute(name: "source.folder", value: folder),
                ExtraAttribute(name: "kwallet.type", value: kind),
            ]
        }
    }

    private func add(_ entry: Entry, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        guard let value = entry.value else { return try add(entry, entry.draft, entry.kind, nil) }
        switch entry.type {
        case 1: try addPassword(entry, value, bytes)
        case 3: try addMap(entry, value, bytes)
        default: try add(entry, entry.draft, entry.kind, SecretBytes(bytes.extracting(value)))
        }
    }

    private func add(
        _ entry: Entry, _ draft: ItemDraft, _ part: String, _ secret: consuming SecretBytes?
    ) throws(ForeignFailure) {
        try collector.add(
            RecordPart(
                part, draft, secret: secret, record: entry.identity,
                ordinal: RecordPart.Ordinal(record: entry.ordinal), part: part, name: entry.title))
    }

    /// Counts what is left out of an address, and keeps one that has a password, or is not well-formed, as a secret.
    private func addRest(of entry: Entry) throws(ForeignFailure) {
        if let address = entry.address, !address.hasSecret {
            if address.isCut { collector.leaveOut("part of an address behind '?', '#' or ';'") }
        } else if entry.address != nil || entry.isUnclear {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text(entry.title)
            draft.attributes[.acct] = .text("address")
            draft.attributes[.labl] = .text(entry.title)
            draft.attributes[.desc] = .text("field")
            draft.extra = entry.extra
            try add(entry, draft, "field", SecretBytes(copying: entry.key.utf8))
            collector.remark(
                entry.isUnclear
                    ? "addresses that are not well-formed may hold passwords, and became secrets"
                    : "addresses with a password that no login has became secrets")
        }
    }

    private func addPassword(
        _ entry: Entry, _ value: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        var cursor = ByteCursor(value)
        // An entry that was created but never written has no text at all.
        let text = value.isEmpty ? nil : try cursor.piece(in: bytes)
        guard cursor.left == 0 else { throw .damaged("data follows a password") }
        guard let text else { return try add(entry, entry.draft, entry.kind, nil) }
        let password = Self.utf8(text, bytes)
        switch consume password {
        case .some(let password): try add(entry, entry.draft, entry.kind, password)
        case .none: throw .damaged("its password is not UTF-16")
        }
    }

    private func addMap(_ entry: Entry, _ value: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var cursor = ByteCursor(value)
        let count = value.isEmpty ? 0 : try cursor.count(ofAtLeast: 8, "fields", limit: 1_000_000, in: bytes)
        var fields: [(name: String, value: Range<Int>?)] = []
        var names: Set<[UInt8]> = []
        for _ in 0..<count {
            let name = try Self.name(&cursor, bytes)
            guard names.insert(Array(name.utf8)).inserted else { throw .damaged("a field of a map occurs twice") }
            fields.append((name, try cursor.piece(in: bytes)))
        }
        guard cursor.left == 0 else { throw .damaged("data follows a map") }
        var object = SecretJSON()
        for field in fields {
            guard let range = field.value else {
                object.add(field.name, json: SecretBytes(copying: "null".utf8))
                continue
            }
            let text = Self.utf8(range, bytes)
            switch consume text {
            case .some(let text): object.add(field.name, text: text)
            case .none: throw .damaged("a field is not UTF-16")
            }
        }
        let login = try addLogin(entry, fields, bytes)
        // If there are only two fields, the login holds them both.
        if login, fields.count == 2 { return }
        try add(entry, entry.draft, entry.kind, object.finish())
    }

    /// Adds the login of a web form; false if the map is not one.
    private func addLogin(
        _ entry: Entry, _ fields: [(name: String, value: Range<Int>?)], _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Bool {
        guard entry.folder.exact == Self.formData.exact, let address = entry.address ?? WebAddress(entry.key),
            let user = fields.first(where: { ["login", "username"].contains($0.name) })?.value,
            let password = fields.first(where: { $0.name == "password" })?.value,
            let name = Self.text(user, bytes)
        else { return false }
        var draft = ItemDraft(itemClass: .internetPassword)
        draft.attributes[.labl] = .text(address.host)
        draft.attributes[.atyp] = .text("form")
        address.describe(&draft)
        draft.extra = entry.extra + [ExtraAttribute(name: "url.1", value: address.readable)]
        let secret = Self.utf8(password, bytes)
        let (isToken, isSpare) = (
            AccessToken.isToken(name.utf8.span, password: secret), AccessToken.isSpare(secret)
        )
        switch consume secret {
        case .some where isToken:
            try add(entry, draft, "access token", SecretBytes(copying: name.utf8))
            // A password that is more than a placeholder is kept by importing the whole map as well.
            return isSpare
        case .some(let secret):
            draft.attributes[.acct] = .text(name)
            try add(entry, draft, "password", secret)
        case .none: return false
        }
        return true
    }

    // MARK: Text

    private static func name(
        _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> String {
        guard let name = text(try cursor.piece(in: bytes) ?? 0..<0, bytes) else {
            throw .damaged("a name is not UTF-16")
        }
        return name
    }

    /// Text that is not a secret.
    private static func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> String? {
        let text = Self.utf8(range, bytes)
        switch consume text {
        case .some(let text): return text.withBytes { $0.text(0..<$0.count) }
        case .none: return nil
        }
    }

    /// Converts big-endian UTF-16 to UTF-8; nil if it is not valid.
    private static func utf8(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        bytes.utf8(ofUTF16: range, .bigEndian)
    }
}
