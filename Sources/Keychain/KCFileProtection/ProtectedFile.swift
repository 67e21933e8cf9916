package import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography

/// A file whose contents are encrypted to a key of this device, or are to be (docs/protect.md).
///
/// A protected file is an age file with the name of the original and `.age` after it. Its contents are replaced in one step,
/// and its name changes after that, so that at no time there is a second file with the clear contents.
package struct FileToProtect {
    /// The ending of the names of protected files.
    package static let ending = ".age"

    /// As the user named it.
    package let path: String
    private let folder: OpenFolder
    private let name: String
    private let file: OpenFile
    private let before: EntryStatus
    /// The stanzas of its header, if it is an age file.
    package let stanzas: [Stanza]?

    /// Opens a file, and refuses what cannot be replaced without a loss.
    ///
    /// - Throws: `ProtectionProblem`, `FileFailure`, `StreamFailure`.
    package init(_ path: String) throws {
        self.path = path
        let (folderPath, name) = Path.split(path)
        guard !name.isEmpty, ![".", ".."].contains(name) else { throw FileFailure(path, .notRegular) }
        guard !UnnamedFile.isTemporaryName(name.exact.removingSuffix(Self.ending) ?? name) else {
            throw ProtectionProblem.temporaryName(path)
        }
        // The last name is not followed if it is a link; those before it lead to the folder that is meant.
        folder = try OpenFolder(folderPath)
        self.name = name
        do throws(FileFailure) {
            file = try folder.file(name)
        } catch {
            throw FileFailure(path, error.problem)
        }
        before = try EntryStatus(file)
        stanzas = try Self.stanzas(of: file)
        guard before.names == 1 else { throw ProtectionProblem.severalNames(path, isEncrypted: stanzas != nil) }
    }

    /// True if the name is one of a protected file.
    package var hasEnding: Bool { name.exact.hasSuffix(Self.ending) && name.utf8.count > Self.ending.utf8.count }

    /// The path of the file once it is protected.
    package var protectedPath: String { path + Self.ending }

    /// The path of a protected file once it is in the clear.
    package var clearPath: String { path.exact.removingSuffix(Self.ending) ?? path }

    /// The file's own header; nil if it is no age file.
    private static func stanzas(of file: OpenFile) throws -> [Stanza]? {
        do {
            return try AgeHeader.read(from: FileSlice(whole: file)).stanzas
        } catch AgeFailure.notAnAgeFile, AgeFailure.armored, AgeFailure.unsupportedVersion, AgeFailure.malformedHeader,
            AgeFailure.headerTooLarge
        {
            return nil
        }
    }

    /// True if the file has these bytes at an offset.
    package func holds(_ bytes: [UInt8], at offset: UInt64) throws -> Bool {
        var found: [UInt8] = []
        try found.append(upTo: bytes.count) { output throws(StreamFailure) in try file.read(at: offset, into: &output) }
        return found == bytes
    }

    /// True if both are the same file.
    package func isSame(as other: FileToProtect) -> Bool { before == other.before }

    /// Checks that `protect` and `finishProtecting` can do what they do, as far as that can be known without a change.
    ///
    /// - Parameter isEncrypted: true after a run that was killed, when only the name is to change.
    /// - Throws: `ProtectionProblem` (`inUse`, `nameTaken`), `FileFailure`.
    package func requireProtectable(isEncrypted: Bool) throws {
        try requireFreeName()
        try folder.requireReplaceable(name, before)
        if isEncrypted { return }
        guard file.holdAgainstWriters() else { throw ProtectionProblem.inUse(path) }
        file.releaseToWriters()
        try requireMetadata()
    }

    /// Checks that `unprotect` can do what it does, as far as that can be known without the key and a change.
    ///
    /// - Throws: `ProtectionProblem.nameTaken`, `FileFailure`.
    package func requireUnprotectable() throws {
        try folder.requireReplaceable(name, before)
        try requireMetadata()
        // Its size tells whether it can be what a killed run has left.
        if let taken = try folder.status(of: clearName), taken.kind != .file || taken.size >= before.size {
            throw ProtectionProblem.nameTaken(clearPath)
        }
    }

    /// Checks that some of these identities open the file, by its header alone.
    ///
    /// - Throws: `AgeFailure`, `FileFailure`.
    package func requireOpens(with identities: [any Identity]) throws {
        _ = try AgeDecryptor(FileSlice(whole: file), identities: identities)
    }

    /// True if a file has the name of the clear file, which can be what a killed run has left.
    package var isClearNameTaken: Bool { get throws { try folder.status(of: clearName) != nil } }

    /// Checks that the name of the clear file is free, or that the file of that name has these contents.
    ///
    /// - Throws: `ProtectionProblem.nameTaken`, `AgeFailure`, `StreamFailure`, `FileFailure`.
    package func requireClearName(with identities: [any Identity]) throws {
        guard try isClearNameTaken else { return }
        var decryptor = try AgeDecryptor(FileSlice(whole: file), identities: identities)
        var hash = SHA256()
        try decryptor.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        guard try Self.hash(of: folder.file(clearName)) == hash.finalize().bytes else {
            throw ProtectionProblem.nameTaken(clearPath)
        }
    }

    /// Checks that a new file can have the owner and the attributes of this one.
    private func requireMetadata() throws {
        try FileMetadata(of: file).apply(to: folder.unnamedFile(sweeps: false).file)
    }

    private var clearName: String { Path.split(clearPath).name }

    private func requireFreeName() throws {
        guard try folder.status(of: name + Self.ending) != nil else { return }
        // Another run may have protected the file since it was opened.
        throw try folder.status(of: name) == before
            ? ProtectionProblem.nameTaken(protectedPath) : ProtectionProblem.changed(path)
    }

    /// Encrypts the contents in place; `finishProtecting` then gives the file its new name.
    ///
    /// - Throws: `ProtectionProblem` (`inUse`, `changed`), `FileFailure`, `StreamFailure`, `AgeFailure`; nothing is changed then.
    package func protect(for recipients: [any Recipient]) throws {
        try requireFreeName()
        guard file.holdAgainstWriters() else { throw ProtectionProblem.inUse(path) }
        let output = try folder.unnamedFile(sweeps: true)
        let metadata = try FileMetadata(of: file)
        var encryptor = try AgeEncryptor(recipients: recipients, to: UnnamedFileSink(output))
        let reader = encryptor.reader
        var hash = SHA256()
        var source = try FileSlice(whole: file)
        try source.forEachPiece { bytes throws(StreamFailure) in
            hash.update(bytes)
            try encryptor.write(bytes)
        }
        let written = try encryptor.finish()
        try output.synchronize()
        // A file that cannot be read back must not take the place of one that can.
        var readBack = SHA256()
        var decryptor = try AgeDecryptor(written.source, identities: [reader])
        try decryptor.forEachPiece { bytes throws(StreamFailure) in readBack.update(bytes) }
        guard hash.finalize().bytes == readBack.finalize().bytes else {
            throw StreamFailure(.writing, .authenticationFailed)
        }
        try metadata.apply(to: output.file)
        guard try folder.status(of: name) == before, try EntryStatus(file) == before else {
            throw ProtectionProblem.changed(path)
        }
        // A program that waits to open the file for writing would write to one that no path leads to.
        guard
            try file.isHeldAgainstWriters
                && output.replace(name, ifStill: before, isWanted: { file.isHeldAgainstWriters })
        else { throw file.isHeldAgainstWriters ? ProtectionProblem.changed(path) : .inUse(path) }
    }

    /// Gives a file that is encrypted its new name, which must be free.
    ///
    /// - Throws: `ProtectionProblem` (`nameTaken`; `changed` if the file is gone, as when another run has given it its name),
    ///   `FileFailure`.
    package func finishProtecting() throws {
        do throws(FileFailure) {
            try folder.move(name, to: name + Self.ending)
        } catch {
            guard try folder.status(of: name) != nil else { throw ProtectionProblem.changed(path) }
            throw error.problem == .exists ? ProtectionProblem.nameTaken(protectedPath) : error as any Error
        }
        folder.synchronize()
    }

    /// Decrypts the contents into a new file without the ending, and removes this one.
    ///
    /// - Throws: `ProtectionProblem` (`changed`, `changedBesideClear`, `notRemoved`, `nameTaken` unless the file of that name has these
    ///   contents, as after a run that was killed), `FileFailure`, `StreamFailure`, `AgeFailure`: there is no new file, or both are there.
    package func unprotect(with identities: [any Identity]) throws {
        let output = try folder.unnamedFile(sweeps: true)
        let metadata = try FileMetadata(of: file)
        var decryptor = try AgeDecryptor(FileSlice(whole: file), identities: identities)
        var sink = UnnamedFileSink(output)
        try decryptor.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
        let written = try sink.finish()
        try metadata.apply(to: output.file)
        guard try folder.status(of: name) == before else { throw ProtectionProblem.changed(path) }
        if try folder.status(of: clearName) == nil {
            try output.publish(as: clearName)
        } else {
            guard try holds(clearName, written) else { throw ProtectionProblem.nameTaken(clearPath) }
        }
        try removeBesideClear()
    }

    /// Removes the file, the contents of which the clear file has.
    ///
    /// - Throws: `ProtectionProblem` (`changedBesideClear` if another program changed the file, `notRemoved`).
    func removeBesideClear() throws(ProtectionProblem) {
        let isRemoved: Bool
        do throws(FileFailure) {
            isRemoved = try folder.remove(name, ifStill: before)
        } catch {
            throw .notRemoved(error, clear: clearPath)
        }
        guard isRemoved else { throw .changedBesideClear(path, clear: clearPath) }
        folder.synchronize()
    }

    /// True if a file has these contents.
    private func holds(_ name: String, _ written: SpooledFile) throws -> Bool {
        let other = try folder.file(name)
        guard try other.size() == written.length else { return false }
        return try Self.hash(of: other) == Self.hash(of: written.file)
    }

    private static func hash(of file: OpenFile) throws -> [UInt8] {
        var hash = SHA256()
        var source = try FileSlice(whole: file)
        try source.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        return hash.finalize().bytes
    }
}

