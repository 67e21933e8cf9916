package import KCByteStreams
package import KCKeychainModel

/// How an item appears where records have a title, a user name and addresses: the reverse of an import.
package struct ExportedRecord: Hashable, Sendable {
    /// The kind of an item; for class `genp`, determined by the markers that an import leaves.
    package enum Kind: Hashable, Sendable {
        case password
        /// A secure note, identified by Apple's markers.
        case note
        case oneTimePassword
        case passkey
        case wifi
        /// A certificate or a key.
        case other
    }

    package let kind: Kind
    package let title: String
    /// Nil if there is none, or if it is not text.
    package let account: String?
    /// The first one matches the attributes; the others come from `extra`.
    package let addresses: [String]
    /// The folder in which the record was before its import; nil if there is none.
    package let folder: String?
    /// True if the account is bytes that are not text.
    package let hasAccountOfBytes: Bool

    /// Apple's number for a secure note: `note` as a four-character code.
    package static let noteType: Int64 = 1_852_798_053

    /// Describes an item.
    package init(_ item: Item) {
        let attributes = item.attributes
        kind = Self.kind(of: item)
        title =
            [.labl, .svce, .srvr, .acct].lazy.compactMap { attributes.text($0) }.first { !$0.isEmpty }
            ?? item.itemClass.name
        account = attributes.text(.acct)
        folder = item.extra.first { $0.name.exact == ExportName.folder.exact }?.value
        hasAccountOfBytes = attributes[.acct] != nil && account == nil
        var addresses: [String] = []
        while let next = item.extra.first(where: { $0.name == "url.\(addresses.count + 1)" }) {
            addresses.append(next.value)
        }
        if item.itemClass == .internetPassword, let own = Self.address(of: attributes) {
            if let first = addresses.first, WebAddress(first)?.leads(as: attributes) ?? false {
                // The stored address says more, for example the query.
            } else {
                addresses.insert(own, at: 0)
            }
        }
        self.addresses = addresses
    }

    private static func kind(of item: Item) -> Kind {
        guard item.itemClass == .genericPassword else {
            return item.itemClass == .internetPassword ? .password : .other
        }
        switch item.attributes.text(.desc) {
        case "secure note": return .note
        case "one-time password": return .oneTimePassword
        case "passkey": return .passkey
        case "AirPort network password": return .wifi
        default: return item.attributes.number(.type) == noteType ? .note : .password
        }
    }

    /// True for an IPv6 address without brackets, rather than a host with a port.
    private static func isIPv6(_ host: String) -> Bool {
        host.utf8.count { $0 == UInt8(ascii: ":") } > 1
            && host.exact.isASCIILettersAndDigits(or: ":.%")
    }

    private static func address(of attributes: Attributes) -> String? {
        guard var host = attributes.text(.srvr), !host.isEmpty else { return nil }
        if isIPv6(host) { host = "[\(host)]" }
        let scheme = attributes.number(.ptcl).flatMap(WebAddress.scheme)
        var path = attributes.text(.path) ?? ""
        if !path.isEmpty, !path.exact.hasPrefix("/") { path = "/" + path }
        let port = attributes.number(.port).flatMap { $0 == 0 ? nil : ":\($0)" } ?? ""
        let rest = host + port + path
        // Without a scheme, an address that does not look like a host would be read as a name.
        return scheme.map { $0 + "://" + rest } ?? (WebAddress(rest) == nil ? "//" + rest : rest)
    }
}

extension WebAddress {
    /// True if an internet password made from this address has these attributes.
    fileprivate func leads(as attributes: Attributes) -> Bool {
        host == attributes.text(.srvr) && protocolCode == attributes.number(.ptcl) ?? 0
            && port ?? 0 == attributes.number(.port) ?? 0 && path ?? "" == attributes.text(.path) ?? ""
    }
}

/// Names that an export uses for fields that other programs have no name for.
package enum ExportName {
    /// The field with the item's own attributes, as an import line.
    package static let item = "kcbackup"
    /// The field with a secret that is not text, in base64.
    package static let bytes = "secret.base64"
    /// The attribute with the folder of an imported record.
    static let folder = "source.folder"
}

