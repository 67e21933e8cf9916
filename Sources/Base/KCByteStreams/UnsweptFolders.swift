internal import Glibc
internal import Synchronization

/// The folders in which this process would leave a temporary name if it were killed, in a file that the next run finds.
///
/// Files that a killed process leaves may be clear text. They are removed when a file is next created in the same
/// folder, which may never happen, so each run of the program looks into these folders first. Nothing is
/// written before the first name is used, and nothing by a process that keeps no list, such as one that uses the
/// libraries.
///
/// The process holds a lock on its file while it lives, so one that can be locked was left by a killed process.
package enum UnsweptFolders {
    private struct List {
        /// The folder of the lists; nil while this process keeps none.
        var place: String?
        /// The same without links, once it was needed.
        var realPlace: String?
        /// The file of this process, once it has one.
        var file: (held: OpenFile, path: String)?
        /// The folders that the file has, and where each temporary name was used.
        var folders: Set<[UInt8]> = []
        var names: [(folder: String, name: String)] = []
    }

    private static let list = Mutex(List())
    private static let prefix = "unswept-"

    // In bytes, of one list: 4,096 folders with the longest paths that Linux has.
    private static let limit = 4_096 * 4_096

    /// Has this process keep its list in a folder, usually the data folder, which is swept by itself.
    package static func keep(in folder: String) { list.withLock { $0.place = folder } }

    /// Adds the folder in which a temporary name is about to be used.
    ///
    /// - Throws: `FileFailure` if the list cannot be written. Where this process has no right to write one, there is none.
    static func add(_ name: String, in folder: String) throws(FileFailure) {
        try list.withLock { list throws(FileFailure) in
            // A path that is not UTF-8, or of a folder that is gone, cannot be listed.
            guard let place = list.place, let folder = Path.real(folder) else { return }
            do throws(FileFailure) {
                if list.realPlace == nil {
                    try Path.makeFolder(place)
                    list.realPlace = Path.real(place)
                }
                if let own = list.realPlace, (folder + "/").exact.hasPrefix(own + "/") { return }
                if !list.folders.contains(Array(folder.utf8)) {
                    try write(folder, to: &list, in: place)
                    list.folders.insert(Array(folder.utf8))
                }
                list.names.append((folder, name))
            } catch {
                guard case .system(let code, _) = error.problem, [EACCES, EPERM, EROFS].contains(code) else {
                    throw error
                }
            }
        }
    }

    private static func write(_ folder: String, to list: inout List, in place: String) throws(FileFailure) {
        if list.file == nil { list.file = try make(in: place) }
        guard let (file, path) = list.file else { return }
        do throws(StreamFailure) {
            try file.write((Array(folder.utf8) + [0]).span)
            try file.synchronize()
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "writing"))
        }
    }

    private static func make(in place: String) throws(FileFailure) -> (OpenFile, String) {
        while true {
            let path = "\(place)/\(prefix)\(try Naming.uniqueWord(for: place))"
            let descriptor = System.retrying {
                unsafe open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
            }
            guard descriptor >= 0 else { throw FileFailure(place, .system(errno, doing: "creating a file in")) }
            let file = OpenFile(owning: descriptor, path: path)
            // Another process may have removed it before it could be locked.
            guard file.lockAsInUse() else { continue }
            Path.synchronizeFolder(try Path.openFolder(place))
            return (file, path)
        }
    }

    /// Ends the list of this process; it stays for the next run if one of the temporary names is still there.
    package static func finish() {
        list.withLock { list in
            if let file = list.file, !list.names.contains(where: { isLeft($0.name, in: $0.folder) }) {
                unsafe unlink(file.path)
            }
            list = List()
        }
    }

    private static func isLeft(_ name: String, in folder: String) -> Bool {
        var status = stat()
        return unsafe lstat(folder + "/" + name, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    /// True for the name of a list.
    package static func isList(_ name: String) -> Bool {
        name.exact.removingPrefix(prefix).map { Naming.isUniqueWord($0.utf8) } ?? false
    }

    /// Sweeps the folders of a list that a killed process left, and removes the list.
    ///
    /// - Returns: the folders that could not be swept, such as those of a disk that is not mounted; the list stays then. None
    ///   if its process lives.
    /// - Throws: `FileFailure` if the list cannot be read.
    @discardableResult
    package static func sweep(_ path: String) throws(FileFailure) -> [String] {
        guard let list = StaleFiles.lockIfUnused(path, S_IFREG) else { return [] }
        let size = min(Int(clamping: try list.size()), limit)
        let bytes: [UInt8]
        do throws(StreamFailure) {
            bytes = try [UInt8](capacity: size) { output throws(StreamFailure) in
                try list.read(at: 0, upTo: size, into: &output)
            }
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "reading"))
        }
        // A path after the last zero byte was never used.
        let folders = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
        let left = folders.filter { folder in
            do throws(FileFailure) {
                return try !UnnamedFile.sweep(Path.openFolder(folder))
            } catch {
                return true
            }
        }
        try withExtendedLifetime(list) { () throws(FileFailure) in if left.isEmpty { try Path.remove(path) } }
        return left
    }
}
