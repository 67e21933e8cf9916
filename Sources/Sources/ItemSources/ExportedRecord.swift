package import ByteStreams
package import KeychainModel

/// What an item is called where records have a title, a user name and addresses: the reverse of how records become items.
package struct ExportedRecord: Hashable, Sendable {
    /// What kind of thing an item of class `genp` is, by the marks that an import leaves.
    package enum Kind: Hashable, Sendable {
        case password
        /// A secure note, by Apple's marks.
        case note
        case oneTimePassword
        case passkey
        case wifi
        /// A certificate or a key.
        case other
    }

    package let kind: Kind
    package let title: String
    /// Nil where there is none, and where it is bytes.
    package let account: String?
    /// The first one is where the attributes lead; others stand in `extra`.
    package let addresses: [String]
    /// True if the account is bytes that are no text.
    package let hasAccountOfBytes: Bool

    /// Apple's number for a secure note, `note` as four characters.
    package static let noteType: Int64 = 1_852_798_053

    /// Describes an item.
    package init(_ item: Item) {
        let attributes = item.attributes
        kind = Self.kind(of: item)
        title =
            [.labl, .svce, .srvr, .acct].lazy.compactMap { attributes.text($0) }.first { !$0.isEmpty }
            ?? item.itemClass.name
        account = attributes.text(.acct)
        hasAccountOfBytes = attributes[.acct] != nil && account == nil
        var addresses: [String] = []
        while let next = item.extra.first(where: { $0.name == "url.\(addresses.count + 1)" }) {
            addresses.append(next.value)
        }
        if item.itemClass == .internetPassword, let own = Self.address(of: attributes) {
            if let first = addresses.first, WebAddress(first)?.leads(as: attributes) ?? false {
                // It says more: the query, for example.
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

    private static func address(of attributes: Attributes) -> String? {
        guard var host = attributes.text(.srvr), !host.isEmpty else { return nil }
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        let scheme = attributes.number(.ptcl).flatMap(WebAddress.scheme)
        var path = attributes.text(.path) ?? ""
        if !path.isEmpty, !path.hasPrefix("/") { path = "/" + path }
        let port = attributes.number(.port).flatMap { $0 == 0 ? nil : ":\($0)" } ?? ""
        return (scheme.map { $0 + "://" } ?? "") + host + port + path
    }
}

extension WebAddress {
    /// The scheme of one of Apple's protocol codes; nil for one that none is written for.
    package static func scheme(ofProtocolCode code: Int64) -> String? {
        let schemes = ["https", "http", "ssh", "smb", "ftp", "ftps", "ldap", "ldaps", "imap", "imaps", "smtp", "afp"]
        return schemes.first { protocolCode(ofScheme: $0) == code }
    }

    /// True if an internet password that was made of this address has these attributes.
    fileprivate func leads(as attributes: Attributes) -> Bool {
        host == attributes.text(.srvr) && protocolCode == attributes.number(.ptcl) ?? 0
            && port ?? 0 == attributes.number(.port) ?? 0 && path ?? "" == attributes.text(.path) ?? ""
    }
}

/// Names that an export gives to what has no name in the other program.
package enum ExportName {
    /// The place of an item's own attributes, in the form of an import line.
    package static let item = "kcbackup"
    /// The place of a secret that is bytes, in base 64.
    package static let bytes = "secret.base64"
}

/// True if the bytes are UTF-8.
package func isUTF8(_ bytes: borrowing SecretBytes) -> Bool {
    bytes.withBytes { span in
        do {
            _ = try UTF8Span(validating: span.extracting(...))
            return true
        } catch {
            return false
        }
    }
}

extension Item {
    /// The item without its secret in the form of an import line (docs/json.md).
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
