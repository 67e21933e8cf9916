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
            guard let name = user, AccessToken.isToken(name.utf8.span) else { return }
            token = ForeignAttachment(name: "access token", SecretBytes(copying: name.utf8))
            user = nil
        }
    }
    private var token: ForeignAttachment?
    package var addresses: [String] = []
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
        let host = addresses.lazy.compactMap { WebAddress($0)?.host }.first
        return host ?? addresses.first.map(WebAddress.readable) ?? user ?? "untitled"
    }

    /// Adds the password, or a login without one if it is nil.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addLogin(
        _ password: consuming SecretBytes?, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        findToken(password)
        // Some programs keep the seed of a one-time password among the addresses.
        for address in addresses where Self.isSeed(address) {
            try addOneTimePassword(SecretBytes(copying: address.utf8), to: &collector)
        }
        addresses.removeAll(where: Self.isSeed)
        collector.leaveOut("password in an address", addresses.count(where: WebAddress.hasSecret))
        collector.leaveOut(
            "part of an address behind '?' or '#'", addresses.count { $0.contains { "?#".contains($0) } })
        var draft: ItemDraft
        let first = addresses.first { !$0.isEmpty }
        if let address = first.flatMap(WebAddress.init), !Self.isApp(address.scheme) {
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
            draft.attributes[.svce] = .text(first.flatMap(Self.package) ?? title)
            if let user { draft.attributes[.acct] = .text(user) }
        }
        var number = 0
        for address in addresses where !address.isEmpty {
            number += 1
            draft.extra.append(ExtraAttribute(name: "url.\(number)", value: WebAddress.readable(address)))
        }
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
        token = ForeignAttachment(name: "access token", SecretBytes(copying: name.utf8))
        user = nil
    }

    /// Adds a one-time password: an `otpauth:` address, or a base32 seed, from which one is made.
    ///
    /// - Throws: as `RecordCollector.add`.
    package mutating func addOneTimePassword(
        _ secret: borrowing SecretBytes, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let host = addresses.lazy.compactMap { WebAddress($0)?.host }.first
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
        let number = ordinals[part, default: 0]
        ordinals[part] = number + 1
        var draft = draft
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

    private static func isSeed(_ address: String) -> Bool {
        address.prefix(8).lowercased() == "otpauth:"
    }

    private static func isApp(_ scheme: String) -> Bool {
        ["android", "androidapp", "iosapp"].contains(scheme)
    }

    /// The identifier of the app that an address refers to.
    private static func package(_ address: String) -> String? {
        guard let parts = WebAddress(address), isApp(parts.scheme) else { return nil }
        return parts.host
    }
}

extension RecordWriter {
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
