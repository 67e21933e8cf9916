/// Why a process did not enter the sandbox.
package enum SandboxFailure: Error, Hashable, Sendable {
    /// The kernel has no Landlock, or a container refuses it.
    case noLandlock
    /// The kernel has no filters of system calls, or a container refuses them.
    case noSeccomp
    /// The process has more than one thread, and Landlock would bind only this one.
    case severalThreads
    /// This descriptor writes to a file or a disk.
    case writableFile(Int32)
    /// A call of the kernel or of libseccomp failed with this `errno`, during this step.
    case system(Int32, doing: String)

    /// The failure as a clause without a full stop.
    package var reason: String {
        switch self {
        case .noLandlock: "this kernel has no Landlock, or a container refuses it"
        case .noSeccomp: "this kernel has no filters of system calls, or a container refuses them"
        case .severalThreads: "the process has more than one thread"
        case .writableFile(let descriptor): "descriptor \(descriptor) writes to a file"
        case .system(let code, let doing): "the kernel failed with error \(code) while \(doing)"
        }
    }
}
