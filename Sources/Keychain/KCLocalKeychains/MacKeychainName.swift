internal import KCByteStreams

extension LocalKeychain {
    private static let macEnding = ".keychain-db"

    /// Finds the file for a name as users type it on a Mac.
    ///
    /// `work`, `work.keychain` and `work.keychain-db` all mean the name `work`, and so does a path to such a file in
    /// the data folder or in `~/Library/Keychains`, where macOS keeps its named keychains. Any other path is used
    /// unchanged. If nothing exists there, but something does at the same path with or without `-db`, that file is
    /// meant, since macOS adds `-db` itself.
    ///
    /// - Parameters:
    ///   - home: the home folder, as an absolute path.
    ///   - workingFolder: the folder to which relative paths refer, as an absolute path.
    /// - Throws: `emptyName`, `invalidName`, `file` if it cannot be determined whether a file exists.
    package init(
        macName word: String, in folder: DataFolder, home: String, workingFolder: String
    ) throws(LocalKeychainFailure) {
        guard word.exact.contains("/") else {
            try self.init(Self.withoutEnding(word) ?? word, in: folder)
            return
        }
        let path = Self.tidy(word.exact.hasPrefix("/") ? word : workingFolder + "/" + word)
        let (parent, last) = Path.split(path)
        if parent == Self.tidy(folder.keychains) || parent == Self.tidy(home + "/Library/Keychains"),
            let name = Self.withoutEnding(last), Self.isName(name)
        {
            try self.init(name, in: folder)
            return
        }
        try self.init(Self.isThere(path) ? path : try Self.twin(of: path) ?? path, in: folder)
    }

    /// The name without its ending; nil if it has neither ending.
    private static func withoutEnding(_ name: String) -> String? {
        [macEnding, ending].lazy.compactMap { name.exact.removingSuffix($0) }.first { !$0.isEmpty }
    }

    /// The path with or without `-db`, whichever was not given, if a file exists there.
    private static func twin(of path: String) throws(LocalKeychainFailure) -> String? {
        let other: String
        if path.exact.hasSuffix(macEnding), let shorter = path.exact.removingSuffix("-db") {
            other = shorter
        } else if path.exact.hasSuffix(ending) {
            other = path + "-db"
        } else {
            return nil
        }
        return try isThere(other) ? other : nil
    }

    private static func isThere(_ path: String) throws(LocalKeychainFailure) -> Bool {
        try failing(as: LocalKeychainFailure.file, Path.exists(path))
    }

    /// The path without empty and `.` components; `..` stays, since only the file system knows its meaning.
    private static func tidy(_ path: String) -> String {
        "/" + path.exact.split(separator: "/").filter { $0.exact != "." }.joined(separator: "/")
    }
}
