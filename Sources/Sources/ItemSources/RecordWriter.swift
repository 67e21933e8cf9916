package import ByteStreams
package import KeychainModel

/// Makes the items of one record of a password manager, one per secret (docs/import.md, "What becomes of a record").
///
/// Only titles, addresses, user names, folders, and the names of fields and files become attributes, because attributes
/// are readable while a keychain is locked.
///
/// ```swift
/// var record = RecordWriter(format: "bitwarden", identity: id, title: "Bank")
/// record.user = "ada"
/// record.addresses = ["https://bank.example/login"]
/// try record.addLogin(password, to: &collector)
/// try record.addNote(text, to: &collector)
/// ```
package struct RecordWriter {
    /// How a server asks for the password, if that is known.
    package enum Authentication: Hashable, Sendable {
        case unknown
        case form
        /// HTTP authentication for a realm.
        case http(realm: String)
    }

    private let format: String
    private let identity: String
    private let ordinal: Int
    private let givenTitle: String
    /// The record's ID in its program, if it has one; it becomes a readable attribute.
    package var id: String?
    /// The folder, vault or group of the record.
    package var folder: String?
    /// The name of the user; an access token in its place becomes the login's secret instead.
    package var user: String? {
        didSet {
            token = nil
            guard let name = user, AccessToken.isToken(name.utf8.span) else { return }
            user = nil
            token = ForeignAttachment(name: "access token", SecretBytes(copying: name.utf8))
        }
    }
    private var token: ForeignAttachment?
    /// The addresses as its program stores them, some of which may hold secrets; set before any part is added.
    package var addresses: [String] = []
    /// True once addresses that cannot be attributes have become items.
    private var areAddressesSettled = false
    /// True once an item has the addresses as attributes.
    private var areAddressesKept = false
    package var authentication = Authentication.unknown
    package var created: Timestamp?
    package var modified: Timestamp?
    /// Further attributes that are not secret and have no column, by name.
    package var extra: [ExtraAttribute] = []
    /// The number of parts with each name so far.
    private var ordinals: [String: Int] = [:]

    /// Begins a record.
    ///
    /// - Parameters:
    ///   - format: the name of the format.
    ///   - identity: identifies the record in its file; UUIDs are derived from it, so it never contains a secret.
    ///   - ordinal: the number of earlier records with this identity; 0 for a record with an ID.
    ///   - title: the record's name in its program; may be empty.
    package init(format: String, identity: String, ordinal: Int = 0, title: String) {
        self.format = format
        self.identity = identity
        self.ordinal = ordinal
        givenTitle = title
    }

    /// The record's title, or a substitute if it has none.
    package var title: String {
        if !givenTitle.isEmpty { return givenTitle }
        return host ?? user ?? "untitled"
    }

    /// The host or the app of the first address.
    private var host: String? { addresses.lazy.compactMap { WebAddress($0)?.host }.first }

    /// Adds the password, or a login without one if it is nil.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addLogin(
        _ password: consuming SecretBytes?, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        findToken(password)
        try settleAddresses(to: &collector)
        var draft: ItemDraft
        let first = addresses.lazy.compactMap(WebAddress.init).first
        if let address = first, !Self.isApp(address.scheme) {
            draft = ItemDraft(itemClass: .internetPassword)
            if let user { draft.attributes[.acct] = .text(user) }
            address.describe(&draft)
            switch authentication {
            case .unknown: draft.attributes[.atyp] = .text("dflt")
            case .form: draft.attributes[.atyp] = .text("form")
            case .http(let realm):
                draft.attributes[.atyp] = .text("http")
                draft.attributes[.sdmn] = .text(realm)
            }
        } else {
            draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text(first?.host ?? title)
            if let user { draft.attributes[.acct] = .text(user) }
        }
        keepAddresses(in: &draft)
        areAddressesKept = true
        guard let token else {
            let kind: String
            switch password {
            case .some: kind = "password"
            case .none: kind = "login without a password"
            }
            return try add(kind, "password", draft, password, to: &collector)
        }
        try add("access token", "token", draft, token.bytes.copy(), to: &collector)
        guard let password, !AccessToken.isSpare(password) else { return }
        try addField("password", password, to: &collector)
    }

    /// Treats the user name as a token if there is no other password.
    private mutating func findToken(_ password: borrowing SecretBytes?) {
        guard let name = user, AccessToken.isToken(name.utf8.span, password: password) else { return }
        user = nil
        token = ForeignAttachment(name: "access token", SecretBytes(copying: name.utf8))
    }

    /// Adds a one-time password: an `otpauth:` address, or a base32 seed, from which one is made.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addOneTimePassword(
        _ secret: borrowing SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let address = OneTimePasswordAddress.make(of: secret, issuer: title, user: user)
        let draft = draft(service: host ?? title, account: "one-time password", kind: "one-time password")
        try add("one-time password", "totp", draft, address, to: &collector)
    }

    /// Adds a note of the record.
    ///
    /// - Parameter isWhole: true if the record consists only of this note.
    /// - Throws: as `RecordCollector.add`.
    package mutating func addNote(
        _ text: consuming SecretBytes, isWhole: Bool = false, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        var draft = draft(service: title, account: isWhole ? nil : "note", kind: "secure note")
        // Apple marks a secure note with the characters "note".
        draft.attributes[.type] = .number(1_852_798_053)
        try add("note", "note", draft, text, to: &collector)
    }

    /// Adds another field, whether its program hides it or not.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addField(
        _ name: String, _ value: consuming SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let name = name.isEmpty ? "field" : name
        let draft = draft(service: title, account: name, kind: "field")
        try add("field", "field \(name)", draft, value, to: &collector)
    }

    /// Adds all fields of a card, an identity or a similar record as one JSON object.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addObject(
        _ kind: String, _ json: consuming SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        try add(kind, kind, draft(service: title, account: nil, kind: kind), json, to: &collector)
    }

    /// Adds a passkey, as the JSON object of FIDO's Credential Exchange Format.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addPasskey(
        host: String, user: String?, _ json: consuming SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        var draft = draft(service: host, account: nil, kind: "passkey")
        draft.attributes[.acct] = .text(user.map { "passkey (\($0))" } ?? "passkey")
        try add("passkey", "passkey \(host)", draft, json, to: &collector)
    }

    /// Adds a private key in the form in which its program stores it.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addPrivateKey(
        _ key: consuming SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let draft = draft(service: title, account: "private key", kind: "private key")
        try add("private key", "private key", draft, key, to: &collector)
    }

    /// Adds an attachment.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addAttachment(
        _ name: String, _ bytes: consuming SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let draft = draft(service: title, account: name.isEmpty ? "attachment" : name, kind: "attachment")
        try add("attachment", "attachment \(name)", draft, bytes, to: &collector)
    }

    /// A generic password beside the login; its account distinguishes it from those of other logins with this title.
    private func draft(service: String, account: String?, kind: String) -> ItemDraft {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text(service)
        draft.attributes[.desc] = .text(kind)
        if let account {
            draft.attributes[.acct] = .text(user.map { $0.isEmpty ? account : "\(account) (\($0))" } ?? account)
        } else if let user, !user.isEmpty {
            draft.attributes[.acct] = .text(user)
        }
        return draft
    }

    private mutating func add(
        _ kind: String, _ part: String, _ draft: ItemDraft, _ secret: consuming SecretBytes?,
        to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        try settleAddresses(to: &collector)
        let number = ordinals[part, default: 0]
        ordinals[part] = number + 1
        var draft = draft
        if !areAddressesKept { keepAddresses(in: &draft) }
        draft.attributes[.labl] = .text(title)
        if let created { draft.attributes[.cdat] = .date(created) }
        if let modified { draft.attributes[.mdat] = .date(modified) }
        draft.extra += extra
        draft.extra.append(ExtraAttribute(name: "source.format", value: format))
        draft.extra.append(ExtraAttribute(name: "source.part", value: part))
        if let id { draft.extra.append(ExtraAttribute(name: "source.id", value: id)) }
        if let folder, !folder.isEmpty { draft.extra.append(ExtraAttribute(name: "source.folder", value: folder)) }
        try collector.add(
            RecordPart(
                kind, draft, secret: secret, record: identity,
                ordinal: RecordPart.Ordinal(record: ordinal, part: number), part: part, name: title))
    }

    private static func isApp(_ scheme: String) -> Bool {
        ["android", "androidapp", "iosapp"].contains(scheme)
    }
}

