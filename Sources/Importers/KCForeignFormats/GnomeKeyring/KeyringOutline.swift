internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// The data that a keyring file shows without its password.
package struct KeyringOutline: Sendable {
    /// The name of the keyring; foreign text.
    package let label: String
    package let itemCount: Int
    /// When the file was last changed.
    package let modified: Timestamp
    /// True for a file of oo7 or libsecret, false for one of GNOME Keyring.
    package let isOfOO7: Bool

    /// Reads what can be read of a file.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `ForeignFailure` if it is not a keyring or damaged.
    package init(at path: String) throws {
        let file = try ForeignFile(reading: OpenFile.reading(path))
        guard try GnomeKeyringFormat().recognises(ForeignInput(path: path, .file(file))) else {
            throw file.isBlank ? ForeignFailure.empty : .damaged("it does not begin like a keyring")
        }
        modified = file.modified
        isOfOO7 = try GnomeKeyringFormat.Kind(file) == .libsecret
        (label, itemCount) = try Self.outline(of: file, at: path)
    }

    /// The label and the number of items of a file that begins like a keyring.
    static func outline(of file: ForeignFile, at path: String) throws(ForeignFailure) -> (label: String, items: Int) {
        switch try GnomeKeyringFormat.Kind(file) {
        case .text: try KeyringText.outline(of: file)
        case .encrypted: try EncryptedKeyring.outline(of: file)
        case .libsecret: (KeyringFile(file, at: path).labelOfName, try LibsecretKeyring.itemCount(of: file))
        }
    }
}

/// A keyring in the folder of a desktop: the file of GNOME Keyring, the one that oo7 made of it, or both.
package struct KeyringVersions: Sendable {
    /// The path of the file of GNOME Keyring; nil if there is none.
    package let old: String?
    /// The path of the file of oo7; nil if there is none.
    package let new: String?
    /// When oo7 noted that it has converted the old file; nil if it has not.
    package let converted: Timestamp?

    /// Finds the keyrings in a folder such as `~/.local/share/keyrings`, sorted by name; none if there is no such folder.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func find(in folder: String) throws -> [KeyringVersions] {
        guard Path.isFolder(folder) else { return [] }
        let names = try KeyringFolder.names(in: folder)
        let prefix = KeyringFile.folderOfOO7 + "/"
        var versions: [ExactText: (old: String?, new: String?)] = [:]
        for name in names {
            if let own = name.exact.removingPrefix(prefix) {
                versions[own.exact, default: (nil, nil)].new = folder + "/" + name
            } else {
                versions[name.exact, default: (nil, nil)].old = folder + "/" + name
            }
        }
        return try versions.sorted { $0.key < $1.key }.map { name, paths in
            let converted = try stamp(of: folder + "/" + name.string)
            return KeyringVersions(old: paths.old, new: paths.new, converted: converted)
        }
    }

    /// When oo7 converted a keyring or a wallet, of which it leaves an empty file beside it; nil if it has not.
    ///
    /// - Throws: `FileFailure`.
    package static func stamp(of path: String) throws -> Timestamp? {
        guard try Path.kind(of: path + ".migrated") == .file else { return nil }
        return try ForeignFile.modified(OpenFile.reading(path + ".migrated").status())
    }
}
