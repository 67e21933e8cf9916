package import KCByteStreams
internal import KCKeychainModel

/// The names that this device has given to archives whose copies meet on remotes, each once.
///
/// Two jobs of one keychain that start in the same second make two archives. In folders of their own both could have the
/// same name; in the folder of a fleet they could not.
package struct GivenNames: Sendable {
    private let folder: String

    // In seconds. A name has its time, so an old one is not given again.
    private static let memory: Int64 = 86_400

    /// Locates the names in a folder, which may not exist yet.
    package init(in folder: String) { self.folder = folder }

    /// Takes a name; false if it was given before.
    package func take(_ name: ArchiveName) throws(FileFailure) -> Bool {
        try Path.makeFolder(folder)
        let nothing: [UInt8] = []
        do throws(FileFailure) {
            try PrivateFile.create("\(folder)/\(name.fileName)", nothing.span)
        } catch {
            if error.problem == .exists { return false }
            throw error
        }
        for other in try Path.names(in: folder) {
            guard let old = ArchiveName(other), abs(old.time.seconds - name.time.seconds) > Self.memory else {
                continue
            }
            try Path.remove("\(folder)/\(other)")
        }
        return true
    }
}
