// Values: SecItemConstants.c of Apple's Security-61901.

/// The key of a dictionary that names the class of an item.
public let kSecClass: CFString = "class"
/// A password of a service; unique by account, service, access group and synchronizability.
public let kSecClassGenericPassword: CFString = "genp"
/// A password of a server; unique by account, domain, server, protocol, authentication, port, path, group and
/// synchronizability.
public let kSecClassInternetPassword: CFString = "inet"
/// A certificate; unique by type, issuer, serial number, access group and synchronizability.
public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key.
public let kSecClassKey: CFString = "keys"
/// A certificate with its private key: no item of its own, the two are joined when asked for.
public let kSecClassIdentity: CFString = "idnt"
