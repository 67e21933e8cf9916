internal import KCByteStreams

extension LocalKeychain {
    /// The location of the file, however the user wrote the path.
    ///
    /// The location is absolute, with the links, `.` and `..` of the folder resolved; it is the given path if there is
    /// no such folder. The last component is not resolved, since a keychain is never opened through a link.
    var place: String { Self.place(of: path) }

    /// The location of the file if it is outside of the data folder; nil for a keychain in it, also if a path names that.
    package func placeOutside(of folder: DataFolder) -> String? {
        if isNamed { return nil }
        let (parent, file) = Path.split(place)
        guard let keychains = Path.real(folder.keychains), parent.exact == keychains.exact,
            let name = file.exact.removingSuffix(Self.ending), Self.isName(name)
        else { return place }
        return nil
    }

    /// The location of the file at a path; see `place`.
    static func place(of path: String) -> String {
        let (folder, name) = Path.split(path)
        guard let folder = Path.real(folder) else { return path }
        return folder == "/" ? "/" + name : folder + "/" + name
    }
}
