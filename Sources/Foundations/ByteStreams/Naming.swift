internal import CFiles
internal import Glibc

/// Gives files their names so that no existing name is ever overwritten, and a kill leaves no half of it.
enum Naming {
    /// What the file system can do, from best to least.
    enum Way {
        case renaming, linking
    }

    /// Moves a file from one name to another, and returns 0, or the `errno` that prevented it.
    ///
    /// Where nothing that is safe works, that is `ENOTSUP`.
    static func move(
        _ name: String, in folder: OpenFile, to newName: String, in newFolder: OpenFile, way: Way = .renaming
    ) -> Int32 {
        if way == .renaming {
            let result = System.retrying {
                unsafe cfiles_rename_to_free_name(folder.descriptor, name, newFolder.descriptor, newName)
            }
            if result == 0 { return 0 }
            // EINVAL: the file system knows no RENAME_NOREPLACE. EPERM: a sandbox that knows no such call.
            guard [EINVAL, ENOSYS, ENOTSUP, EPERM].contains(errno) else { return errno }
        }
        let result = System.retrying {
            unsafe linkat(folder.descriptor, name, newFolder.descriptor, newName, 0)
        }
        guard result == 0 else { return [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) ? ENOTSUP : errno }
        // Should this fail, or a kill come before it, a second name is left, which `Leftovers` removes.
        unsafe unlinkat(folder.descriptor, name, 0)
        return 0
    }

    /// The failure that an `errno` of `move` stands for.
    static func failure(_ path: String, _ code: Int32) -> FileFailure {
        switch code {
        case EEXIST: FileFailure(path, .exists)
        case ENOTSUP: FileFailure(path, .noSafeNaming)
        default: FileFailure(path, .system(code, doing: "naming"))
        }
    }

    /// A number that no other process has, in lower-case letters and digits.
    ///
    /// - Throws: `FileFailure` (`system`) when the kernel gives no random bytes.
    static func uniqueWord(for path: String) throws(FileFailure) -> String {
        var number: UInt64 = 0
        guard unsafe getentropy(&number, MemoryLayout<UInt64>.size) == 0 else {
            throw FileFailure(path, .system(errno, doing: "drawing a passing name for"))
        }
        return String(number, radix: 36)
    }
}
