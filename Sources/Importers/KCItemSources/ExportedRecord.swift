package import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// An item that is exported, with its secret.
package final class ExportedPart: Sendable {
    package let item: Item
    /// Empty if the item has none.
    package let secret: SecretBytes
    package let place: RecordPlace
    /// True if the secret is UTF-8.
    package let isText: Bool

    /// Describes an item.
    package init(_ item: Item, _ secret: consuming SecretBytes) {
        self.item = item
        isText = secret.isUTF8
        self.secret = secret
        place = RecordPlace(of: item)
    }

    package var hasSecret: Bool { item.secretSize != nil }

    package var isLogin: Bool { place == .login || place == .token }

    package var isNetwork: Bool { if case .network = place { true } else { false } }

    /// True for an item of a kind that only a keychain has: a certificate or a key.
    package var isOfKeychain: Bool { item.itemClass == .certificate || item.itemClass == .key }
}

/// A record of a password manager, made of items: the reverse of an import.
///
/// Items that an import made of one record are one record again; any other item is a record by itself.
package struct ExportedRecord {
    package let parts: [ExportedPart]
    package let title: String
    /// Nil if there is none, or if it is not text.
    package let account: String?
    /// True if the account is bytes that are not text.
    package let hasAccountOfBytes: Bool
    /// The first one matches the attributes of the login; the others come from free attributes.
    package let addresses: [String]
    /// The folder in which the record was before its import; nil if there is none.
    package let folder: String?
    /// The tags as the import has written them, separated by `;`; nil if there are none.
    package let tags: String?
    package let created: Timestamp
    package let modified: Timestamp
    /// Identifies the record in a file.
    package let uuid: ItemUUID
    /// How many records of the file would have had this one's ID.
    private let attempt: Int
    /// Identifies the record among others; nil for an item that stands by itself.
    private let key: RecordKey?

    /// Makes a record of one item.
    package init(_ part: ExportedPart) { self.init([part], key: nil) }

    /// Describes an item without its secret.
    package init(_ item: Item) { self.init(ExportedPart(item, SecretBytes(capacity: 0))) }

    /// Joins items.
    ///
    /// - Parameters:
    ///   - parts: at least one, all of which have this key.
    ///   - key: what identifies the record; nil for a single item that stands by itself.
    ///   - attempt: greater than 0 for a record whose ID another one in the file has.
    package init(_ parts: [ExportedPart], key: RecordKey?, attempt: Int = 0) {
        self.parts = parts
        let login = parts.first(where: \.isLogin)
        let main = login ?? parts.first(where: \.isNetwork) ?? parts[0]
        title = Self.title(of: main, among: parts)
        // The accounts of the others are made of their kinds.
        let isNamed = key == nil || main.isLogin || main.isNetwork
        account = isNamed ? main.item.attributes.text(.acct) : nil
        hasAccountOfBytes = isNamed && main.item.attributes[.acct] != nil && account == nil
        addresses = ([main] + parts).lazy.map { Self.addresses(of: $0.item) }.first { !$0.isEmpty } ?? []
        folder = parts.lazy.compactMap { $0.item.free(ExportName.folder) }.first
        tags = parts.lazy.compactMap { $0.item.free("tags") }.first
        created = parts.lazy.map(\.item.created).min() ?? main.item.created
        modified = parts.lazy.map(\.item.modified).max() ?? main.item.modified
        uuid = key?.uuid(attempt: attempt) ?? main.item.uuid
        self.attempt = attempt
        self.key = key
    }

    /// The same record with another ID.
    package var renamed: ExportedRecord { ExportedRecord(parts, key: key, attempt: attempt + 1) }

    /// Makes a record of one part for which another record has no room, with the title, the user and the addresses of that
    /// record; a second login has a user and addresses of its own.
    package init(_ part: ExportedPart, apartFrom other: ExportedRecord) {
        let isNamed = part.isLogin || part.isNetwork
        let own = ExportedRecord(part)
        parts = [part]
        title = other.title
        account = isNamed ? own.account : other.account
        hasAccountOfBytes = isNamed && own.hasAccountOfBytes
        addresses = own.addresses.isEmpty ? other.addresses : own.addresses
        (folder, tags) = (other.folder, other.tags)
        (created, modified, uuid) = (part.item.created, part.item.modified, part.item.uuid)
        (key, attempt) = (nil, 0)
    }

    /// The login, if there is one.
    package var login: ExportedPart? { parts.first(where: \.isLogin) }

    /// True if the items come from one record; false for an item that stands by itself.
    package var isJoined: Bool { key != nil }

    /// The record's ID in a file of this format, if that is where it came from.
    package func id(in format: String) -> String? {
        attempt == 0 ? key?.ownID(in: format) : nil
    }

    /// The first value of a free attribute.
    package func free(_ name: String) -> String? { parts.lazy.compactMap { $0.item.free(name) }.first }

    private static func title(of main: ExportedPart, among parts: [ExportedPart]) -> String {
        func title(_ codes: [AttributeCode]) -> String? {
            codes.lazy.compactMap { main.item.attributes.text($0) }.first { !$0.isEmpty }
        }
        let label = title([.labl])
        // Values that have labels of their own, as those of a Secret of Kubernetes, share the service.
        let isShared = parts.allSatisfy { $0.item.attributes.text(.labl)?.exact == label?.exact }
        let order: [AttributeCode] = isShared ? [.labl, .svce, .srvr, .acct] : [.svce, .labl]
        return title(main.isLogin ? [.labl, .svce, .srvr, .acct] : order) ?? main.item.itemClass.name
    }

    private static func addresses(of item: Item) -> [String] {
        var addresses: [String] = []
        while let next = item.free("url.\(addresses.count + 1)") { addresses.append(next) }
        if item.itemClass == .internetPassword, let own = address(of: item.attributes) {
            if let first = addresses.first, WebAddress(first)?.leads(as: item.attributes) ?? false {
                // The stored address says more, for example the query.
            } else {
                addresses.insert(own, at: 0)
            }
        }
        return addresses
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

/// Identifies a record: items with the same key belong together.
package struct RecordKey: Hashable, Sendable {
    private let format: ExactText
    private let id: ExactText
    /// True if the ID is the record's own, in its program.
    private let isOwn: Bool

    /// The key that an import has given an item; nil for any other item.
    package init?(_ item: Item) {
        guard let format = item.free("source.format") else { return nil }
        self.format = format.exact
        if let own = item.free("source.id") {
            (id, isOwn) = (own.exact, true)
        } else {
            guard let record = item.free(Self.attribute) else { return nil }
            (id, isOwn) = ("\(record) \(RecordPart.Ordinal.record(of: item.uuid))".exact, false)
        }
    }

    /// The attribute that identifies a record which has no ID in its program, among those with other names.
    static let attribute = "source.record"

    /// The record's ID in the program of this format; nil if it has none.
    func ownID(in format: String) -> String? { isOwn && self.format == format.exact ? id.string : nil }

    /// The record's own ID if it is a UUID; otherwise, and after the first attempt, one derived from it.
    func uuid(attempt: Int) -> ItemUUID {
        if attempt == 0, isOwn, let own = ItemUUID(id.string) { return own }
        let text = ["kcbackup record", format.string, id.string, "\(attempt)"].map { "\($0.utf8.count)\n\($0)" }
            .joined()
        return ItemUUID(derivedFrom: SHA256.hash(Array(text.utf8).span).bytes)
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
    /// The field with the items' own attributes.
    package static let item = "kcbackup"
    /// The field with a secret that is not text, in base64.
    package static let bytes = "secret.base64"
    /// The attribute with the folder of an imported record.
    static let folder = "source.folder"
}
