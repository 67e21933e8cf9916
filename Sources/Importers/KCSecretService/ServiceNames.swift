internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Which attributes of a service's item correspond to those of a keychain item.
enum ServiceNames {
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
            attributes.append(ServiceAttribute(name: ServiceItem.schema, value: KeyringSchema.network))
            add("user", .acct)
            add("server", .srvr)
            add("domain", .sdmn)
            add("object", .path)
            add("authtype", .atyp)
            if let number = item.attributes.number(.ptcl), number != 0 {
                let name = WebAddress.scheme(ofProtocolCode: number) ?? String(number)
                attributes.append(ServiceAttribute(name: "protocol", value: name))
            }
            if let port = item.attributes.number(.port), port != 0 {
                attributes.append(ServiceAttribute(name: "port", value: String(port)))
            }
        } else {
            attributes.append(ServiceAttribute(name: ServiceItem.schema, value: KeyringIdentity.genericSchema))
            add("service", .svce)
            add("account", .acct)
        }
        if item.accessGroup != ItemDraft.defaultAccessGroup { add("access-group", .agrp) }
        return attributes
    }
}
