import Foundation
import Synchronization

/// A folder that is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    /// Its path.
    package let path: String

    /// Makes a new, empty folder with mode 0700.
    ///
    /// - Parameter inMemory: true for files that need not survive a loss of power. If the system has a file system in
    ///   memory (shm_overview(7)), they are kept there, where syncing takes no time.
    package init(inMemory: Bool = false) throws {
        KernelKeys.begin()
        let memory = "/dev/shm"
        var parent =
            inMemory && FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        // Sockets are made there, whose paths have at most 107 bytes (unix(7)).
        if parent.path.utf8.count > 40 { parent = URL(filePath: "/tmp") }
        let url = parent.appending(path: "kcbackup-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path(percentEncoded: false)
    }

    private static let kept = Mutex<[TemporaryFolder]>([])
    private static let removesAtExit: Void = { atexit { TemporaryFolder.kept.withLock { $0.removeAll() } } }()

    /// Makes a folder that is removed when the process ends, for what all tests share.
    package static func untilExit(inMemory: Bool = false) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(inMemory: inMemory)
        removesAtExit
        kept.withLock { $0.append(folder) }
        return folder
    }

    deinit {
        KernelKeys.remove(ofKeychainsBelow: path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` inside the folder.
    package func path(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes `bytes` to a new file with `mode`.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
        let path = path(name)
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// The bytes of a file in the folder.
    package func read(_ name: String) throws -> [UInt8] {
        // Data(contentsOf:) leaks its buffer for an empty file, which the address sanitizer reports.
        [UInt8](try FileHandle(forReadingFrom: URL(filePath: path(name))).readToEnd() ?? Data())
    }

    /// Every path below the folder, relative to it, sorted.
    package func list() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }
}
