// Values from SecImportExport.h in Apple's Security-61901.

/// A file format for certificates and keys.
public enum SecExternalFormat: UInt32, Hashable, Sendable {
    /// On import, detect the format; on export, choose one that suits the items.
    case formatUnknown
    /// OpenSSL's traditional format: PKCS #1 for RSA, SEC 1 for elliptic curves; a public key is a
    /// SubjectPublicKeyInfo.
    case formatOpenSSL
    /// Not supported: keys of SSH 1.
    case formatSSH
    /// PKCS #1, for RSA keys.
    case formatBSAFE
    /// The bytes of a symmetric key.
    case formatRawKey
    /// PKCS #8, encrypted with the passphrase.
    case formatWrappedPKCS8
    /// Import only: OpenSSL's traditional format, encrypted.
    case formatWrappedOpenSSL
    /// Not supported: encrypted keys of SSH 1.
    case formatWrappedSSH
    /// Not supported.
    case formatWrappedLSH
    /// The DER of a certificate.
    case formatX509Cert
    /// Several items, each as a PEM block.
    case formatPEMSequence
    /// Import only: certificates in PKCS #7.
    case formatPKCS7
    /// Identities, encrypted with the passphrase.
    case formatPKCS12
    /// Not supported.
    case formatNetscapeCertSequence
    /// Not supported: keys of SSH 2.
    case formatSSHv2
}

/// The contents of a file of certificates and keys.
public enum SecExternalItemType: UInt32, Hashable, Sendable {
    /// To be detected.
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

    /// Write PEM.
    public static let pemArmour = SecItemImportExportFlags(rawValue: 1 << 0)
}

/// How keys are imported.
public struct SecKeyImportExportFlags: OptionSet, Hashable, Sendable {
    /// The flags as bits.
    public let rawValue: UInt32

    /// Creates flags from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Refuse a file with several private keys.
    public static let importOnlyOne = SecKeyImportExportFlags(rawValue: 1 << 0)
    /// Not supported: ask the user for the passphrase.
    public static let securePassphrase = SecKeyImportExportFlags(rawValue: 1 << 1)
    /// Accepted and ignored: keys here have no list of trusted programs.
    public static let noAccessControl = SecKeyImportExportFlags(rawValue: 1 << 2)
}

/// The version of `SecItemImportExportKeyParameters`.
public let SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION: UInt32 = 0

/// Parameters for importing or exporting keys.
@safe public struct SecItemImportExportKeyParameters {
    /// `SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION`.
    public var version: UInt32 = SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION
    /// How keys are imported.
    public var flags: SecKeyImportExportFlags = []
    /// A string or data: `Unmanaged.passUnretained("walnut" as AnyObject)`.
    public var passphrase: Unmanaged<CFTypeRef>?
    /// Ignored: no dialog is shown.
    public var alertTitle: Unmanaged<CFTypeRef>?
    /// Ignored: no dialog is shown.
    public var alertPrompt: Unmanaged<CFTypeRef>?
    /// Ignored: lists of trusted programs exist only on macOS.
    public var accessRef: Unmanaged<CFTypeRef>?
    /// Ignored: a key's usage follows from its type.
    public var keyUsage: Unmanaged<CFTypeRef>?
    /// Ignored: nothing is added to a keychain, and `SecItemAdd` accepts all attributes.
    public var keyAttributes: Unmanaged<CFTypeRef>?

    /// Creates parameters without a passphrase.
    public init() {}
}

/// A macOS keychain as an object; there are none here, and callers pass nil.
public enum SecKeychain: Hashable, Sendable {}
