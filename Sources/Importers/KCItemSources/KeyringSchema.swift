internal import KCByteStreams
package import KCKeychainModel

/// The keychain class and attributes that follow from the attributes of an item of a keyring, for people to read.
///
/// They are the same for the running keyring and for its file, so that a backup treats both as one.
package struct KeyringSchema: Hashable, Sendable {
    /// The class.
    package let itemClass: ItemClass
    /// The attributes; a text that is longer than an attribute allows is left out.
    package private(set) var attributes = Attributes()

    /// The schema of network passwords.
    package static let network = "org.gnome.keyring.NetworkPassword"
    /// The schema of notes.
    package static let note = "org.gnome.keyring.Note"

    /// Apple's code for a secure note, `note` as a number.
    private static let noteType: Int64 = 1_852_798_053

    /// Derives the attributes.
    ///
    /// - Parameters:
    ///   - given: the item's own attributes.
    ///   - type: its schema, if the attributes do not name it.
    ///   - label: the item's label; nil if it is not text.
    package init(_ given: [(name: String, value: String)], type: String?, label: String?) {
        let item = Given(attributes: given)
        let schema = item[KeyringIdentity.schema] ?? type
        switch schema {
        case Self.network, "org.git.Password":
            itemClass = .internetPassword
            readNetwork(item)
        case "org.epiphany.FormPassword":
            itemClass = .internetPassword
            set(.srvr, item["uri"].map { Self.host($0) })
            set(.acct, item["username"])
        case "org.freedesktop.NetworkManager.Connection":
            itemClass = .genericPassword
            set(.svce, "NetworkManager")
            let parts = ["connection-uuid", "setting-name", "setting-key"].compactMap { item[$0] }
            set(.acct, parts.joined(separator: "/"))
        case "org.gnome.Evolution.Data.Source":
            itemClass = .genericPassword
            set(.svce, "Evolution")
            set(.acct, item["e-source-uid"])
        case "org.qt.keychain":
            itemClass = .genericPassword
            set(.svce, item["server"] ?? label)
            set(.acct, item["user"])
        case "org.gnome.OnlineAccounts":
            itemClass = .genericPassword
            set(.svce, "GNOME Online Accounts")
            set(.acct, item["goa-identity"])
        case "chrome_libsecret_password_schema", "chrome_libsecret_os_crypt_password_v1",
            "chrome_libsecret_os_crypt_password_v2":
            itemClass = .genericPassword
            set(.svce, item["signon_realm"] ?? label)
            set(.acct, item["username_value"] ?? item["application"])
        default:
            itemClass = .genericPassword
            if let kind = schema == Self.note ? "secure note" : Self.kind(ofImported: item) { describe(kind) }
            readGeneric(item, schema, label)
        }
    }

    /// The attributes of an item.
    private struct Given {
        let attributes: [(name: String, value: String)]

        // `==` would also accept another Unicode form.
        subscript(name: String) -> String? { attributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
    }

    /// The kind of an item, as an import has written it; nil for a password, or if no import wrote the item.
    ///
    /// A service has no description, without which a note would be exported as a password.
    private static func kind(ofImported item: Given) -> String? {
        guard item["source.format"] != nil, let part = item["source.part"] else { return nil }
        if part.exact == "note" { return "secure note" }
        if part.exact == "totp" { return "one-time password" }
        if part.exact.hasPrefix("passkey ") { return "passkey" }
        return part.exact.hasPrefix("wifi ") ? "AirPort network password" : nil
    }

    private mutating func describe(_ kind: String) {
        attributes[.desc] = .text(kind)
        if kind == "secure note" { attributes[.type] = .number(Self.noteType) }
    }

    private mutating func readNetwork(_ item: Given) {
        set(.acct, item["user"])
        set(.srvr, item["server"])
        set(.sdmn, item["domain"])
        set(.path, item["object"])
        set(.atyp, item["authtype"])
        let code = item["protocol"].map { WebAddress.protocolCode(ofScheme: $0) } ?? 0
        if code != 0 { attributes[.ptcl] = .number(code) }
        if let port = item["port"].flatMap({ Int64($0) }), (1...65_535).contains(port) {
            attributes[.port] = .number(port)
        }
    }

    private mutating func readGeneric(_ item: Given, _ schema: String?, _ label: String?) {
        if let path = item["unique"]?.exact.removingPrefix("ssh-store:") {
            set(.svce, "ssh")
            return set(.acct, path)
        }
        if KeyringEntry.isEntry(item.attributes.map(\.name)) {
            set(.svce, item["service"] ?? item["URL"].flatMap { $0.isEmpty ? nil : $0 } ?? label)
            return set(.acct, item["username"] ?? item["user"] ?? item["account"] ?? item["UserName"])
        }
        let own = schema == KeyringIdentity.genericSchema ? nil : schema
        set(.svce, item["service"] ?? item["application"] ?? own ?? label)
        // Nothing is made up for an item without a user name: an export would pass it on as one.
        set(.acct, item["username"] ?? item["user"] ?? item["account"])
    }

    private mutating func set(_ code: AttributeCode, _ text: String?) {
        guard let text, text.utf8.count <= ItemLimits.attributeSize else { return }
        attributes[code] = .text(text)
    }

    private static func host(_ address: String) -> String {
        let bytes = Array(address.utf8)
        let start = bytes.firstRange(of: Array("://".utf8))?.upperBound ?? 0
        let host = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        return String(decoding: host.split(separator: UInt8(ascii: "@")).last ?? host, as: UTF8.self)
    }
}

/// The special attributes of an entry of a KeePass database, which KeePassXC shows as an item.
package enum KeyringEntry {
    /// The attribute for the label.
    package static let title = "Title"
    /// The attribute for the group and the title.
    package static let path = "Path"
    /// The attribute for the UUID in the database.
    package static let uuid = "Uuid"
    /// The attribute for the media type of a secret that is stored as bytes.
    package static let mediaType = "FDO_SECRETS_CONTENT_TYPE"

    /// True if an item has the attributes that KeePassXC gives to every entry.
    package static func isEntry(_ names: [String]) -> Bool { [title, path, uuid].allSatisfy { names.contains($0) } }

    /// True if an attribute of an entry identifies it: KeePassXC chooses some itself, or leaves them empty.
    package static func identifies(_ name: String, _ value: String) -> Bool {
        switch name {
        case path, uuid, mediaType: false
        case "Notes", "URL", "UserName": !value.isEmpty
        default: true
        }
    }
}

/// The names under which `extra` holds what an item of a keyring has beside its own attributes.
package enum KeyringExtra {
    /// The beginning of all these names.
    package static let prefix = "kcbackup:"
    /// The label of the collection or keyring.
    package static let collection = "kcbackup:collection"
    /// The index of the collection among those with this label, if it is not 0.
    package static let number = "kcbackup:collection-number"
    /// The alias of the collection.
    package static let alias = "kcbackup:alias"
    /// The schema, unless the attribute for it says the same.
    package static let type = "kcbackup:type"
    /// The media type of the secret, unless it is text.
    package static let contentType = "kcbackup:content-type"
    /// The names of attributes that are numbers in a keyring file, separated by blanks.
    package static let numbers = "kcbackup:uint32"
    /// The prefix for an attribute whose own name begins with `prefix`.
    package static let escape = "kcbackup:attribute:"
    /// An item's own attribute for its accessibility, as in `pdmn`, which can make the item ThisDeviceOnly.
    package static let accessible = "kcbackup:accessible"

    /// The accessibility that an attribute of an item sets; nil for any other attribute.
    package static func accessibility(_ name: String, _ value: String) -> Accessibility? {
        guard name == accessible, let accessibility = Accessibility(rawValue: value), accessibility != .whenUnlocked
        else { return nil }
        return accessibility
    }

    /// True if a free attribute has a name with the prefix that no item of a keyring has by it.
    ///
    /// Only items of keyrings have such names, and the files that list them again.
    package static func isForeign(_ extra: ExtraAttribute) -> Bool {
        guard extra.name.exact.hasPrefix(prefix) else { return false }
        guard let own = extra.name.exact.removingPrefix(escape) else {
            return ![collection, number, alias, type, contentType, numbers].contains { $0.exact == extra.name.exact }
        }
        return !own.exact.hasPrefix(prefix) || accessibility(own, extra.value) != nil
    }

    /// The name in `extra` of an attribute of an item.
    package static func name(of attribute: String) -> String {
        attribute.exact.hasPrefix(prefix) ? escape + attribute : attribute
    }

    /// The item in a form that is equal for two items of keyrings if nothing of them was changed.
    ///
    /// Where the schema is stored, whether it is the generic one or missing, what the collection's alias is, and what
    /// only one kind of keyring can store, says nothing about the item.
    package static func comparable(_ item: Item) -> Item {
        guard item.extra.contains(where: { $0.name.exact == collection.exact }) else { return item }
        let schema =
            item.extra.first { $0.name.exact == KeyringIdentity.schema.exact }?.value
            ?? item.extra.first { $0.name.exact == type.exact }?.value
        var draft = ItemDraft(itemClass: item.itemClass, uuid: item.uuid, attributes: item.attributes, extra: [])
        draft.extra = item.extra.filter {
            ![KeyringIdentity.schema, type, alias, numbers, contentType].contains($0.name)
        }
        if let schema, schema != KeyringIdentity.genericSchema {
            draft.extra.append(ExtraAttribute(name: KeyringIdentity.schema, value: schema))
        }
        do throws(ItemProblem) {
            return try draft.completed(now: item.created, secretSize: item.secretSize)
        } catch {
            preconditionFailure("an item with fewer attributes is still an item")
        }
    }
}
