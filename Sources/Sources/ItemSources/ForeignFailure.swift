/// Why another program's file cannot be read; nothing of it is taken then.
package enum ForeignFailure: Error, Hashable, Sendable {
    /// The password, or the key file, does not open it.
    case wrongPassword
    /// The password does not open it, or it is damaged: its format cannot tell which.
    case wrongPasswordOrDamaged
    /// It can be opened with a key file, and none was given.
    case needsKeyFile
    /// A file beside it that is needed is not there; the name is ours.
    case needsFile(String)
    /// It is not what it claims to be; the text says what is wrong, and has no foreign text.
    case damaged(String)
    /// A line of it is not what its format says; the text has no foreign text.
    case damagedLine(Int, String)
    /// A newer version, or a variant, of the format that is not known.
    case unknownVariant(String)
    /// A limit is exceeded: its name, what was found, what is allowed.
    case limit(String, found: UInt64, allowed: UInt64)
    /// A kind of file that is known and not read, with the way that does work.
    case refused(title: String, hint: String)
    /// A program that is needed to open it failed, or is not there.
    case needsProgram(String, problem: String)
    /// There is nothing in it.
    case empty
    /// It is a folder of files, of which one, whose name is foreign text, is of a format that is known.
    case folderOfFiles(name: String, title: String)
    /// It is of no format that is known.
    case unknownFormat
    /// A line of a table is not UTF-8.
    case notUTF8(line: Int)
    /// It is a table whose columns have names that are not known.
    case unknownColumns
    /// It is a table without a column that was named; those that it has, or none where its first row may be no names.
    case noSuchColumn(String, columns: [String])
    /// It is a table of which two columns have a name that says what they hold.
    case columnTwice(String)
    /// It is not of the format that was asked for.
    case notOfFormat(title: String)
    /// It could be of several formats.
    case ambiguous(names: [String])
}
