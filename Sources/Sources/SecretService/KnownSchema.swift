internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// The keychain class and attributes that follow from the attributes of known programs.
struct KnownSchema {
    let itemClass: ItemClass
    var attributes = Attributes()

    // libsecret's name for the schema of network passwords.
    private static let network = "org.gnome.keyring.NetworkPassword"
    private static let generic = KeyringIdentity.genericSchema

    /// The maximum length of an account that is made from attributes, in characters.
    private static let accountLength = 200

    /// Derives attributes that people can read from those of an item.
    init(_ item: ServiceItem) {
        switch item[ServiceItem.schema] ?? item.type {
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
        case "org.gnome.OnlineAccounts":
            itemClass = .genericPassword
            set(.svce, "GNOME Online Accounts")
            set(.acct, item["goa-identity"])
        case "chrome_libsecret_password_schema", "chrome_libsecret_os_crypt_password_v1",
            "chrome_libsecret_os_crypt_password_v2":
            itemClass = .genericPassword
            set(.svce, item["signon_realm"] ?? item.label)
            set(.acct, item["username_value"] ?? item["application"])
        default:
            itemClass = .genericPassword
            readGeneric(item)
        }
    }

    private mutating func readNetwork(_ item: ServiceItem) {
        set(.acct, item["user"])
        set(.srvr, item["server"])
        set(.sdmn, item["domain"])
        set(.path, item["object"])
        set(.atyp, item["authtype"])
        if let name = item["protocol"], let number = Self.protocols[name.lowercased()] {
            attributes[.ptcl] = .number(number)
        }
        if let port = item["port"].flatMap({ Int64($0) }), (1...65_535).contains(port) {
            attributes[.port] = .number(port)
        }
    }

    private mutating func readGeneric(_ item: ServiceItem) {
        if let path = item["unique"], path.hasPrefix("ssh-store:") {
            set(.svce, "ssh")
            return set(.acct, String(path.dropFirst("ssh-store:".count)))
        }
        if item.isEntry {
            set(.svce, item["service"] ?? item["URL"].flatMap { $0.isEmpty ? nil : $0 } ?? item.label)
            return set(.acct, item["username"] ?? item["user"] ?? item["account"] ?? item["UserName"])
        }
        let schema = item[ServiceItem.schema].flatMap { $0 == Self.generic ? nil : $0 }
        set(.svce, item["service"] ?? item["application"] ?? schema ?? item.label)
        let account = item["username"] ?? item["user"] ?? item["account"]
        let others = item.attributes.filter { $0.name != ServiceItem.schema && $0.name != "service" }
        set(
            .acct,
            account ?? String(others.map { "\($0.name)=\($0.value)" }.joined(separator: " ").prefix(Self.accountLength))
        )
    }

    private mutating func set(_ code: AttributeCode, _ text: String?) {
        // A longer text is kept only in `extra`.
        guard let text, text.utf8.count <= ItemLimits.attributeSize else { return }
        attributes[code] = .text(text)
    }

    private static func host(_ address: String) -> String {
        let rest = address.split(separator: "://", maxSplits: 1).last ?? ""
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(host.split(separator: "@").last ?? host)
    }

    /// Protocol names, with Apple's four-character codes as numbers.
    private static let protocols: [String: Int64] = [
        "https": 1_752_461_427, "http": 1_752_462_448, "ssh": 1_936_943_136, "sftp": 1_936_943_136,
        "smb": 1_936_548_384,
        "cifs": 1_936_548_384, "ftp": 1_718_906_912, "ftps": 1_718_906_995, "ldap": 1_818_517_872,
        "ldaps": 1_818_521_715, "imap": 1_768_776_048, "imaps": 1_768_779_891, "smtp": 1_936_553_072,
        "afp": 1_634_103_328,
    ]

    /// The attributes of a service that may correspond to an attribute of a keychain; the first is the usual one.
    static func homes(of code: AttributeCode, in itemClass: ItemClass) -> [String] {
        switch code {
        case .svce: ["service", "application"]
        case .acct where itemClass == .internetPassword: ["user", "username"]
        case .acct: ["account", "username", "user", "UserName", "username_value"]
        case .srvr: ["server"]
        case .sdmn: ["domain"]
        case .path: ["object"]
        case .atyp: ["authtype"]
        case .ptcl: ["protocol"]
        case .port: ["port"]
        default: []
        }
    }

    /// The name that a service uses for a protocol.
    static func name(ofProtocol number: Int64) -> String? { protocols.filter { $0.value == number }.keys.min() }

    // MARK: To the service

    /// The service's attributes for an item that does not come from a service.
    static func attributes(of item: Item) -> [ServiceAttribute] {
        var attributes: [ServiceAttribute] = []
        func add(_ name: String, _ code: AttributeCode) {
            guard let bytes = item.attributes[code]?.keyBytes, !bytes.isEmpty else { return }
            if let text = item.attributes.text(code), ServiceMapping.isSpeakable(text) {
                attributes.append(ServiceAttribute(name: name, value: text))
            } else {
                attributes.append(ServiceAttribute(name: name + ":base64", value: Base64.encode(bytes)))
            }
        }
        if item.itemClass == .internetPassword {
            attributes.append(ServiceAttribute(name: ServiceItem.schema, value: network))
            add("user", .acct)
            add("server", .srvr)
            add("domain", .sdmn)
            add("object", .path)
            add("authtype", .atyp)
            if let number = item.attributes.number(.ptcl), number != 0 {
                let name = name(ofProtocol: number) ?? String(number)
                attributes.append(ServiceAttribute(name: "protocol", value: name))
            }
            if let port = item.attributes.number(.port), port != 0 {
                attributes.append(ServiceAttribute(name: "port", value: String(port)))
            }
        } else {
            attributes.append(ServiceAttribute(name: ServiceItem.schema, value: generic))
            add("service", .svce)
            add("account", .acct)
        }
        if item.accessGroup != ItemDraft.defaultAccessGroup { add("access-group", .agrp) }
        return attributes
    }
}