/// Why a file cannot be protected, or its protection taken away.
package enum ProtectionProblem: Error, Hashable, Sendable {
    /// The file is one that this program needs itself, to open what it would encrypt.
    case ownFile(String)
    /// The file has a name of temporary files, which are removed if no process uses them.
    case temporaryName(String)
    /// The file has other names (hard links), which would keep the contents.
    case severalNames(String, isEncrypted: Bool)
    /// Another program has the file open for writing, it belongs to another user, or the file system cannot tell.
    case inUse(String)
    /// The file was changed, or replaced, in the meantime.
    case changed(String)
    /// The file was changed, or replaced, after its contents got the name of the clear file.
    case changedBesideClear(String, clear: String)
    /// The file could not be removed after its contents got the name of the clear file.
    case notRemoved(FileFailure, clear: String)
    /// Another file has the name that the file is to get.
    case nameTaken(String)
    /// The file is protected already.
    case alreadyProtected(String)
    /// The file is encrypted under its old name, and its keys are others than those that are wanted, or may be.
    case encryptedOtherwise(String, FileProtection, keychain: String?)
    /// The file is not encrypted.
    case notEncrypted(String)
    /// The file is not a protected one, or has not the name of one.
    case notProtected(String)
    /// No key of this device opens the file.
    case keyElsewhere(String)
}
