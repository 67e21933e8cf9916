internal import ByteStreams
internal import Glibc

/// The folder in which a user's keychains and device key are kept: `$XDG_DATA_HOME/kcbackup`, by default
/// `~/.local/share/kcbackup`.
package struct DataFolder: Hashable, Sendable {
    /// The folder, absolute.
    package let path: String

    /// Takes a folder as it is.
    package init(path: String) {
        self.path = path
    }

    /// Finds the folder of a user.
    ///
    /// A relative `XDG_DATA_HOME` is ignored, as the XDG Base Directory Specification says.
    package init(environment: [String: String], home: String) {
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
            path = folder + "/kcbackup"
        } else {
            path = home + "/.local/share/kcbackup"
        }
    }

    /// Makes sure that folder and process belong to the same user, and that no other user can change what is in the folder.
    ///
    /// Every program asks this before it does anything else. With the rights of another user than the one who started it,
    /// a process would take that user's word for where keys are; with the home folder of another user, it would leave
    /// files there that this user cannot read.
    ///
    /// - Throws: `borrowedRights`, `file` (`sharedFolder`, `foreignFolder`, `system`).
    package func requireOwn() throws(LocalKeychainFailure) {
        guard getuid() == geteuid(), getgid() == getegid() else { throw .borrowedRights }
        do throws(FileFailure) {
            try PrivateFolder.require(path, mayBeMissing: true)
        } catch {
            throw .file(error)
        }
    }

    /// Where keychains with a name are.
    package var keychains: String { path + "/keychains" }
    /// Where the default keychain and the search list are, once set.
    package var keychainLists: String { path + "/keychain-lists" }
    /// Where the states of keychains from before restores are.
    package var keptStates: String { path + "/undo" }
    /// Where the device key is.
    package var deviceKey: String { path + "/device.key" }
}
