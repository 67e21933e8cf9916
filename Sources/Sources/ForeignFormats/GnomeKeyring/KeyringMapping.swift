internal import ItemSources
internal import KeychainModel

/// Maps the items of a keyring to items of a keychain.
///
/// Every attribute is stored in `extra` under its own name. Class, service, server and account are derived from the
/// attributes' meanings, for people to read. Names, unique key and UUID are the same as for an item of the Secret
/// Service, so that a backup treats a file and the running keyring that it came from as one.
enum KeyringMapping {
    private static let prefix = "kcbackup:"
    private static let collection = "kcbackup:collection"
    private static let type = "kcbackup:type"
    /// The names of the attributes that were numbers, separated by blanks.
    private static let numbers = "kcbackup:uint32"
    // The prefix for an attribute whose own name begins with kcbackup's prefix.
    private static let escape = "kcbackup:attribute:"
    private static let accessible = "kcbackup:accessible"

    static let schema = KeyringIdentity.schema
    private static let generic = KeyringIdentity.genericSchema
    private static let network = "org.gnome.keyring.NetworkPassword"
    private static let note = "org.gnome.keyring.Note"

    /// Apple's code for a secure note, `note` as a number.
    private static let noteType: Int64 = 1_852_798_053

    /// The maximum length of an account that is made from attributes, in characters.
    private static let accountLength = 200

    /// The keychain item for an item of a keyring.
    ///
    /// - Parameter ordinal: the index of the item among those of the keyring with the same attributes, from 0.
    static func draft(of item: KeyringItem, keyring: String, ordinal: Int) -> ItemDraft {
        var draft = meaning(of: item)
        let identity = identity(of: item, keyring: keyring, ordinal: ordinal)
        draft.attributes[.musr] = .data(identity.key)
        draft.uuid = identity.uuid
        draft.attributes[.labl] = item.label
        if let date = date(item.created) { draft.attributes[.cdat] = .date(date) }
        if let date = date(item.modified) { draft.attributes[.mdat] = .date(date) }
        var extra = [ExtraAttribute(name: collection, value: keyring)]
        if let type = typeName(item), item[schema] != type {
            extra.append(ExtraAttribute(name: Self.type, value: type))
        }
        if !item.numbers.isEmpty {
            extra.append(ExtraAttribute(name: numbers, value: item.numbers.sorted().joined(separator: " ")))
        }
        for (name, value) in item.attributes {
            if name == accessible, let code = Accessibility(rawValue: value), code != .whenUnlocked {
                draft.attributes[.pdmn] = .text(code.rawValue)
            } else {
                extra.append(ExtraAttribute(name: name.hasPrefix(prefix) ? escape + name : name, value: value))
            }
        }
        draft.extra = extra
        return draft
    }

    /// The identity of an item.
    static func identity(of item: KeyringItem, keyring: String, ordinal: Int = 0) -> KeyringIdentity {
        let counted = item.attributes.filter { name, value in
            name != accessible || Accessibility(rawValue: value).map { $0 != .whenUnlocked } != true
        }
        return KeyringIdentity(
            keyring: keyring, attributes: counted, type: typeName(item), label: item.label,
            ordinal: ordinal)
    }

    private static func sorted(_ attributes: [(name: String, value: String)]) -> [(name: String, value: String)] {
        attributes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func date(_ seconds: UInt64) -> Timestamp? {
        guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000 else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }

    /// The name of the schema for an item's type number.
    private static func typeName(_ item: KeyringItem) -> String? {
        // The upper half holds flags of old versions.
        switch item.type.map({ $0 & 0xffff }) {
        case 0: generic
        case 1: network
        case 2: note
        case 3: "org.gnome.keyring.ChainedKeyring"
        case 4: "org.gnome.keyring.EncryptionKey"
        case 0x100: "org.gnome.keyring.PkStorage"
        default: nil
        }
    }

    // MARK: What programs mean

    private static func meaning(of item: KeyringItem) -> ItemDraft {
        let schema = item[schema] ?? typeName(item)
        if schema == network || schema == "org.git.Password" { return networkPassword(item) }
        var draft = ItemDraft(itemClass: .genericPassword)
        if schema == note {
            draft.attributes[.desc] = .text("secure note")
            draft.attributes[.type] = .number(noteType)
        }
        if let path = item["unique"], path.hasPrefix("ssh-store:") {
            draft.set(.svce, "ssh")
            draft.set(.acct, String(path.dropFirst("ssh-store:".count)))
            return draft
        }
        let label: String? =
            switch item.label {
            case .text(let text): text
            default: nil
            }
        draft.set(.svce, item["service"] ?? item["application"] ?? (schema == generic ? nil : schema) ?? label)
        let account = item["username"] ?? item["user"] ?? item["account"]
        let others = sorted(item.attributes.filter { $0.name != Self.schema && $0.name != "service" })
        let text = others.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        draft.set(.acct, account ?? String(text.prefix(accountLength)))
        return draft
    }

    private static func networkPassword(_ item: KeyringItem) -> ItemDraft {
        var draft = ItemDraft(itemClass: .internetPassword)
        draft.set(.acct, item["user"])
        draft.set(.srvr, item["server"])
        draft.set(.sdmn, item["domain"])
        draft.set(.path, item["object"])
        draft.set(.atyp, item["authtype"])
        let code = item["protocol"].map { WebAddress.protocolCode(ofScheme: $0) } ?? 0
        if code != 0 { draft.attributes[.ptcl] = .number(code) }
        if let port = item["port"].flatMap({ Int64($0) }), (1...65_535).contains(port) {
            draft.attributes[.port] = .number(port)
        }
        return draft
    }
}

extension ItemDraft {
    /// Sets a text, unless it is longer than an attribute allows; then it is only in `extra`.
    fileprivate mutating func set(_ code: AttributeCode, _ text: String?) {
        guard let text, text.utf8.count <= ItemLimits.attributeSize else { return }
        attributes[code] = .text(text)
    }
}