extension RecordWriter {
    /// Ends the record, once all its parts were added: adds what has only been in its addresses, and counts a record
    /// without any part.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func finish(to collector: inout RecordCollector) throws(ForeignFailure) {
        try settleAddresses(to: &collector)
        guard ordinals.isEmpty, !areAddressesKept else { return }
        if user == nil, token == nil, addresses.isEmpty { return collector.leaveOut("record without a secret") }
        try addLogin(nil, to: &collector)
    }

    /// States that another item holds user and addresses, so that parts added later do not.
    package mutating func omitAddresses() {
        areAddressesSettled = true
        areAddressesKept = true
    }

    /// Adds, once, the addresses that cannot be attributes: some programs keep the seeds of one-time passwords among
    /// them, and text that is not a well-formed address may hold a password.
    private mutating func settleAddresses(to collector: inout RecordCollector) throws(ForeignFailure) {
        if areAddressesSettled { return }
        areAddressesSettled = true
        let given = addresses
        addresses = given.filter { WebAddress($0) != nil }
        collector.leaveOut("further address", max(0, addresses.count - Self.addressLimit))
        addresses = Array(addresses.prefix(Self.addressLimit))
        let accepted = addresses.compactMap(WebAddress.init)
        collector.leaveOut("password in an address", accepted.count(where: \.hasSecret))
        collector.leaveOut("part of an address behind '?', '#' or ';'", accepted.count(where: \.isCut))
        for address in given where WebAddress(address) == nil {
            let text = address.drop { $0.isWhitespace }
            if text.isEmpty { continue }
            if text.prefix(8).lowercased() == "otpauth:" {
                try addOneTimePassword(SecretBytes(copying: text.utf8), to: &collector)
            } else {
                try addField("address", SecretBytes(copying: address.utf8), to: &collector)
                collector.remark("addresses that are not well-formed may hold passwords, and became secrets")
            }
        }
    }

    /// The maximum number of addresses of a record, so that an item does not have more attributes than it may have.
    private static let addressLimit = 200

    private func keepAddresses(in draft: inout ItemDraft) {
        for (index, address) in addresses.compactMap(WebAddress.init).enumerated() {
            draft.extra.append(ExtraAttribute(name: "url.\(index + 1)", value: address.readable))
        }
    }

    /// What identifies a record without an ID: its title, addresses and user name, without the secrets in them.
    package static func names(
        title: String, addresses: [String], user: String?, password: borrowing SecretBytes?
    ) -> [String] {
        let isToken = user.map { AccessToken.isToken($0.utf8.span, password: password) } ?? false
        let places = addresses.compactMap { WebAddress($0)?.readable }
        return [title, places.joined(separator: " "), isToken ? "" : user ?? ""]
    }

    /// Makes the identity of a record without an ID from texts that are not secrets, delimited by their lengths.
    package static func identity(of texts: [String]) -> String {
        texts.map { "\($0.utf8.count)\n\($0)" }.joined()
    }
}

/// A file that belongs to a record.
package final class ForeignAttachment: Sendable {
    /// Foreign text.
    package let name: String
    package let bytes: SecretBytes

    /// Names a file.
    package init(name: String, _ bytes: consuming SecretBytes) {
        self.name = name
        self.bytes = bytes
    }
}
