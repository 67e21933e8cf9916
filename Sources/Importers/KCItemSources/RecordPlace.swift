internal import KCByteStreams
package import KCKeychainModel

/// Where in a record of a password manager an item belongs.
///
/// An import names the place in the attribute `source.part`, so that an export can join the items again.
package enum RecordPlace: Hashable, Sendable {
    case login
    /// A login whose user name is an access token, which is the secret.
    case token
    case oneTimePassword
    case note
    case field(String)
    /// The fields of a card, an identity or a similar record as one JSON object.
    case object(String)
    /// A passkey for a host.
    case passkey(String)
    case privateKey
    /// The password of a Wi-Fi network.
    case network(String)
    case attachment(String)

    /// The value of `source.part`.
    package var part: String {
        switch self {
        case .login: "password"
        case .token: "token"
        case .oneTimePassword: "totp"
        case .note: "note"
        case .field(let name): "field \(name)"
        case .object(let kind): kind
        case .passkey(let host): "passkey \(host)"
        case .privateKey: "private key"
        case .network(let name): "wifi \(name)"
        case .attachment(let name): "attachment \(name)"
        }
    }

    /// The kind of the item, for people.
    package var kind: String {
        switch self {
        case .login, .token: "login"
        case .oneTimePassword: "one-time password"
        case .note: "note"
        case .field: "custom field"
        case .object(let kind): kind
        case .passkey: "passkey"
        case .privateKey: "private key"
        case .network: "Wi-Fi password"
        case .attachment: "attachment"
        }
    }

    /// The name of a field or an attachment that holds the part where there is no other place for it.
    package var fieldName: String {
        switch self {
        case .field(let name), .attachment(let name): name
        case .oneTimePassword: "one-time password"
        case .login, .token, .note, .object, .passkey, .privateKey, .network: part
        }
    }

    /// The place that an import has named; for an item that no import made, the one that its markers tell.
    package init(of item: Item) {
        guard item.itemClass == .genericPassword else {
            self = .login
            return
        }
        self = item.free("source.part").map(Self.init(part:)) ?? Self.marked(item.attributes)
    }

    init(part: String) {
        let starts: [(start: String, place: (String) -> RecordPlace)] = [
            ("field ", { .field($0) }), ("passkey ", { .passkey($0) }), ("wifi ", { .network($0) }),
            ("attachment ", { .attachment($0) }),
        ]
        for (start, place) in starts {
            if let name = part.exact.removingPrefix(start) {
                self = place(name)
                return
            }
        }
        let whole: [RecordPlace] = [.login, .token, .oneTimePassword, .note, .privateKey]
        self = whole.first { $0.part.exact == part.exact } ?? (part.isEmpty ? .login : .object(part))
    }

    private static func marked(_ attributes: Attributes) -> RecordPlace {
        switch attributes.text(.desc) {
        case "secure note": .note
        case "one-time password": .oneTimePassword
        case "passkey": .passkey(attributes.text(.svce) ?? "")
        case "AirPort network password": .network(attributes.text(.acct) ?? "")
        default: attributes.number(.type) == noteType ? .note : .login
        }
    }

    /// Apple's number for a secure note: `note` as a four-character code.
    package static let noteType: Int64 = 1_852_798_053
}

extension Item {
    /// The value of an attribute that has no code.
    func free(_ name: String) -> String? { extra.first { $0.name.exact == name.exact }?.value }
}
