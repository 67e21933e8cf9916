internal import Glibc

/// Small files that hold a secret or control access to one: passphrases, identities, the device key.
package enum PrivateFile {
    /// The default size limit, larger than any key, identity or passphrase file (65,536 bytes hold about 800
    /// identities).
    package static let sizeLimit = 65_536

    /// Reads a file that only its owner can read, in a folder where no other user can replace it.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `exposed` (group or others have any access),
    ///   `foreignOwner`, `sharedFolder`, `foreignFolder`, `tooLarge`, `system`.
    package static func read(_ path: String, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        let file = try OpenFile.reading(path)
        try requirePrivate(file)
        try PrivateFolder.require(Path.split(path).folder)
        return try contents(of: file, limit: limit)
    }

    /// Reads an open file under the same rules, however many symbolic links led to it.
    ///
    /// The checks apply to the file that is open and to the folder that contains it.
    ///
    /// - Throws: the same as `read(_:limit:)`.
    package static func read(_ file: OpenFile, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        let status = try requirePrivate(file)
        // A file without a name, such as a here-document, cannot be replaced.
        if status.st_nlink > 0 {
            try PrivateFolder.require(Path.split(Path.destination(of: "/proc/self/fd/\(file.descriptor)")).folder)
        }
        return try contents(of: file, limit: limit)
    }

    @discardableResult
    private static func requirePrivate(_ file: OpenFile) throws(FileFailure) -> stat {
        let status = try file.status()
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw FileFailure(file.path, .foreignOwner) }
        guard status.st_mode & 0o077 == 0 else {
            throw FileFailure(file.path, .exposed(mode: status.st_mode & 0o777))
        }
        return status
    }

    /// Reads a small file that need not be secret, such as a list of recipients.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `tooLarge`, `system`.
    package static func readPublic(_ path: String, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        try contents(of: OpenFile.reading(path), limit: limit)
    }

    /// Reads a small open file that need not be secret.
    ///
    /// - Throws: `FileFailure`: `tooLarge`, `system`.
    package static func readPublic(_ file: OpenFile, limit: Int = sizeLimit) throws(FileFailure) -> SecretBytes {
        try contents(of: file, limit: limit)
    }

    /// Creates a durable file with mode 0600 that holds `bytes`; an existing name is left alone.
    ///
    /// - Parameter anywhere: true for a file that is only exported, and never read and trusted by this program: its
    ///   folder may be shared.
    /// - Throws: `FileFailure` (`exists`, `notFound` and `notFolder` for the folder, `sharedFolder`, `foreignFolder`,
    ///   `noSafeNaming`, `system`).
    package static func create(
        _ path: String, _ bytes: borrowing SecretBytes, anywhere: Bool = false
    ) throws(FileFailure) {
        try bytes.withBytes { span throws(FileFailure) in try create(path, span, anywhere: anywhere) }
    }

    /// Creates a file like the other `create`, from bytes that need not be secret.
    package static func create(
        _ path: String, _ bytes: borrowing Span<UInt8>, anywhere: Bool = false
    ) throws(FileFailure) {
        let (folder, name) = Path.split(path)
        try Path.requireFolder(folder, named: folder)
        if !anywhere { try PrivateFolder.require(folder) }
        try written(bytes, inFolder: folder, for: path).publish(as: name)
    }

    /// Replaces a file atomically: readers see the old contents or the new, never a mixture.
    ///
    /// - Throws: `FileFailure` (`notFound` for the folder, `sharedFolder`, `foreignFolder`, `noSafeNaming`, `system`);
    ///   the file is then unchanged.
    package static func replace(_ path: String, _ bytes: borrowing SecretBytes) throws(FileFailure) {
        try bytes.withBytes { span throws(FileFailure) in try replace(path, span) }
    }

    /// Replaces a file like the other `replace`, with bytes that need not be secret.
    package static func replace(_ path: String, _ bytes: borrowing Span<UInt8>) throws(FileFailure) {
        let (folder, name) = Path.split(path)
        try PrivateFolder.require(folder)
        try StaleFiles.remove(in: folder)
        try written(bytes, inFolder: folder, for: path).replace(name)
    }

    /// Writes `bytes` to an unnamed file, syncs it to disk and reads it back.
    private static func written(
        _ bytes: borrowing Span<UInt8>, inFolder folder: String, for path: String
    ) throws(FileFailure) -> UnnamedFile {
        let unnamed = try UnnamedFile(inFolder: folder)
        do {
            try unnamed.file.write(bytes)
            try unnamed.synchronize()
        } catch {
            throw FileFailure(path, .system(error.systemCode ?? EIO, doing: "writing"))
        }
        guard try holds(unnamed.file, bytes) else { throw FileFailure(path, .system(EIO, doing: "reading back")) }
        return unnamed
    }

    /// True if a file has these bytes and no others.
    private static func holds(_ file: OpenFile, _ bytes: borrowing Span<UInt8>) throws(FileFailure) -> Bool {
        var piece = SecretBytes(capacity: min(bytes.count + 1, 65_536))
        var offset = 0
        while true {
            piece.removeAll()
            try append(from: file, at: offset, upTo: piece.capacity, to: &piece)
            if piece.isEmpty { return offset == bytes.count }
            let end = offset + piece.count
            guard end <= bytes.count, piece.withBytes({ bytes.extracting(offset..<end).isEqual(to: $0) }) else {
                return false
            }
            offset = end
        }
    }

    private static func contents(of file: OpenFile, limit: Int) throws(FileFailure) -> SecretBytes {
        // Reads to the end, not to the size from `fstat`: files in /proc report a size of zero.
        var bytes = SecretBytes(capacity: min(limit, 4096))
        while true {
            let before = bytes.count
            try append(from: file, at: before, upTo: min(4096, limit + 1 - before), to: &bytes)
            if bytes.count == before { return bytes }
            if bytes.count > limit { throw FileFailure(file.path, .tooLarge(limit: limit)) }
        }
    }

    private static func append(
        from file: OpenFile, at offset: Int, upTo limit: Int, to bytes: inout SecretBytes
    ) throws(FileFailure) {
        do {
            try bytes.append(upTo: limit) { output throws(StreamFailure) in
                try file.read(at: UInt64(offset), into: &output)
            }
        } catch {
            throw FileFailure(file.path, .system(error.systemCode ?? EIO, doing: "reading"))
        }
    }
}
