// Values: SecImportExport.h of Apple's Security-61901.

/// A format of a file of certificates and keys.
public enum SecExternalFormat: UInt32, Hashable, Sendable {
    /// To be found out in an import; in an export one that suits the items.
    case formatUnknown
    /// What OpenSSL calls traditional: PKCS #1 for RSA, SEC 1 for elliptic curves; a public key is a SubjectPublicKeyInfo.
    case formatOpenSSL
    /// Not supported: keys of SSH 1.
    case formatSSH
    /// PKCS #1, for RSA keys.
    case formatBSAFE
    /// The bytes of a symmetric key.
    case formatRawKey
    /// PKCS #8, encrypted with the passphrase.
    case formatWrappedPKCS8
    /// In imports alone: OpenSSL's traditional form, encrypted.
    case formatWrappedOpenSSL
    /// Not supported: encrypted keys of SSH 1.
    case formatWrappedSSH
    /// Not supported.
    case formatWrappedLSH
    /// The DER of a certificate.
    case formatX509Cert
    /// Several items, each as a block of PEM.
    case formatPEMSequence
    /// In imports alone: certificates in PKCS #7.
    case formatPKCS7
    /// Identities, encrypted with the passphrase.
    case formatPKCS12
    /// Not supported.
    case formatNetscapeCertSequence
    /// Not supported: keys of SSH 2.
    case formatSSHv2
}

/// What a file of certificates and keys holds.
public enum SecExternalItemType: UInt32, Hashable, Sendable {
    /// To be found out.
    case itemTypeUnknown
    /// A private key.
    case itemTypePrivateKey
    /// A public key.
    case itemTypePublicKey
    /// A symmetric key.
    case itemTypeSessionKey
    /// A certificate.
    case itemTypeCertificate
    /// Several items.
    case itemTypeAggregate
}

/// How a file is written.
public struct SecItemImportExportFlags: OptionSet, Hashable, Sendable {
    /// The flags as bits.
    public let rawValue: UInt32

    /// Creates flags from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As PEM.
    public static let pemArmour = SecItemImportExportFlags(rawValue: 1 << 0)
}

/// How keys are imported.
public struct SecKeyImportExportFlags: OptionSet, Hashable, Sendable {
    /// The flags as bits.
    public let rawValue: UInt32

    /// Creates flags from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A file with several private keys is refused.
    public static let importOnlyOne = SecKeyImportExportFlags(rawValue: 1 << 0)
    /// Not supported: the user is asked for the passphrase.
    public static let securePassphrase = SecKeyImportExportFlags(rawValue: 1 << 1)
    /// Accepted and ignored: keys have no list of trusted programs here.
    public static let noAccessControl = SecKeyImportExportFlags(rawValue: 1 << 2)
}

/// The version of `SecItemImportExportKeyParameters`.
public let SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION: UInt32 = 0

/// What an import or export of keys needs.
@safe public struct SecItemImportExportKeyParameters {
    /// `SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION`.
    public var version: UInt32 = SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION
    /// How keys are imported.
    public var flags: SecKeyImportExportFlags = []
    /// A text or data: `Unmanaged.passUnretained("walnut" as AnyObject)`.
    public var passphrase: Unmanaged<CFTypeRef>?
    /// Ignored: no dialog is shown.
    public var alertTitle: Unmanaged<CFTypeRef>?
    /// Ignored: no dialog is shown.
    public var alertPrompt: Unmanaged<CFTypeRef>?
    /// Ignored: lists of trusted programs are macOS's.
    public var accessRef: Unmanaged<CFTypeRef>?
    /// Ignored: keys have the uses of their kind.
    public var keyUsage: Unmanaged<CFTypeRef>?
    /// Ignored: nothing is added to a keychain, and `SecItemAdd` takes all attributes.
    public var keyAttributes: Unmanaged<CFTypeRef>?

    /// Creates parameters without a passphrase.
    public init() {}
}

/// A keychain of macOS as an object; there is none here, and callers pass nil.
public enum SecKeychain: Hashable, Sendable {}
