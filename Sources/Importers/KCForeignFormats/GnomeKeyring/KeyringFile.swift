internal import KCByteStreams
internal import KCItemSources

/// A keyring file and where it lies.
struct KeyringFile {
    let file: ForeignFile
    /// True in the folder in which oo7 keeps its keyrings.
    let isOfOO7: Bool

    /// - Parameter realFolder: the path of its folder, without links; nil for a pipe.
    init(_ file: ForeignFile, in realFolder: String?) {
        self.file = file
        isOfOO7 = realFolder.map { Path.split($0).name.exact == KeyringPlaces.folderOfOO7.exact } ?? false
    }

    /// The name of the file without its ending.
    var stem: String { file.name.exact.removingSuffix(".keyring") ?? file.name }

    /// The label of a keyring of version 1, which does not hold one.
    ///
    /// oo7 shows the name of the file with a capital, so that `login.keyring` is `Login` as in GNOME Keyring (source: oo7,
    /// `server/src/service/mod.rs`).
    var labelOfName: String {
        guard isOfOO7, let first = stem.unicodeScalars.first else { return stem }
        return first.properties.uppercaseMapping + String(stem.unicodeScalars.dropFirst())
    }
}
