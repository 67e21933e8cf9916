// Fence: calls the C library directly, because Foundation would add 40 MB of tables.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams

/// The operating system's information about this process.
package enum ProcessEnvironment {
    /// The environment; for a duplicate name, the first value.
    package static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            let parts = text.exact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, variables[parts[0]] == nil { variables[parts[0]] = parts[1] }
            unsafe next += 1
        }
        return variables
    }

    /// The home folder, from the environment or, if not set there (as under some timers), from the user database.
    package static var home: String {
        if let home = variables["HOME"], home.exact.hasPrefix("/") { return home }
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            // Users without an entry get the root folder, as with login(1).
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(getuid(), &entry, start, buffer.count, &found) == 0, unsafe found != nil,
                let home = unsafe entry.pw_dir
            else { return "/" }
            return unsafe String(cString: home)
        }
    }

    /// The path of this program; only its name if /proc is not available.
    package static var program: String {
        do throws(FileFailure) {
            let path = try Path.destination(of: "/proc/self/exe")
            // An update has put another program in its place.
            return path.exact.removingSuffix(" (deleted)") ?? path
        } catch {
            return "kcbackup"
        }
    }

    /// The working folder; nil if it was removed.
    package static var workingFolder: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The time of day in microseconds since 1970, in UTC.
    package static var microsecondsSince1970: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
    }
}
