package import ByteStreams
internal import Cryptography
internal import DeviceIdentity
package import KeychainModel
package import KeychainStore

/// The states of one keychain from before restores, as copies of its file in the data folder.
///
/// A copy is as well protected as the keychain: its secrets stay sealed under keys that only this device and its passcode
/// open, and what is in no archive is in it too (docs/decisions/0015-undo-by-copies.md).
package struct KeptStates {
    /// How many states are kept.
    package static let limit = 5

    private let keychain: Keychain
    private let folder: String

    /// One state.
    package struct State: Hashable, Sendable {
        /// When it was kept, as in `20261122T051500.250000Z`.
        package let name: String
        /// The copy.
        package let path: String
        fileprivate let date: Timestamp
        /// Of the copy, by a key of the device.
        fileprivate let code: String
    }

    private static let ending = ".keychain"
    // Bytes of the authentication code: half of HMAC-SHA256, the least that RFC 2104 (section 5) recommends.
    private static let codeLength = 16

    /// Finds the states of a keychain.
    ///
    /// They belong to the ID of its file and to its place, so that a copy of the file has states of its own.
    package init(of keychain: Keychain, in folder: DataFolder) {
        self.keychain = keychain
        let place = SHA256.hash(Array(LocalKeychain.place(of: keychain.path).utf8).span).hex.prefix(16)
        self.folder = "\(folder.keptStates)/\(Hexadecimal.encode(keychain.storeID))-\(place)"
    }

    /// Keeps the state of now; called within a transaction of the keychain that has changed nothing yet.
    ///
    /// Where the newest state is the one of now, it is the result: a restore that was killed before its end has kept it.
    /// The newest state is the one that was kept last, whatever the clock says.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `KeychainStoreError`, `CryptographyFailure`; then nothing is kept.
    package func keep(now: Timestamp) throws -> State {
        try Path.makeFolder(folder)
        let copy = try UnnamedFile(inFolder: folder)
        try keychain.copyFile(to: copy.file)
        let code = try code(of: copy.file)
        let newest = try list().first
        if let newest, newest.code == code { return newest }
        let date = newest.map { max(now, $0.date.advanced(byMicroseconds: 1)) } ?? now
        let state = state(date, code)
        try copy.publish(as: Path.split(state.path).name)
        return state
    }

    /// All states, the newest first.
    ///
    /// - Throws: `FileFailure`.
    package func list() throws(FileFailure) -> [State] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).compactMap(state).sorted { $0.date > $1.date }
    }

    /// Opens a state; no passcode is needed.
    ///
    /// - Throws: `KeychainStoreError` (`damaged` also if it is not as it was kept), `FileFailure`, `StreamFailure`,
    ///   `CryptographyFailure`.
    package func open(_ state: State) throws -> Keychain {
        guard try code(of: OpenFile.reading(state.path)) == state.code else {
            throw KeychainStoreError.damaged("it is not as it was kept")
        }
        return try Keychain.open(at: state.path, deviceKey: keychain.deviceKey, minimumCost: keychain.minimumCost)
    }

    /// Removes all but the newest.
    ///
    /// - Throws: `FileFailure`.
    package func prune() throws(FileFailure) {
        for state in try list().dropFirst(Self.limit) { try remove(state) }
    }

    /// Removes one.
    ///
    /// - Throws: `FileFailure`.
    package func remove(_ state: State) throws(FileFailure) {
        for suffix in ["", "-journal", ".lock"] { try Path.remove(state.path + suffix) }
    }

    /// Removes them all.
    ///
    /// - Returns: how many there were.
    /// - Throws: `FileFailure`.
    package func removeAll() throws(FileFailure) -> Int {
        let states = try list()
        for state in states { try remove(state) }
        return states.count
    }

    /// The authentication code of a copy.
    private func code(of file: OpenFile) throws -> String {
        var source = try FileSlice(whole: file)
        var hash = SHA256()
        try source.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        let key = try keychain.deviceKey.stateMACKey(context: Array("kept states".utf8))
        var hmac = try HMACSHA256(key: key)
        let code = try hmac.authenticate(hash.finalize().bytes.span)
        return Hexadecimal.encode(Array(code.prefix(Self.codeLength)))
    }

    private func state(_ date: Timestamp, _ code: String) -> State {
        let name = date.description.filter { $0 != "-" && $0 != ":" }
        return State(name: name, path: "\(folder)/\(name)-\(code)\(Self.ending)", date: date, code: code)
    }

    /// The state in a file of the folder; nil where the name is of another form.
    private func state(fileName: String) -> State? {
        guard fileName.hasSuffix(Self.ending) else { return nil }
        let parts = fileName.dropLast(Self.ending.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2 * Self.codeLength else { return nil }
        var text = String(parts[0])
        for (offset, mark) in [(4, "-"), (7, "-"), (13, ":"), (16, ":")] {
            guard text.utf8.count > offset, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            text.insert(contentsOf: mark, at: text.index(text.startIndex, offsetBy: offset))
        }
        guard let date = Timestamp(text) else { return nil }
        let found = state(date, String(parts[1]))
        return found.path == "\(folder)/\(fileName)" ? found : nil
    }
}
