// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901. docs/security-module.md lists the attributes of each class.
public import Foundation

/// The access group; the first of the program's groups by default.
@safe public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
/// Whether the item is synchronizable: a Boolean, or in a query `kSecAttrSynchronizableAny`.
@safe public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
/// In a query: matches items whether or not they are synchronizable.
@safe public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"
/// When the item was added; set by the keychain.
@safe public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"
/// When the item was last changed; set by the keychain.
@safe public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
/// The kind of item, for display.
@safe public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"
/// A comment.
@safe public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"
/// The creator: a four-character code as a number.
@safe public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"
/// The type: a four-character code as a number.
@safe public nonisolated(unsafe) let kSecAttrType: CFString = "type"
/// The name, for display.
@safe public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"
/// An alternative name.
@safe public nonisolated(unsafe) let kSecAttrAlias: CFString = "alis"
/// The script code of the item's text, as a number.
@safe public nonisolated(unsafe) let kSecAttrScriptCode: CFString = "scrp"
/// Whether to hide it from the user.
@safe public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"
/// Whether the item records that no password is to be stored.
@safe public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"
/// Whether it has a custom icon.
@safe public nonisolated(unsafe) let kSecAttrHasCustomIcon: CFString = "cusi"
/// The account.
@safe public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
/// The service.
@safe public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
/// Arbitrary bytes for the program's own use.
@safe public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"
/// The security domain.
@safe public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"
/// The server.
@safe public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"
/// The protocol: one of `kSecAttrProtocol…`.
@safe public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"
/// The authentication type: one of `kSecAttrAuthenticationType…`.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"
/// The port.
@safe public nonisolated(unsafe) let kSecAttrPort: CFString = "port"
/// The path.
@safe public nonisolated(unsafe) let kSecAttrPath: CFString = "path"
/// The subject of a certificate, in DER.
@safe public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"
/// The issuer of a certificate, in DER.
@safe public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"
/// The serial number of a certificate.
@safe public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"
/// The subject key identifier of a certificate.
@safe public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"
/// The SHA-1 of a certificate's public key, which links it to its key.
@safe public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"
/// The type of a certificate; 1 to 3 for X.509 version 1 to 3.
@safe public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"
/// The encoding of a certificate; 3 for DER.
@safe public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"
/// The class of a key: one of `kSecAttrKeyClass…`.
@safe public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
/// The SHA-1 of the public key, which links a key to its certificate.
@safe public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
/// Arbitrary bytes for the program's own use.
@safe public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
/// The algorithm: one of `kSecAttrKeyType…`.
@safe public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
/// The size of a key in bits.
@safe public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The effective size of a key.
@safe public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Whether a key is permanent.
@safe public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
/// Whether a key may be exported only in encrypted form; stored, but not enforced here.
@safe public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
/// Whether a key may be exported at all; stored, but not enforced here.
@safe public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
/// Whether a key may encrypt.
@safe public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
/// Whether a key may decrypt.
@safe public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
/// Whether a key may derive others.
@safe public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
/// Whether a key may sign.
@safe public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
/// Whether a key may verify.
@safe public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
/// Whether a key may wrap others.
@safe public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
/// Whether a key may unwrap others.
@safe public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"
/// Part of the unique key; empty by default.
@safe public nonisolated(unsafe) let kSecAttrSyncViewHint: CFString = "vwht"
/// The token that holds a key; there are no tokens here.
@safe public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"
/// The Secure Enclave; no machine here has one.
@safe public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// In queries: whether an item is the tombstone of a deleted synchronizable item.
@safe public nonisolated(unsafe) let kSecAttrTombstone: CFString = "tomb"
/// Part of the unique key; empty for the user's own items.
@safe public nonisolated(unsafe) let kSecAttrMultiUser: CFString = "musr"
/// Part of the unique key; empty by default.
@safe public nonisolated(unsafe) let kSecAttrSharingGroup: CFString = "ggrp"
