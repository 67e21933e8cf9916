// Values from SecItemConstants.c in Apple's Security-61901. docs/security-module.md lists the attributes of each class.

/// The access group; the first of the program's groups by default.
public let kSecAttrAccessGroup: CFString = "agrp"
/// Whether the item is synchronizable: a Boolean, or in a query `kSecAttrSynchronizableAny`.
public let kSecAttrSynchronizable: CFString = "sync"
/// In a query: matches items whether or not they are synchronizable.
public let kSecAttrSynchronizableAny: CFString = "syna"
/// When the item was added; set by the keychain.
public let kSecAttrCreationDate: CFString = "cdat"
/// When the item was last changed; set by the keychain.
public let kSecAttrModificationDate: CFString = "mdat"
/// The kind of item, for display.
public let kSecAttrDescription: CFString = "desc"
/// A comment.
public let kSecAttrComment: CFString = "icmt"
/// The creator: a four-character code as a number.
public let kSecAttrCreator: CFString = "crtr"
/// The type: a four-character code as a number.
public let kSecAttrType: CFString = "type"
/// The name, for display.
public let kSecAttrLabel: CFString = "labl"
/// An alternative name.
public let kSecAttrAlias: CFString = "alis"
/// The script code of the item's text, as a number.
public let kSecAttrScriptCode: CFString = "scrp"
/// Whether to hide it from the user.
public let kSecAttrIsInvisible: CFString = "invi"
/// Whether the item records that no password is to be stored.
public let kSecAttrIsNegative: CFString = "nega"
/// Whether it has a custom icon.
public let kSecAttrHasCustomIcon: CFString = "cusi"
/// The account.
public let kSecAttrAccount: CFString = "acct"
/// The service.
public let kSecAttrService: CFString = "svce"
/// Arbitrary bytes for the program's own use.
public let kSecAttrGeneric: CFString = "gena"
/// The security domain.
public let kSecAttrSecurityDomain: CFString = "sdmn"
/// The server.
public let kSecAttrServer: CFString = "srvr"
/// The protocol: one of `kSecAttrProtocol…`.
public let kSecAttrProtocol: CFString = "ptcl"
/// The authentication type: one of `kSecAttrAuthenticationType…`.
public let kSecAttrAuthenticationType: CFString = "atyp"
/// The port.
public let kSecAttrPort: CFString = "port"
/// The path.
public let kSecAttrPath: CFString = "path"
/// The subject of a certificate, in DER.
public let kSecAttrSubject: CFString = "subj"
/// The issuer of a certificate, in DER.
public let kSecAttrIssuer: CFString = "issr"
/// The serial number of a certificate.
public let kSecAttrSerialNumber: CFString = "slnr"
/// The subject key identifier of a certificate.
public let kSecAttrSubjectKeyID: CFString = "skid"
/// The SHA-1 of a certificate's public key, which links it to its key.
public let kSecAttrPublicKeyHash: CFString = "pkhh"
/// The type of a certificate; 1 to 3 for X.509 version 1 to 3.
public let kSecAttrCertificateType: CFString = "ctyp"
/// The encoding of a certificate; 3 for DER.
public let kSecAttrCertificateEncoding: CFString = "cenc"
/// The class of a key: one of `kSecAttrKeyClass…`.
public let kSecAttrKeyClass: CFString = "kcls"
/// The SHA-1 of the public key, which links a key to its certificate.
public let kSecAttrApplicationLabel: CFString = "klbl"
/// Arbitrary bytes for the program's own use.
public let kSecAttrApplicationTag: CFString = "atag"
/// The algorithm: one of `kSecAttrKeyType…`.
public let kSecAttrKeyType: CFString = "type"
/// The size of a key in bits.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The effective size of a key.
public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Whether a key is permanent.
public let kSecAttrIsPermanent: CFString = "perm"
/// Whether a key may be exported only in encrypted form; stored, but not enforced here.
public let kSecAttrIsSensitive: CFString = "sens"
/// Whether a key may be exported at all; stored, but not enforced here.
public let kSecAttrIsExtractable: CFString = "extr"
/// Whether a key may encrypt.
public let kSecAttrCanEncrypt: CFString = "encr"
/// Whether a key may decrypt.
public let kSecAttrCanDecrypt: CFString = "decr"
/// Whether a key may derive others.
public let kSecAttrCanDerive: CFString = "drve"
/// Whether a key may sign.
public let kSecAttrCanSign: CFString = "sign"
/// Whether a key may verify.
public let kSecAttrCanVerify: CFString = "vrfy"
/// Whether a key may wrap others.
public let kSecAttrCanWrap: CFString = "wrap"
/// Whether a key may unwrap others.
public let kSecAttrCanUnwrap: CFString = "unwp"
/// Part of the unique key; empty by default.
public let kSecAttrSyncViewHint: CFString = "vwht"
/// The token that holds a key; there are no tokens here.
public let kSecAttrTokenID: CFString = "tkid"
/// The Secure Enclave; no machine here has one.
public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// In queries: whether an item is the tombstone of a deleted synchronizable item.
public let kSecAttrTombstone: CFString = "tomb"
/// Part of the unique key; empty for the user's own items.
public let kSecAttrMultiUser: CFString = "musr"
/// Part of the unique key; empty by default.
public let kSecAttrSharingGroup: CFString = "ggrp"
