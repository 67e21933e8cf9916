// Values from SecItemConstants.c in Apple's Security-61901.

/// The dictionary key of an item's class.
///
/// ```swift
/// let query: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org"]
/// ```
public let kSecClass: CFString = "class"
/// A password for a service; unique by account, service, access group and synchronizability.
public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server; unique by account, domain, server, protocol, authentication type, port, path, access group
/// and synchronizability.
public let kSecClassInternetPassword: CFString = "inet"
/// A certificate; unique by type, issuer, serial number, access group and synchronizability.
public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key.
public let kSecClassKey: CFString = "keys"
/// A certificate and its private key; not stored as an item, but joined by queries.
public let kSecClassIdentity: CFString = "idnt"
