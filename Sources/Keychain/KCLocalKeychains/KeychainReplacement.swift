package import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel
internal import KCKeychainStore

/// Restores a keychain whose file is damaged or missing.
extension LocalKeychain {
    /// Identifies the file at the keychain's path, to detect that it is replaced by another one; nil if there is none.
    package func fileIdentity() throws(FileFailure) -> FileIdentity? { try FileIdentity(of: path) }

    /// Replaces the file with a kept state, and keeps the old file under another name.
    ///
    /// A kill leaves the old file, no file, or the new one; if there is none, the call can be repeated.
    ///
    /// - Parameters:
    ///   - state: a state that has been opened, so that it is known to be intact.
    ///   - found: the file that could not be opened.
    /// - Returns: the new path of the old file; nil if there was none.
    /// - Throws: `KeychainStoreError.busy` if another file has appeared at the path; `damaged` if the state has changed
    ///   since it was kept. `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package func replaceFile(
        by state: KeptStates.State, insteadOf found: FileIdentity?, deviceKey: DeviceKey, now: Timestamp
    ) throws -> String? {
        let (folder, name) = Path.split(path)
        try Path.makeFolder(folder)
        // The lock for changes of the keychain.
        let lock = try FileLock(path + ".lock")
        defer { withExtendedLifetime(lock) {} }
        guard try fileIdentity() == found else { throw KeychainStoreError.busy }
        let output = try UnnamedFile(inFolder: folder)
        try copy(state, to: output)
        guard try StateFolder.code(of: output.file, deviceKey) == state.code else {
            throw KeychainStoreError.damaged("it is not as it was kept")
        }
        let mark = ".damaged-" + now.compact
        // Files next to the old file belong to it, and would be taken for those of the new one.
        for suffix in ["-journal", "-wal", "-shm"] where try Path.exists(path + suffix) {
            try Path.move(path + suffix, to: path + mark + suffix)
        }
        if found != nil { try Path.move(path, to: path + mark) }
        try output.publish(as: name)
        return found == nil ? nil : path + mark
    }

    private func copy(_ state: KeptStates.State, to output: UnnamedFile) throws {
        var sink = UnnamedFileSink(output)
        var source = try FileSlice(whole: OpenFile.reading(state.path))
        try source.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
        _ = try sink.finish()
    }
}
