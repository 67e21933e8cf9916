internal import KCByteStreams
package import KCKeychainModel

/// The files below a folder of another program.
///
/// Links are never followed. Entries that programs keep in their folders for themselves are skipped.
package struct ForeignFolder {
    /// Paths below the folder, sorted.
    package private(set) var files: [String] = []
    /// The number of links, devices and other files that are not read.
    package private(set) var others = 0
    /// The number of names that are not UTF-8.
    package private(set) var unreadable = 0
    private let path: String

    /// The files and folders of pass, gopass, passage, git and Syncthing that hold no secret of the user's.
    private static let own: Set = [
        ".age-recipients", ".extensions", ".git", ".gitattributes", ".gitignore", ".gitmodules", ".gpg-id",
        ".gpg-id.sig", ".public-keys", ".stfolder", ".stignore", ".stversions",
    ]
    /// The maximum depth of nested folders.
    private static let depthLimit = 32
    /// The maximum number of names below the folder.
    private static let countLimit = 100_000

    /// Finds the files below a folder.
    ///
    /// - Throws: `FileFailure`, `ForeignFailure` (`limit`).
    package init(_ path: String) throws {
        self.path = path
        try add("", depth: 1)
        files.sort()
    }

    private init(at path: String) {
        self.path = path
    }

    /// The first file below a folder, without hidden ones, for which `isIt` returns true; nil if there is none within the limits.
    ///
    /// The order is that of the file system, so the search may end long before a folder of many files is read.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func first(below path: String, where isIt: (String) -> Bool) throws -> String? {
        var folder = ForeignFolder(at: path)
        do {
            return try folder.add("", depth: 1, withHidden: false, until: isIt) ? folder.files.last : nil
        } catch ForeignFailure.limit {
            return nil
        }
    }

    /// - Returns: true if the last file is the one that `isLast` was waiting for.
    @discardableResult
    private mutating func add(
        _ prefix: String, depth: Int, withHidden: Bool = true, until isLast: (String) -> Bool = { _ in false }
    ) throws -> Bool {
        guard depth <= Self.depthLimit else {
            throw ForeignFailure.limit("levels", found: UInt64(depth), allowed: UInt64(Self.depthLimit))
        }
        for name in try Path.names(in: path + "/" + prefix, unreadable: &unreadable) {
            if Self.own.contains(name) || !withHidden && name.exact.hasPrefix(".") { continue }
            guard files.count + others < Self.countLimit else {
                throw ForeignFailure.limit(
                    "files", found: UInt64(Self.countLimit) + 1, allowed: UInt64(Self.countLimit))
            }
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            switch try Path.kind(of: path + "/" + prefix + name) {
            case .folder:
                let inner = prefix + name + "/"
                if try add(inner, depth: depth + 1, withHidden: withHidden, until: isLast) { return true }
            case .file:
                files.append(prefix + name)
                if isLast(prefix + name) { return true }
            case .link, .other: others += 1
            case nil: continue
            }
        }
        return false
    }

    /// The full path of a file.
    package func path(of file: String) -> String { path + "/" + file }

    /// When a file was last changed.
    ///
    /// - Throws: `FileFailure`.
    package func modified(_ file: String) throws -> Timestamp {
        ForeignFile.modified(try OpenFile.reading(path(of: file)).status())
    }

    /// The content of a file.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func read(_ file: String) throws -> ForeignFile {
        try ForeignFile(reading: OpenFile.reading(path(of: file)))
    }
}
