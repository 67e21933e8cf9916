// Values from SecItemConstants.c in Apple's Security-61901: numbers as text.

/// The public half.
public let kSecAttrKeyClassPublic: CFString = "0"
/// The private half.
public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
public let kSecAttrKeyClassSymmetric: CFString = "2"
/// RSA.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// DSA.
public let kSecAttrKeyTypeDSA: CFString = "43"
/// Elliptic curves of prime order (NIST).
public let kSecAttrKeyTypeEC: CFString = "73"
/// Elliptic curves of prime order (NIST).
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// Elliptic curves of prime order (NIST).
public let kSecAttrKeyTypeECDSA: CFString = "73"
/// Ed25519.
public let kSecAttrKeyTypeEd25519: CFString = "105"
/// X25519.
public let kSecAttrKeyTypeX25519: CFString = "106"
/// AES.
public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// DES.
public let kSecAttrKeyTypeDES: CFString = "14"
/// Triple DES.
public let kSecAttrKeyType3DES: CFString = "17"
/// RC2.
public let kSecAttrKeyTypeRC2: CFString = "23"
/// RC4.
public let kSecAttrKeyTypeRC4: CFString = "25"
/// CAST.
public let kSecAttrKeyTypeCAST: CFString = "56"
/// The attributes of the private half of a key pair to be generated.
public let kSecPrivateKeyAttrs: CFString = "private"
/// The attributes of the public half of a key pair to be generated.
public let kSecPublicKeyAttrs: CFString = "public"
