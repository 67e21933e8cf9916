internal import KCByteStreams
internal import KCItemSources

/// A keyring file and where it lies.
struct KeyringFile {
    let file: ForeignFile
    /// True in the folder in which oo7 keeps its keyrings.
    let isOfOO7: Bool

    init(_ file: ForeignFile, at path: String) {
        self.file = file
        let folder = Path.split(path).folder
        isOfOO7 = Path.split(Path.real(folder) ?? folder).name.exact == Self.folderOfOO7.exact
    }

    /// The folder in which oo7 keeps its keyrings, beside those of GNOME Keyring.
    static let folderOfOO7 = "v1"

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
