internal import CKCFiles
internal import Glibc

/// Names files without ever overwriting an existing name; a kill leaves either no name or a complete file.
enum Naming {
    /// The ways that a file system may support, best first.
    enum Way {
        case renaming, linking
    }

    /// Moves a file from one name to another; returns 0 or the `errno`.
    ///
    /// The result is `ENOTSUP` if the file system has no safe way to do it.
    static func move(
        _ name: String, in folder: OpenFile, to newName: String, in newFolder: OpenFile, way: Way = .renaming
    ) -> Int32 {
        if way == .renaming {
            let result = System.retrying {
                unsafe cfiles_rename_to_free_name(folder.descriptor, name, newFolder.descriptor, newName)
            }
            if result == 0 { return 0 }
            // EINVAL: the file system does not support RENAME_NOREPLACE. EPERM: a sandbox blocks the call.
            guard [EINVAL, ENOSYS, ENOTSUP, EPERM].contains(errno) else { return errno }
        }
        let result = System.retrying {
            unsafe linkat(folder.descriptor, name, newFolder.descriptor, newName, 0)
        }
        guard result == 0 else { return [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) ? ENOTSUP : errno }
        // If this fails, or the process is killed before it, a second name is left, which `StaleFiles` removes.
        unsafe unlinkat(folder.descriptor, name, 0)
        return 0
    }

    /// Converts an `errno` of `move`.
    static func failure(_ path: String, _ code: Int32) -> FileFailure {
        switch code {
        case EEXIST: FileFailure(path, .exists)
        case ENOTSUP: FileFailure(path, .noSafeNaming)
        default: FileFailure(path, .system(code, doing: "naming"))
        }
    }

    /// A unique word of lower-case letters and digits.
    ///
    /// - Throws: `FileFailure` (`system`) if the kernel returns no random bytes.
    static func uniqueWord(for path: String) throws(FileFailure) -> String {
        var number: UInt64 = 0
        guard unsafe getentropy(&number, MemoryLayout<UInt64>.size) == 0 else {
            throw FileFailure(path, .system(errno, doing: "drawing a passing name for"))
        }
        let word = String(number, radix: 36)
        return String(repeating: "0", count: wordSize - word.utf8.count) + word
    }

    /// The size of 64 bits with 36 digits.
    static let wordSize = 13

    /// True if a word has the form of those that `uniqueWord` makes.
    static func isUniqueWord(_ word: some Collection<UInt8>) -> Bool {
        word.count == wordSize
            && word.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
            }
    }
}
