package import KCByteStreams
package import KCCryptography
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore

/// The note that a new escrow key is in a file, but perhaps not yet in its keychain.
///
/// The file of the key and the keychain cannot change in one step. A run that is killed in between leaves a key that
/// opens nothing, under the name that the next run needs. The note, a file in the data folder, lets that run remove it.
package final class UnfinishedEscrow {
    private let path: String
    private let lock: FileLock

    private static let name = "unfinished-escrow"
    /// In bytes: two paths and two short words.
    private static let limit = 65_536

    /// Notes that `text` will be written to the new file `keyFile`, as the escrow key of a keychain.
    package init(
        of publicKey: String, _ text: borrowing SecretBytes, in keyFile: String, of keychain: String,
        in folder: DataFolder
    ) throws(FileFailure) {
        path = "\(folder.path)/\(Self.name)"
        lock = try FileLock(path + ".lock")
        var note: [UInt8] = []
        CanonicalJSON.literal("[", into: &note)
        CanonicalJSON.string(keyFile, into: &note)
        CanonicalJSON.literal(",\"\(Self.hash(text))\",\"\(publicKey)\",", into: &note)
        CanonicalJSON.string(keychain, into: &note)
        CanonicalJSON.literal("]", into: &note)
        try PrivateFile.replace(path, note.span)
    }

    /// Removes the note: the key is in its keychain, or its file is gone.
    ///
    /// A note that stays does no harm: the next run sees the same and removes it.
    package func end() { Self.remove(path) }

    private static func remove(_ path: String) {
        do throws(FileFailure) {
            try Path.remove(path)
            try Path.remove(path + ".lock")
        } catch {
            return
        }
    }

    /// Removes the key file of a run that was killed before it changed the keychain, and its note.
    ///
    /// A note that cannot be acted upon stays for a later run: while another process is at work, or if the keychain
    /// cannot be opened.
    ///
    /// - Parameter minimumCost: the lowest scrypt cost that is accepted; for tests.
    package static func clean(in folder: DataFolder, of device: LocalDevice, minimumCost: ScryptCost? = nil) {
        let path = "\(folder.path)/\(name)"
        do {
            guard try Path.exists(path) || Path.exists(path + ".lock") else { return }
            let lock = try FileLock(path + ".lock", waitingAtMost: .zero)
            defer { withExtendedLifetime(lock) {} }
            // The run was killed before it wrote the note, or after it had removed it.
            guard try Path.exists(path) else { return try Path.remove(path + ".lock") }
            let (keyFile, hash, publicKey, keychain) = try read(path)
            if try Path.exists(keyFile), try Self.hash(PrivateFile.read(keyFile)) == hash {
                let known = try Keychain.open(
                    at: keychain, deviceKey: device.key(), minimumCost: minimumCost)
                if known.keybag.escrow?.key.description != publicKey { try Path.remove(keyFile) }
            }
            remove(path)
        } catch {
            return
        }
    }

    private static func read(_ path: String) throws -> (String, String, String, String) {
        try PrivateFile.read(path, limit: limit).withBytes { bytes in
            var scanner = CanonicalScanner()
            try scanner.literal("[", in: bytes)
            var words: [String] = []
            for index in 0..<4 {
                if index > 0 { try scanner.literal(",", in: bytes) }
                words.append(try scanner.string(in: bytes))
            }
            try scanner.literal("]", in: bytes)
            try scanner.end(in: bytes)
            return (words[0], words[1], words[2], words[3])
        }
    }

    private static func hash(_ text: borrowing SecretBytes) -> String { text.withBytes { SHA256.hash($0).hex } }
}
