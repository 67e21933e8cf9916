internal import ByteStreams
package import KeychainModel

/// The files below a folder of another program.
///
/// Links are never followed. Hidden names are skipped, since they belong to the program itself.
package struct ForeignFolder {
    /// Paths below the folder, sorted.
    package private(set) var files: [String] = []
    /// The number of links, devices and other files that are not read.
    package private(set) var others = 0
    /// The number of names that are not UTF-8.
    package private(set) var unreadable = 0
    private let path: String

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

    private mutating func add(_ prefix: String, depth: Int) throws {
        guard depth <= Self.depthLimit else {
            throw ForeignFailure.limit("levels", found: UInt64(depth), allowed: UInt64(Self.depthLimit))
        }
        for name in try Path.names(in: path + "/" + prefix, unreadable: &unreadable) where !name.hasPrefix(".") {
            guard files.count + others < Self.countLimit else {
                throw ForeignFailure.limit(
                    "files", found: UInt64(Self.countLimit) + 1, allowed: UInt64(Self.countLimit))
            }
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            switch try Path.kind(of: path + "/" + prefix + name) {
            case .folder: try add(prefix + name + "/", depth: depth + 1)
            case .file: files.append(prefix + name)
            case .link, .other: others += 1
            case nil: continue
            }
        }
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
