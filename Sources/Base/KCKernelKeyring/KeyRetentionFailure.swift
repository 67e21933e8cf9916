internal import Glibc

/// Why a payload could not be kept, read or destroyed.
package enum KeyRetentionFailure: Error, Hashable, Sendable {
    /// The kernel denies its key service to this process with this `errno`, as in many containers.
    case refused(Int32)
    /// The user's quota (`EDQUOT`) or memory (`ENOMEM`) is exhausted.
    case full(Int32)
    /// Any other failure, with this `errno`, during this operation.
    case system(Int32, doing: String)

    /// Converts an `errno` of keyctl(2) or add_key(2).
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

    /// The failure as a clause without a full stop.
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
