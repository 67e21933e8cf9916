package import KCByteStreams
package import KCCryptography

/// Why there is no usable device key.
package enum DeviceKeyFailure: Error, Hashable, Sendable {
    /// There is no device key.
    case notFound(path: String)
    /// A key already exists, or the name for the retired key belongs to another key; the existing key is left alone.
    case exists(path: String)
    /// The key was created on another machine, and the user has not yet said whether this is still that device
    /// (`adopt`, `renew`).
    case otherMachine(path: String, device: DeviceID)
    /// The file is not a valid device key; `rule` names the violated rule.
    case damaged(path: String, rule: String)
    /// A copy of a device key is not valid; `rule` names the violated rule.
    case exportDamaged(path: String, rule: String)
    /// The chip holds the key already.
    case heldByChip(path: String, device: DeviceID)
    /// The file holds the key already.
    case heldByFile(path: String, device: DeviceID)
    /// The file is not safe to use, or cannot be read or written.
    case file(FileFailure)
    /// A derivation failed, or the chip that holds the key.
    case cryptography(CryptographyFailure)

    /// Maps the two file problems that have their own cases.
    init(_ failure: FileFailure) {
        switch failure.problem {
        case .notFound: self = .notFound(path: failure.path)
        case .exists: self = .exists(path: failure.path)
        default: self = .file(failure)
        }
    }

    /// Converts the errors of the layers below.
    static func wrapping<R: ~Copyable>(_ call: @autoclosure () throws(FileFailure) -> R) throws(DeviceKeyFailure) -> R {
        try failing(as: DeviceKeyFailure.init, call())
    }
}
