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
        let unnamed = try UnnamedFile(inFolder: folder)
        do {
            try bytes.withBytes { span throws(StreamFailure) in try unnamed.file.write(span) }
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "writing"))
        }
        try unnamed.publish(as: name)
    }

    /// Replaces a file of ours in one step: whoever reads it sees the old contents or the new, never a mixture.
    ///
    /// - Throws: `FileFailure` (`notFound` for the folder, `system`).
    public static func replace(_ path: String, _ bytes: borrowing SecretBytes) throws(FileFailure) {
        let (folder, name) = Path.split(path)
        let unnamed = try UnnamedFile(inFolder: folder)
        do {
            try bytes.withBytes { span throws(StreamFailure) in try unnamed.file.write(span) }
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "writing"))
        }
        let temporary = ".\(name).\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        try unnamed.publish(as: temporary)
        guard unsafe rename(folder + "/" + temporary, folder + "/" + name) == 0 else {
            let code = errno
            unsafe unlink(folder + "/" + temporary)
            throw FileFailure(path, .system(code, doing: "replacing"))
        }
        try Path.synchronizeFolder(folder)
    }

    private static func contents(of file: OpenFile, limit: Int) throws(FileFailure) -> SecretBytes {
        do {
            var source = try FileSlice(whole: file)
            return try source.readAll(limit: limit, as: "file size")
        } catch let failure as FileFailure {
            throw failure
        } catch let failure as StreamFailure {
            if case .limitExceeded = failure.kind { throw FileFailure(file.path, .tooLarge(limit: limit)) }
            throw FileFailure(file.path, .system(failure.systemCode ?? EIO, doing: "reading"))
        } catch {
            throw FileFailure(file.path, .system(EIO, doing: "reading"))
        }
    }
}

extension StreamFailure {
    /// The `errno` behind the failure, where there is one.
    public var systemCode: Int32? {
        switch kind {
        case .system(let code): code
        case .interrupted: EINTR
        default: nil
        }
    }
}
