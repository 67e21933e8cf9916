public import ByteStreams
public import Cryptography

/// Why the device key, or what is kept under it, could not be used.
public enum DeviceKeyFailure: Error, Hashable, Sendable {
    /// The file is missing, exists already, is exposed to others, or the system refused.
    case file(FileFailure)
    /// The file breaks a rule of its form; the text names the rule and never holds foreign text.
    case malformed(path: String, rule: String)
    /// The key was made on another machine, or the system was installed anew: adopt it or renew it first.
    case otherMachine(DeviceID)
    /// A key was set aside under this path before, and it is a different one.
    case retiredKeyDiffers(path: String)
    /// The list of trusted devices was changed by something else than this program under this key.
    case alteredTrustList(path: String)
    /// A name for a trusted device is empty, longer than 128 bytes, or holds control characters.
    case unusableName
    /// libcrypto refused.
    case cryptography(CryptographyFailure)
}

extension DeviceKeyFailure {
    /// Runs file operations and gives their failures this target's type.
    static func files<R: ~Copyable>(_ body: () throws(FileFailure) -> R) throws(DeviceKeyFailure) -> R {
        do throws(FileFailure) { return try body() } catch { throw .file(error) }
    }

    /// Runs cryptographic operations and gives their failures this target's type.
    static func crypto<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(DeviceKeyFailure) -> R {
        do throws(CryptographyFailure) { return try body() } catch { throw .cryptography(error) }
    }
}
