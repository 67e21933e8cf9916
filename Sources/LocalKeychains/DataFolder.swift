/// The folder in which a user's keychains and device key are kept: `$XDG_DATA_HOME/kcbackup`, by default
/// `~/.local/share/kcbackup`.
public struct DataFolder: Hashable, Sendable {
    /// The folder, absolute.
    public let path: String

    /// Takes a folder as it is.
    public init(path: String) {
        self.path = path
    }

    /// Finds the folder of a user.
    ///
    /// A relative `XDG_DATA_HOME` is ignored, as the XDG Base Directory Specification says.
    public init(environment: [String: String], home: String) {
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
            path = folder + "/kcbackup"
        } else {
            path = home + "/.local/share/kcbackup"
        }
    }

    /// Where keychains with a name are.
    public var keychains: String { path + "/keychains" }
    /// Where the default keychain and the search list are, once set.
    public var keychainLists: String { path + "/keychain-lists" }
    /// Where the device key is.
    public var deviceKey: String { path + "/device.key" }
}
