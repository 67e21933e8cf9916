internal import KCByteStreams

extension LocalKeychain {
    /// The location of the file, however the user wrote the path.
    ///
    /// It is absolute, with the links, `.` and `..` of the folder resolved; it is the given path if there is no such
    /// folder. The last component is not resolved, since a keychain is never opened through a link.
    var place: String { Self.place(of: path) }

    /// The location of the file at a path; see `place`.
    static func place(of path: String) -> String {
        let (folder, name) = Path.split(path)
        guard let folder = Path.real(folder) else { return path }
        return folder == "/" ? "/" + name : folder + "/" + name
    }
}
