/// The kind of proof that the owner of the device is there.
public enum LAPolicy: Int, Hashable, Sendable {
    /// A fingerprint or face; never available here.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// The passcode of the keychain.
    case deviceOwnerAuthentication = 2
    /// A watch; never available here.
    case deviceOwnerAuthenticationWithWatch = 3
    /// A fingerprint, a face or a watch; never available here.
    case deviceOwnerAuthenticationWithBiometricsOrWatch = 4
}

/// A way to recognize a person.
public enum LABiometryType: Int, Hashable, Sendable {
    /// None: the value on this system.
    case none = 0
    /// A fingerprint.
    case touchID = 1
    /// A face.
    case faceID = 2
    /// The eyes.
    case opticID = 4
}

/// A secret that a program supplies itself.
public enum LACredentialType: Int, Hashable, Sendable {
    /// A password of the program; not supported.
    case applicationPassword = 0
    /// The PIN of a smart card; not supported.
    case smartCardPIN = -3
}

/// An operation with an item or key under an access control.
public enum LAAccessControlOperation: Int, Hashable, Sendable {
    /// An item is added.
    case createItem = 0
    /// The secret of an item is read.
    case useItem = 1
    /// A key is created.
    case createKey = 2
    /// A key signs.
    case useKeySign = 3
    /// A key decrypts.
    case useKeyDecrypt = 4
    /// A key is used for a key exchange.
    case useKeyKeyExchange = 5
}

/// The longest time for which Touch ID can be reused, in seconds; there is none here.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: Double = 300
