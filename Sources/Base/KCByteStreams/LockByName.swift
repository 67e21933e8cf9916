internal import Glibc

/// A file whose name keeps other programs from changing another one, as `.lock` files do for git.
///
/// The process that made it holds a lock on it (flock(2)) for as long as it lives, so one with the same mark that can be
/// locked was left by a killed process.
///
/// ```swift
/// let lock = try LockByName("/home/ada/.git-credentials.lock", mark: Array("kcbackup\n".utf8))
/// try lock.release()
/// ```
package final class LockByName {
    private let path: String
    private let file: UnnamedFile

    /// Creates the file, in the place of one that a killed process left.
    ///
    /// - Parameter mark: its contents.
    /// - Throws: `FileFailure` (`busy` if another process has it, or if it was left where files cannot be locked),
    ///   `StreamFailure`.
    package init(_ path: String, mark: [UInt8]) throws {
        self.path = path
        let (folder, name) = Path.split(path)
        file = try UnnamedFile(inFolder: folder)
        try file.file.write(mark.span)
        if try publish(as: name) { return }
        try Self.removeLeft(path, mark)
        if try !publish(as: name) { throw FileFailure(path, .busy) }
    }

    /// Gives the file its name; false if that is taken.
    private func publish(as name: String) throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            try file.publish(as: name)
            return true
        } catch {
            if error.problem == .exists { return false }
            throw error
        }
    }

    /// Removes the file.
    package func release() throws(FileFailure) { try Path.remove(path) }

    /// Checks that the file could be made now, and makes none.
    ///
    /// - Throws: as `init`.
    package static func requireFree(_ path: String, mark: [UInt8]) throws {
        if try Path.exists(path) { _ = try left(path, mark) }
    }

    /// Removes the file if a killed process left it.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func removeIfLeft(_ path: String, mark: [UInt8]) throws {
        do {
            if try Path.exists(path) { try removeLeft(path, mark) }
        } catch let failure as FileFailure where failure.problem == .busy {
            // Another program has it.
            return
        }
    }

    /// Removes a file that a killed process left.
    private static func removeLeft(_ path: String, _ mark: [UInt8]) throws {
        let left = try left(path, mark)
        try withExtendedLifetime(left) { try Path.remove(path) }
    }

    /// The file that a killed process left, locked.
    private static func left(_ path: String, _ mark: [UInt8]) throws -> OpenFile {
        let left = try OpenFile.reading(path)
        let bytes = try [UInt8](capacity: mark.count + 1) { output throws in
            try left.read(at: 0, upTo: mark.count + 1, into: &output)
        }
        var (status, named) = (stat(), stat())
        // Who holds the lock on a file that has the name is the only one to remove it.
        guard bytes == mark, flock(left.descriptor, LOCK_EX | LOCK_NB) == 0,
            unsafe fstat(left.descriptor, &status) == 0, unsafe lstat(path, &named) == 0,
            named.st_dev == status.st_dev, named.st_ino == status.st_ino
        else { throw FileFailure(path, .busy) }
        return left
    }
}
