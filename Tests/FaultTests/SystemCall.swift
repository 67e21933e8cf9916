/// A system call of a traced run that changes a file.
struct SystemCall: Hashable, Sendable, CustomStringConvertible {
    let name: String
    /// Its number among the calls with this name, from 1; strace counts per name and thread.
    let number: Int
    /// As strace printed it.
    let text: String

    var description: String { "\(name) no. \(number): \(text)" }

    /// True if it is unknown what is durable after the call fails.
    var synchronizes: Bool { ["fsync", "fdatasync"].contains(name) }

    private static let names: Set<String> = [
        "write", "pwrite64", "writev", "pwritev", "ftruncate", "truncate", "fallocate", "fsync", "fdatasync", "open",
        "openat", "creat", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "unlink",
        "unlinkat", "rmdir", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "copy_file_range", "sendfile",
    ]

    /// The strace expression that selects these calls.
    static let traced = "trace=" + names.sorted().joined(separator: ",")

    /// The errors that a disk can cause.
    var errors: [String] {
        switch name {
        case "write", "pwrite64", "writev", "pwritev", "copy_file_range", "sendfile": ["ENOSPC", "EIO", "EDQUOT"]
        case "open", "openat", "creat", "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "renameat2":
            ["ENOSPC", "EIO"]
        default: ["EIO"]
        }
    }

    /// The calls of the main thread that change something below `folder`, from the output of `strace -f -y`.
    static func all(in trace: String, below folder: String) -> [SystemCall] {
        var counts: [Substring: Int] = [:]
        var calls: [SystemCall] = []
        var main: Substring?
        for line in trace.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2, let end = parts[1].firstIndex(of: "(") else { continue }
            main = main ?? parts[0]
            let name = parts[1][..<end].drop { $0 == " " }
            guard parts[0] == main, names.contains(String(name)) else { continue }
            counts[name, default: 0] += 1
            guard parts[1].contains(folder + "/") || parts[1].contains(folder + ">") else { continue }
            if name.hasPrefix("open"),
                !["O_CREAT", "O_TMPFILE", "O_WRONLY", "O_RDWR"].contains(where: parts[1].contains)
            {
                continue
            }
            calls.append(SystemCall(name: String(name), number: counts[name] ?? 0, text: String(parts[1].prefix(200))))
        }
        return calls
    }
}
