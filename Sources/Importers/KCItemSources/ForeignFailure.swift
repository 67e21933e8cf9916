/// Why another program's file cannot be read; nothing is imported from it then.
package enum ForeignFailure: Error, Hashable, Sendable {
    /// The password or the key file does not open it.
    case wrongPassword
    /// The password alone does not open it; it may be wrong, or a key file may be needed too.
    ///
    /// The file may also be damaged if the format cannot tell.
    case wrongPasswordOrNoKeyFile(orDamaged: Bool)
    /// The password and the key file together do not open it; either may be wrong.
    ///
    /// The file may also be damaged if the format cannot tell.
    case wrongPasswordOrKeyFile(orDamaged: Bool)
    /// The password is wrong or the file is damaged; the format cannot tell which.
    case wrongPasswordOrDamaged
    /// No available key opens any of its files; the text is the plural of the kind of key, such as "identities".
    case noKeyOpens(String)
    /// The file can be opened with a key file, and none was given.
    case needsKeyFile
    /// The key file that was given is damaged; the text says what is wrong and contains no foreign text.
    case damagedKeyFile(String)
    /// A required file beside it is missing; the name is not foreign text.
    case needsFile(String)
    /// The file is not what it claims to be; the text says what is wrong and contains no foreign text.
    case damaged(String)
    /// A line violates the format; the text contains no foreign text.
    case damagedLine(Int, String)
    /// A newer version, or a variant, of the format that is not supported.
    case unknownVariant(String)
    /// A limit is exceeded: its name, the value found, the value allowed.
    case limit(String, found: UInt64, allowed: UInt64)
    /// A known kind of file that is not supported, with a way that does work.
    case refused(title: String, hint: String)
    /// A file of kcbackup itself.
    case own(OwnFile)
    /// A file encrypted with age, whose content is unknown.
    case age(hasPassphrase: Bool)
    /// A running program uses it, and may be changing it.
    case inUse(String)
    /// Its passwords are encrypted with a key that its browser keeps in the desktop keyring, and none that was found opens
    /// them.
    case noBrowserKey
    /// The file opens with a secret that the portal of the desktop keeps for an app, and none that was found opens it;
    /// `app` is the ID of the app, which is foreign text, and nil if it is not known.
    case noAppSecret(app: String?)
    /// A program that is needed to open it failed or is missing.
    case needsProgram(String, problem: String)
    /// The file is empty.
    case empty
    /// The input is a folder, and one of its files, whose name is foreign text, has a known format.
    case folderOfFiles(name: String, title: String)
    /// The file has no known format.
    case unknownFormat
    /// A line of a table is not UTF-8.
    case notUTF8(line: Int)
    /// The file is a table whose column names are not known.
    case unknownColumns
    /// The file is a table without the requested column; `columns` is empty if the first row may not contain names.
    case noSuchColumn(String, columns: [String])
    /// The file is a table in which two columns with a known meaning have the same name.
    case columnTwice(String)
    /// The file is not of the requested format; `found` is the title of one that it is of.
    case notOfFormat(title: String, found: String? = nil)
    /// The file could be of several formats.
    case ambiguous(names: [String])
}

/// A kind of file that kcbackup makes, and imports from in another way.
package enum OwnFile: CaseIterable, Hashable, Sendable {
    case archive
    case keychain
    case deviceKey

    /// The kind as a noun with its article.
    package var title: String {
        switch self {
        case .archive: "a kcbackup archive"
        case .keychain: "a kcbackup keychain"
        case .deviceKey: "a device key"
        }
    }
}