extension Item {
    /// Writes the item, without its secret, as an import line (docs/json.md).
    package func writeImportLine(into text: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"class\":\"\(itemClass.rawValue)\",\"uuid\":\"\(uuid)\",\"attributes\":{", into: &text)
        for (index, entry) in attributes.entries.enumerated() {
            CanonicalJSON.literal(index == 0 ? "\"" : ",\"", into: &text)
            CanonicalJSON.literal(entry.code.code + "\":", into: &text)
            switch entry.value {
            case .text(let value): CanonicalJSON.string(value, into: &text)
            case .number(let number): CanonicalJSON.integer(number, into: &text)
            case .date(let date): CanonicalJSON.string(date.description, into: &text)
            case .data(let bytes):
                CanonicalJSON.literal("{\"base64\":\"", into: &text)
                Base64.encode(bytes.span, into: &text)
                CanonicalJSON.literal("\"}", into: &text)
            }
        }
        CanonicalJSON.literal("}", into: &text)
        if !extra.isEmpty {
            CanonicalJSON.literal(",\"extra\":{", into: &text)
            for (index, attribute) in extra.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &text) }
                CanonicalJSON.string(attribute.name, into: &text)
                CanonicalJSON.literal(":", into: &text)
                CanonicalJSON.string(attribute.value, into: &text)
            }
            CanonicalJSON.literal("}", into: &text)
        }
        CanonicalJSON.literal("}", into: &text)
    }
}

extension ExportedRecord {
    /// True for records that are exported without an account and addresses.
    ///
    /// With these, an import would mistake the record for the login that it belongs to.
    package var standsAlone: Bool { kind == .note || kind == .oneTimePassword }

    /// The attributes of the unique key that are lost in a record that has only a title, an account and addresses.
    ///
    /// The importers' own code determines what an import makes from the record.
    ///
    /// - Parameter addresses: the addresses that the format has room for.
    package func lost(of item: Item, addresses: [String]) -> [AttributeCode] {
        let account = standsAlone ? nil : account
        let addresses = standsAlone ? [] : addresses
        let codes = item.itemClass.uniqueKey.filter { !Self.isEverywhere($0) }
        let made = returned(account: account, addresses: addresses)
        guard let other = made, other.itemClass == item.itemClass else {
            // An internet password, which the addresses make of a generic one, has the account all the same.
            return codes.filter { code in
                guard let value = item.attributes[code], !value.isNothing else { return false }
                return made?.attributes[code] != value
            }
        }
        return codes.filter { code in
            let (before, after) = (item.attributes[code], other.attributes[code])
            return before != after && !((before?.isNothing ?? true) && (after?.isNothing ?? true))
        }
    }

    /// True for attributes of a unique key that users never see and that formats of other programs do not have.
    private static func isEverywhere(_ code: AttributeCode) -> Bool { [.agrp, .sync, .musr].contains(code) }

    /// The item that an import makes from the record; nil if it makes none or several.
    private func returned(account: String?, addresses: [String]) -> Item? {
        let collector = RecordCollector(format: "", date: .reference)
        let record = RecordWriter(collector, identity: "", title: title)
        record.addresses = addresses
        var finder = ItemFinder()
        let secret = SecretBytes(copying: [UInt8(ascii: "x")])
        do {
            switch kind {
            case .note: try record.addNote(secret, isWhole: true)
            case .oneTimePassword: try record.addOneTimePassword(secret)
            case .password, .passkey, .wifi, .other:
                try record.addLogin(user: account, password: secret)
            }
            try collector.finish(details: "", isPlaintext: true).items.visitItems(&finder)
        } catch {
            // An item that cannot be imported does not come back.
            return nil
        }
        return finder.items.count == 1 ? finder.items[0] : nil
    }
}

private struct ItemFinder: ItemVisitor {
    var items: [Item] = []

    mutating func wants(_ item: Item) -> Bool {
        items.append(item)
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) {}
}

extension AttributeValue {
    /// True for a value that an importer cannot distinguish from a missing attribute.
    fileprivate var isNothing: Bool {
        switch self {
        // The default authentication type.
        case .text(let text): text.isEmpty || text == "dflt"
        case .data(let bytes): bytes.isEmpty
        case .number(let number): number == 0
        case .date: false
        }
    }
}
