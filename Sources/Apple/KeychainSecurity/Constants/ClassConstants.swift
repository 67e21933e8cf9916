// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901.
public import Foundation

/// The dictionary key of an item's class.
///
/// ```swift
/// let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org"] as CFDictionary
/// ```
@safe public nonisolated(unsafe) let kSecClass: CFString = "class"
/// A password for a service; unique by account, service, access group and synchronizability.
@safe public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
/// A password for a server; unique by account, domain, server, protocol, authentication type, port, path, access group
/// and synchronizability.
@safe public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
/// A certificate; unique by type, issuer, serial number, access group and synchronizability.
@safe public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
/// A cryptographic key.
@safe public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// A certificate and its private key; not stored as an item, but joined by queries.
@safe public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"
