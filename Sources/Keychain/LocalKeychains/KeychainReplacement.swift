package import ByteStreams
package import DeviceIdentity
package import KeychainModel
internal import KeychainStore

/// Bringing back a keychain whose file is damaged or gone.
extension LocalKeychain {
    /// Which file is at the place of the keychain, to notice that another one has come there; nil for none.
    ///
    /// - Throws: `FileFailure`.
    package func fileIdentity() throws(FileFailure) -> FileIdentity? { try FileIdentity(of: path) }

    /// Puts a kept state in the place of the file, which keeps its bytes under another name.
    ///
    /// A kill leaves the old file, no file, or the new one; where there is none, this can be done again.
    ///
    /// - Parameters:
    ///   - state: was opened, so that it is known to be whole.
    ///   - found: the file that did not open.
    /// - Returns: where the old file is now; nil where there was none.
    /// - Throws: `KeychainStoreError.busy` if another file has come to the place; `damaged` for a state that is not as it
    ///   was kept. `FileFailure`, `StreamFailure`, `CryptographyFailure`.
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
        let mark = ".damaged-" + now.description.filter { $0 != "-" && $0 != ":" }
        // What lies beside a file belongs to it, and would be taken for the new one's.
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
