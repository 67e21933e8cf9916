internal import Glibc

/// Small files that hold a secret or decide about one: passphrases, identities, the device key.
public enum PrivateFile {
    /// No key, identity or passphrase file is larger (65,536 bytes hold some 800 identities).
    public static let sizeLimit = 65_536

    /// Reads a file that only its owner can read.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `exposed` (group or others have any access),
    ///   `foreignOwner`, `tooLarge`, `system`.
    public static func read(_ path: String, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        let file = try OpenFile.reading(path)
        let status = try file.status()
        guard status.st_mode & 0o077 == 0 else { throw FileFailure(path, .exposed(mode: status.st_mode & 0o777)) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw FileFailure(path, .foreignOwner) }
        return try contents(of: file, limit: limit)
    }

    /// Reads a small file that need not be secret, such as a list of recipients.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `tooLarge`, `system`.
    public static func readPublic(_ path: String, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        try contents(of: OpenFile.reading(path), limit: limit)
    }

    /// Makes a new file, 0600, durable, with all of `bytes`; an existing name is left alone.
    ///
    /// - Throws: `FileFailure` (`exists`, `notFound` for the folder, `system`).
    public static func create(_ path: String, _ bytes: borrowing SecretBytes) throws(FileFailure) {
        let (folder, name) = Path.split(path)
        try written(bytes, inFolder: folder, for: path).publish(as: name)
    }

    /// Replaces a file of ours in one step: whoever reads it sees the old contents or the new, never a mixture.
    ///
    /// - Throws: `FileFailure` (`notFound` for the folder, `system`).
    public static func replace(_ path: String, _ bytes: borrowing SecretBytes) throws(FileFailure) {
        let (folder, name) = Path.split(path)
        // linkat cannot replace, so the whole file gets a passing name first.
        let passing = folder + "/" + UnnamedFile.passingName()
        try written(bytes, inFolder: folder, for: path).publish(as: Path.split(passing).name)
        guard unsafe rename(passing, folder + "/" + name) == 0 else {
            let code = errno
            unsafe unlink(passing)
            throw FileFailure(path, .system(code, doing: "replacing"))
        }
        try Path.synchronizeFolder(folder)
    }

    private static func written(
        _ bytes: borrowing SecretBytes, inFolder folder: String, for path: String
    ) throws(FileFailure) -> UnnamedFile {
        let unnamed = try UnnamedFile(inFolder: folder)
        do {
            try bytes.withBytes { span throws(StreamFailure) in try unnamed.file.write(span) }
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "writing"))
        }
        return unnamed
    }

    private static func contents(of file: OpenFile, limit: Int) throws(FileFailure) -> SecretBytes {
        // To the end rather than to the size that `fstat` tells: files of /proc claim to be empty.
        var bytes = SecretBytes(capacity: min(limit, 4096))
        while true {
            let before = bytes.count
            do {
                try bytes.append(upTo: min(4096, limit + 1 - before)) { output throws(StreamFailure) in
                    try file.read(at: UInt64(before), into: &output)
                }
            } catch {
                throw FileFailure(file.path, .system(error.systemCode ?? EIO, doing: "reading"))
            }
            if bytes.count == before { return bytes }
            if bytes.count > limit { throw FileFailure(file.path, .tooLarge(limit: limit)) }
        }
    }
}
