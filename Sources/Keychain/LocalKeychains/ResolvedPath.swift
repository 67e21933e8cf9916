// Fence: asks the C library where a path leads.
internal import ByteStreams
internal import Glibc

extension LocalKeychain {
    /// Where the file is, whichever way its user spelled the path: absolute, with the folder's links, `.` and `..`
    /// followed; as it was spelled when there is no such folder.
    ///
    /// The last component stays as it is: a keychain is never opened through a link.
    var place: String { Self.place(of: path) }

    /// Where the file of a path is; see `place`.
    static func place(of path: String) -> String {
        let (folder, name) = Path.split(path)
        guard let resolved = unsafe realpath(folder, nil) else { return path }
        defer { unsafe free(resolved) }
        guard let folder = unsafe String(validatingCString: resolved) else { return path }
        return folder == "/" ? "/" + name : folder + "/" + name
    }
}
