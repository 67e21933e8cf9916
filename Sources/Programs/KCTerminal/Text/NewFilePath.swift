internal import KCByteStreams
internal import KCStoreTasks

/// The path of a file that a command makes, in a folder that exists.
package struct NewFilePath {
    /// The path as the user named it.
    package let given: String
    /// The path from the root.
    package let resolved: String

    /// The folder of the file.
    package var folder: String { Path.split(resolved).folder }
    /// The name in the folder.
    package var name: String { Path.split(resolved).name }

    /// Checks a path before anything is asked or read.
    ///
    /// - Parameter option: how the user named it.
    /// - Throws: `UsageProblem` (`empty`, `malformed`), `FileFailure` (`notFound` and `notFolder` for the folder,
    ///   `system`).
    package init(_ path: String, _ option: OptionName, in session: Session) throws {
        if path.isEmpty { throw UsageProblem.empty(option) }
        given = path
        resolved = session.machine.resolve(path)
        let isSpecial = try Self.isSpecial(resolved)
        if path == "-" || isSpecial || Path.split(resolved).name.isEmpty || Path.isFolder(resolved) {
            throw UsageProblem.malformed(option, form: "the path of a new file")
        }
        try Path.requireFolder(folder, named: Path.split(path).folder)
    }

    /// True for a descriptor or a device, which are no new files, and for a name beside devices, which may be a mistyped one.
    ///
    /// A file system mounted in a folder of `/dev`, such as `/dev/shm`, holds files like any other.
    private static func isSpecial(_ path: String) throws(FileFailure) -> Bool {
        if path.exact.hasPrefix("/proc/") || path.exact.hasPrefix("/dev/fd/") { return true }
        guard path.exact.hasPrefix("/dev/") else { return false }
        if Path.split(path).folder.exact == "/dev".exact { return true }
        return try Path.kind(of: path) == .other
    }

    /// True if there is a file of this name.
    ///
    /// - Throws: `FileFailure`.
    package func exists() throws -> Bool { try Path.exists(resolved) }

    /// - Throws: `FileFailure` (`exists`).
    package func requireFree() throws { if try exists() { throw FileFailure(given, .exists) } }
}
