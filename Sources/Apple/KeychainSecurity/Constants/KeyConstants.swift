// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901: numbers as text.
public import Foundation

/// The public half.
@safe public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
/// The private half.
@safe public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
@safe public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"
/// RSA.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
/// DSA.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"
/// Elliptic curves of prime order (NIST).
@safe public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
/// Elliptic curves of prime order (NIST).
@safe public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// Elliptic curves of prime order (NIST).
@safe public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"
/// Ed25519.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeEd25519: CFString = "105"
/// X25519.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeX25519: CFString = "106"
/// AES.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"
/// DES.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"
/// Triple DES.
@safe public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"
/// RC2.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"
/// RC4.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"
/// CAST.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "56"
/// The attributes of the private half of a key pair to be generated.
@safe public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"
/// The attributes of the public half of a key pair to be generated.
@safe public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"
