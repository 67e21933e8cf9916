internal import Glibc

/// A folder that nobody else can enter, in which a file has a name while it is out of its place; gone when released.
///
/// The file may be clear text, and its mode that of its place, so under a name beside that, others could read what a killed
/// process left. Such a process leaves the folder too, which `StaleFiles` removes.
final class PassingFolder {
    /// The name of the one file in it, which only a temporary file has.
    static let fileName = UnnamedFile.temporaryName(of: String(repeating: "0", count: Naming.wordSize))

    let folder: OpenFile
    private let parent: OpenFile
    let name: String

    /// Creates the folder, mode 0700, in an open one.
    init(in parent: OpenFile) throws(FileFailure) {
        self.parent = parent
        (name, folder) = try StagingFolder.make(in: parent, isListed: true)
    }

    deinit {
        // A file that is still in it may be another program's version, so nothing in it is removed here.
        unsafe unlinkat(parent.descriptor, name, AT_REMOVEDIR)
    }
}
