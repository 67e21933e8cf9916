internal import ByteStreams

extension LocalKeychain {
    /// Where the file is, whichever way its user spelled the path: absolute, with the folder's links, `.` and `..`
    /// followed; as it was spelled when there is no such folder.
    ///
    /// The last component stays as it is: a keychain is never opened through a link.
    var place: String { Self.place(of: path) }

    /// Where the file of a path is; see `place`.
    static func place(of path: String) -> String {
        let (folder, name) = Path.split(path)
        guard let folder = Path.real(folder) else { return path }
        return folder == "/" ? "/" + name : folder + "/" + name
    }
}
