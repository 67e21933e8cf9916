internal import Glibc
package import KCByteStreams
package import KCCryptography
package import KCKeychainStore

/// A keychain as the user names it, and the path of its file.
package struct LocalKeychain: Hashable, Sendable {
    /// The default keychain of users who have set no other.
    package static let defaultName = "login"
    static let ending = ".keychain"
    /// The ending of the files in the data folder.
    package static var fileEnding: String { ending }
    // A file name has at most 255 bytes, of which the endings of keychain, journal and lock take up to 17.
    private static let nameLimit = 64

    /// The name or path given by the user.
    package let name: String
    /// The path of the file.
    package let path: String

    /// Finds the file for a name (in the data folder) or a path (anything with a `/`).
    ///
    /// - Parameters:
    ///   - given: the name or path; nil for the default keychain (`KeychainLists`), which is `login` unless another was
    ///     set.
    ///   - workingFolder: the folder to which relative paths refer; nil leaves that to the operating system.
    /// - Throws: `emptyName`, `invalidName`; for nil also `listsDamaged` and `file`.
    package init(
        _ given: String?, in folder: DataFolder, workingFolder: String? = nil
    ) throws(LocalKeychainFailure) {
        if let given {
            name = given
        } else {
            name = try KeychainLists.load(from: folder).defaultKeychain ?? Self.defaultName
        }
        if name.isEmpty { throw .emptyName }
        if name.exact.contains("/") {
            if let workingFolder, !name.exact.hasPrefix("/") {
                path = workingFolder + "/" + name
            } else {
                path = name
            }
        } else {
            guard Self.isName(name) else { throw .invalidName }
            path = "\(folder.keychains)/\(name)\(Self.ending)"
        }
    }

    package static func == (left: LocalKeychain, right: LocalKeychain) -> Bool {
        left.name.exact == right.name.exact && left.path.exact == right.path.exact
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(path.exact)
    }

    /// True if the keychain is in the data folder under its name.
    package var isNamed: Bool { !name.exact.contains("/") }

    /// The names of the keychains in the data folder, sorted.
    package static func names(in folder: DataFolder) throws(FileFailure) -> [String] {
        try PrivateFolder.require(folder.keychains, mayBeMissing: true)
        return try Path.names(in: folder.keychains).compactMap { $0.exact.removingSuffix(ending) }
            .filter(isName).sorted { $0.exact < $1.exact }
    }

    /// Opens the file; only data that requires no passcode can be read.
    ///
    /// - Parameter minimumCost: the lowest scrypt cost that is accepted; for tests.
    /// - Throws: `KeychainStoreError`, `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func open(on device: LocalDevice, minimumCost: ScryptCost? = nil) throws -> Keychain {
        guard try Path.exists(path) else { throw KeychainStoreError.notFound(path) }
        return try Keychain.open(at: path, deviceKey: device.key(), minimumCost: minimumCost)
    }

    /// Checks that the file could be changed, as far as that can be known without doing it.
    ///
    /// - Throws: `readOnly` if it could not, `file`.
    package func requireChangeable() throws(KeychainStoreError) {
        do throws(FileFailure) {
            try requireReplaceable(makesFolder: false)
            let (folderPath, fileName) = Path.split(path)
            let folder = try OpenFolder(folderPath)
            for name in [fileName, fileName + ".lock"] where try folder.status(of: name) != nil {
                try folder.requireWritable(name)
            }
        } catch {
            if case .system(let code, _) = error.problem, [EACCES, EPERM, EROFS].contains(code) { throw .readOnly }
            throw .file(error)
        }
    }

    /// Checks that another file could take the place of this one, which may be missing, as far as that can be known without
    /// doing it.
    ///
    /// - Parameter makesFolder: true if the folder may be missing.
    /// - Throws: as `Path.requireRoom(inFolder:)`.
    package func requireReplaceable(makesFolder: Bool) throws(FileFailure) {
        let (folderPath, fileName) = Path.split(path)
        if makesFolder, !Path.isFolder(folderPath) { return try Path.requireRoom(inFolder: folderPath) }
        let folder = try OpenFolder(folderPath)
        try folder.requireReplaceable(fileName, folder.status(of: fileName))
    }

    /// True if a keychain in the data folder can have this name.
    package static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= nameLimit else { return false }
        return ![UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: " ")].contains(first)
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "._- ".unicodeScalars.contains(scalar)
            }
    }
}
