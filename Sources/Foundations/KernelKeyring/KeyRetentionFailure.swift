internal import Glibc

/// Why a payload could not be kept, read or destroyed.
package enum KeyRetentionFailure: Error, Hashable, Sendable {
    /// The kernel refuses its key service to this process, with this `errno`, as it does in many containers.
    case refused(Int32)
    /// No room is left in the user's quota (`EDQUOT`) or in memory (`ENOMEM`).
    case full(Int32)
    /// The kernel failed otherwise, with this `errno`, while doing this.
    case system(Int32, doing: String)

    /// Sorts an `errno` of keyctl(2) or add_key(2).
    init(_ code: Int32, doing: String) {
        switch code {
        case EPERM, EACCES, ENOSYS, EOPNOTSUPP: self = .refused(code)
        case EDQUOT, ENOMEM: self = .full(code)
        default: self = .system(code, doing: doing)
        }
    }

    /// The `errno` behind the failure.
    package var systemCode: Int32 {
        switch self {
        case .refused(let code), .full(let code), .system(let code, doing: _): code
        }
    }

    /// The failure in words, a clause without a full stop.
    package var reason: String {
        switch self {
        case .refused(EPERM): "this process may not use the kernel's key service, as in many containers"
        case .refused(EACCES): "a security policy or the permissions of a key deny the kernel's key service"
        case .refused: "this kernel has no key service"
        case .full(EDQUOT): "the quota of kernel keys is used up"
        case .full: "the kernel has no memory left for keys"
        case .system(let code, let doing): "the kernel failed with error \(code) while \(doing)"
        }
    }
}
