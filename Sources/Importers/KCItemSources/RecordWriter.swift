package import KCByteStreams
package import KCKeychainModel

/// Makes the items of one record of a password manager, one per secret (docs/import.md, "What becomes of a record").
///
/// Only titles, addresses, user names, folders, and the names of fields and files become attributes, because attributes
/// are readable while a keychain is locked. Whatever adds an item throws as `RecordCollector.add`.
///
/// ```swift
/// let record = RecordWriter(collector, identity: id, title: "Bank")
/// record.addresses = ["https://bank.example/login"]
/// try record.addLogin(user: "ada", password: password)
/// try record.addNote(text)
/// ```
package final class RecordWriter {
    /// How a server asks for the password, if that is known.
    package enum Authentication: Hashable, Sendable {
        case unknown
        case form
        /// HTTP authentication for a realm.
        case http(realm: String)
    }

    /// Where the items go.
    package let collector: RecordCollector
    let identity: String
    private let ordinal: Int
    private let givenTitle: String
    /// The record's ID in its program, if it has one; it becomes a readable attribute.
    package var id: String?
    /// The folder, vault or group of the record.
    package var folder: String?
    /// The user whose name the items beside the login have.
    ///
    /// The name comes only from the methods that add a login or a user. They make an item of an access token in its
    /// place, so that no token is lost or becomes readable.
    var user: String?
    /// Seeded hashes of the tokens in the place of user names, which other parts may repeat.
    private var tokens: Set<Int> = []
    /// The addresses as its program stores them, some of which may hold secrets; set before any part is added.
    package var addresses: [String] = [] {
        didSet { parsed = nil }
    }
    /// The parsed addresses, if they are known; nil for malformed ones.
    var parsed: [WebAddress?]?
    /// The addresses that become attributes; nil until those that cannot have become items.
    var places: [WebAddress]?
    /// The addresses with a password or a token, as they are written.
    var secretAddresses: [(text: String, isCut: Bool)] = []
    /// Seeded hashes of the secrets of all items so far, if there are such addresses.
    var keptSecrets: Set<Int> = []
    /// True once an item has the addresses as attributes.
    var areAddressesKept = false
    package var authentication = Authentication.unknown
    package var created: Timestamp?
    package var modified: Timestamp?
    /// Further attributes that are not secret and have no column, by name.
    package var extra: [ExtraAttribute] = []
    /// The items of which kcbackup's own export made the record; set before any part is added.
    package var returned: ReturnedRecord?
    /// The number of parts with each name so far.
    var ordinals: [ExactText: Int] = [:]

    /// Begins a record.
    ///
    /// - Parameters:
    ///   - collector: where the items go.
    ///   - identity: identifies the record in its file; UUIDs are derived from it, so it never contains a secret.
    ///   - ordinal: the number of earlier records with this identity; 0 for a record with an ID.
    ///   - title: the record's name in its program; may be empty.
    package init(_ collector: RecordCollector, identity: String, ordinal: Int = 0, title: String) {
        self.collector = collector
        self.identity = identity
        self.ordinal = ordinal
        givenTitle = title
    }

    /// Sets the addresses, which were parsed before.
    package func setAddresses(_ addresses: [String], parsed: [WebAddress?]) {
        self.addresses = addresses
        self.parsed = parsed
    }

    /// The record's title, or a substitute if it has none.
    package var title: String {
        if !givenTitle.isEmpty { return givenTitle }
        return host ?? user ?? "untitled"
    }

    /// The host or the app of the first address.
    private var host: String? {
        if let places { return places.first?.host }
        return addresses.lazy.compactMap { WebAddress($0)?.host }.first
    }

    /// Adds an attribute that is not secret and has no column, unless the value is missing.
    package func describe(_ name: String, _ value: String?) {
        if let value { extra.append(ExtraAttribute(name: name, value: value)) }
    }

    /// Adds a login, whose password may be missing; the first one with a user gives the other parts its name.
    ///
    /// An access token in the place of the user name becomes the secret of the login. If the password is missing or empty,
    /// the one in an address of the login takes its place, with the name before it if the user has none.
    ///
    /// - Parameter others: further names of the user, which become attributes of all items unless they are tokens.
    package func addLogin(
        user name: String?, others: [ExtraAttribute] = [], password: consuming SecretBytes?
    ) throws(ForeignFailure) {
        if let returned, Self.isMissing(password), !returned.has(.login) {
            // The record is no login; other programs write an empty password in each.
            omitLogin(of: name)
            return
        }
        guard Self.isMissing(password), !AccessToken.isToken(name, password: nil), let address = loginAddress(of: name)
        else { return try addCompleteLogin(name, others, password) }
        if name?.isEmpty ?? true {
            return try addCompleteLogin(WebAddress.name(in: address), others, WebAddress.password(in: address))
        }
        let token = WebAddress.token(in: address)
        switch consume token {
        case .some(let token): try addCompleteLogin(name, others, token)
        case .none: try addCompleteLogin(name, others, WebAddress.password(in: address))
        }
    }

    private static func isMissing(_ password: borrowing SecretBytes?) -> Bool {
        switch password {
        case .some(let password): password.isEmpty
        case .none: true
        }
    }

    private func addCompleteLogin(
        _ name: String?, _ others: [ExtraAttribute], _ password: consuming SecretBytes?
    ) throws(ForeignFailure) {
        let isToken = AccessToken.isToken(name, password: password)
        let account = isToken ? nil : name
        user = user ?? account
        if isToken, let name { tokens.insert(name.hashValue) }
        let others = split(others, password)
        let places = try settleAddresses()
        var draft: ItemDraft
        if let address = places.first, !Self.isApp(address.scheme) {
            draft = ItemDraft(itemClass: .internetPassword)
            if let account { draft.attributes[.acct] = .text(account) }
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
            draft.attributes[.svce] = .text(places.first?.host ?? title)
            if let account { draft.attributes[.acct] = .text(account) }
        }
        keep(places, in: &draft)
        areAddressesKept = true
        if isToken, let name {
            try add("access token", .token, draft, SecretBytes(copying: name.utf8))
            if let password, !AccessToken.isSpare(password) { try addField("password", password) }
        } else {
            let kind: String
            switch password {
            case .some: kind = "password"
            case .none: kind = "login without a password"
            }
            try add(kind, .login, draft, password)
        }
        for token in others { try addField(token.name, SecretBytes(copying: token.value.utf8)) }
    }

    /// Adds the user of a record that has no login: a name for the other parts, or a login if it is an access token.
    ///
    /// - Parameter others: as for `addLogin`.
    package func addUser(_ name: String?, others: [ExtraAttribute] = []) throws(ForeignFailure) {
        if AccessToken.isToken(name, password: nil) {
            return try addLogin(user: name, others: others, password: nil)
        }
        user = user ?? name
        for token in split(others, nil) {
            try addField(token.name, SecretBytes(copying: token.value.utf8))
        }
    }

    /// Keeps further names as attributes, and returns the access tokens among them.
    private func split(_ names: [ExtraAttribute], _ password: borrowing SecretBytes?) -> [ExtraAttribute] {
        var tokens: [ExtraAttribute] = []
        for name in names {
            if AccessToken.isToken(name.value, password: password) { tokens.append(name) } else { extra.append(name) }
        }
        return tokens
    }

    /// Adds a one-time password: an `otpauth:` address, or a base32 seed, from which one is made; text that gives no codes
    /// is kept, and named.
    package func addOneTimePassword(_ secret: borrowing SecretBytes) throws(ForeignFailure) {
        let address = OneTimePasswordAddress.make(of: secret, issuer: title, user: user)
        if !OneTimePasswordAddress.givesCodes(address) { collector.refuseCode(of: title) }
        let own = returned?.secret(of: .oneTimePassword).flatMap { part in
            OneTimePasswordAddress.isSame(part.bytes, address, issuer: title, user: user) ? part : nil
        }
        let draft = draft(service: host ?? title, account: "one-time password", kind: "one-time password")
        try add("one-time password", .oneTimePassword, draft, own?.bytes.copy() ?? address.copy())
    }

    /// Adds a one-time password that an authenticator stores as a base32 seed with parameters; with another seed, no codes
    /// can be made of it.
    ///
    /// - Throws: also `ForeignFailure.damaged` without a seed.
    package func addOneTimePassword(
        seed: borrowing SecretBytes, _ parameters: OneTimePasswordParameters
    ) throws(ForeignFailure) {
        if seed.isEmpty { throw .damaged("it has no seed") }
        try addOneTimePassword(
            OneTimePasswordAddress.make(ofText: seed, issuer: givenTitle, user: user, parameters))
    }

    /// Adds a note of the record.
    ///
    /// - Parameter isWhole: true if the record consists only of this note.
    package func addNote(_ text: consuming SecretBytes, isWhole: Bool = false) throws(ForeignFailure) {
        var draft = draft(service: title, account: isWhole ? nil : "note", kind: "secure note")
        // Apple marks a secure note with the characters "note".
        draft.attributes[.type] = .number(RecordPlace.noteType)
        try add("note", .note, draft, text)
    }

    /// Adds another field, whether its program hides it or not.
    package func addField(_ name: String, _ value: consuming SecretBytes) throws(ForeignFailure) {
        let name = name.isEmpty ? "field" : name
        let draft = draft(service: title, account: name, kind: "field")
        try add("field", .field(name), draft, value)
    }

    /// Adds all fields of a card, an identity or a similar record as one JSON object.
    package func addObject(_ kind: String, _ json: consuming SecretBytes) throws(ForeignFailure) {
        try add(kind, .object(kind), draft(service: title, account: nil, kind: kind), json)
    }

    /// Adds a passkey; one whose private key cannot be read is kept as it is, and named.
    package func addPasskey(_ passkey: borrowing Passkey) throws(ForeignFailure) {
        if !passkey.isKey { collector.refuse(title, .kept("the private key of its passkey cannot be read")) }
        let own = returned?.secret(of: .passkey(passkey.host))
        let isSame = own.map { Passkey.isSame(passkey, $0.bytes) } ?? false
        let secret = isSame ? own?.bytes.copy() ?? passkey.json() : passkey.json()
        try add(passkey: secret, host: passkey.host, user: passkey.userName)
    }

    /// Adds a passkey in the form of its program, which only this knows, and names it.
    package func addPasskey(host: String, user: String?, _ json: consuming SecretBytes) throws(ForeignFailure) {
        collector.refuse(title, .kept("its passkey has a form that only its own program reads"))
        try add(passkey: json, host: host, user: user)
    }

    private func add(passkey json: consuming SecretBytes, host: String, user: String?) throws(ForeignFailure) {
        var draft = draft(service: host, account: nil, kind: "passkey")
        let name = user.flatMap { AccessToken.isToken($0, password: nil) || tokens.contains($0.hashValue) ? nil : $0 }
        draft.attributes[.acct] = .text(name.map { "passkey (\($0))" } ?? "passkey")
        try add("passkey", .passkey(host), draft, json)
    }

    /// Adds a private key in the form in which its program stores it.
    package func addPrivateKey(_ key: consuming SecretBytes) throws(ForeignFailure) {
        let draft = draft(service: title, account: "private key", kind: "private key")
        try add("private key", .privateKey, draft, key)
    }

    /// Adds the password of a Wi-Fi network, with the attributes that Apple uses for it.
    package func addNetwork(_ name: String, _ password: consuming SecretBytes?) throws(ForeignFailure) {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text("AirPort")
        draft.attributes[.acct] = .text(name)
        draft.attributes[.desc] = .text("AirPort network password")
        if givenTitle.isEmpty { draft.attributes[.labl] = .text(name) }
        try add("Wi-Fi password", .network(name), draft, password)
    }

    /// Adds an attachment.
    package func addAttachment(_ name: String, _ bytes: consuming SecretBytes) throws(ForeignFailure) {
        let draft = draft(service: title, account: name.isEmpty ? "attachment" : name, kind: "attachment")
        try add("attachment", .attachment(name), draft, bytes)
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

    private func add(
        _ kind: String, _ place: RecordPlace, _ draft: ItemDraft, _ secret: consuming SecretBytes?
    ) throws(ForeignFailure) {
        var secret = secret
        let part = place.part
        let places = try settleAddresses()
        if !secretAddresses.isEmpty { noteKept(secret) }
        let number = ordinals[part.exact, default: 0]
        ordinals[part.exact] = number + 1
        var draft = draft
        if !areAddressesKept { keep(places, in: &draft) }
        if draft.attributes[.labl] == nil { draft.attributes[.labl] = .text(title) }
        if let created { draft.attributes[.cdat] = .date(created) }
        if let modified { draft.attributes[.mdat] = .date(modified) }
        draft.extra += extra
        draft.extra += origin
        draft.extra.append(ExtraAttribute(name: "source.part", value: part))
        if let folder, !folder.isEmpty { draft.extra.append(ExtraAttribute(name: ExportName.folder, value: folder)) }
        returned?.restore(part, &draft, &secret)
        try collector.add(
            RecordPart(
                kind, draft, secret: secret, record: identity,
                ordinal: RecordPart.Ordinal(record: ordinal, part: number), part: part, name: title))
    }

    private static func isApp(_ scheme: String) -> Bool {
        ["android", "androidapp", "iosapp"].contains(scheme)
    }
}
