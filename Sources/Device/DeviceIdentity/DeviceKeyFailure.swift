package import ByteStreams
package import Cryptography

/// Why there is no device key to work with.
package enum DeviceKeyFailure: Error, Hashable, Sendable {
    /// No device key was ever made here.
    case notFound(path: String)
    /// A key is there already, or another one under the name that a retired key would get; it is left alone.
    case exists(path: String)
    /// The key was made on another machine, and nobody has said whether this is still that device (`adopt`, `renew`).
    case otherMachine(path: String, device: DeviceID)
    /// The file is not a device key as this program writes it; the text names the rule.
    case damaged(path: String, rule: String)
    /// The file cannot be trusted, read or written.
    case file(FileFailure)
    /// A derivation failed.
    case cryptography(CryptographyFailure)

    /// Names the two problems of files that one acts on here.
    init(_ failure: FileFailure) {
        switch failure.problem {
        case .notFound: self = .notFound(path: failure.path)
        case .exists: self = .exists(path: failure.path)
        default: self = .file(failure)
        }
    }

    /// Sorts what the layers below throw.
    static func wrapping<R: ~Copyable>(_ body: () throws(FileFailure) -> R) throws(DeviceKeyFailure) -> R {
        do throws(FileFailure) {
            return try body()
        } catch {
            throw DeviceKeyFailure(error)
        }
    }

    /// Sorts what the layers below throw.
    static func wrapping<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(DeviceKeyFailure) -> R {
        do throws(CryptographyFailure) {
            return try body()
        } catch {
            throw .cryptography(error)
        }
    }
}
