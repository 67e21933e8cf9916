package import ByteStreams
internal import Cryptography
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
    }

    private static let ending = ".keychain"

    /// Finds the states of a keychain, which its file's ID identifies under any name.
    package init(of keychain: Keychain, in folder: DataFolder) {
        self.keychain = keychain
        self.folder = "\(folder.keptStates)/\(Hexadecimal.encode(keychain.storeID))"
    }

    /// Keeps the state of now; called within a transaction of the keychain that has changed nothing yet.
    ///
    /// Where the newest state is the one of now, it is the result: a restore that was killed before its end has kept it.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `KeychainStoreError`; then nothing is kept.
    package func keep(now: Timestamp) throws -> State {
        try Path.makeFolder(folder)
        let copy = try UnnamedFile(inFolder: folder)
        try keychain.copyFile(to: copy.file)
        if let newest = try list().first, try Self.areEqual(copy.file, OpenFile.reading(newest.path)) { return newest }
        var date = now
        while true {
            let state = state(named: Self.name(date))
            do throws(FileFailure) {
                try copy.publish(as: Path.split(state.path).name)
                return state
            } catch {
                guard error.problem == .exists, let next = Timestamp(microseconds: date.microseconds + 1) else {
                    throw error
                }
                date = next
            }
        }
    }

    /// All states, the newest first.
    ///
    /// - Throws: `FileFailure`.
    package func list() throws(FileFailure) -> [State] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder)
            .filter { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }
            .map { String($0.dropLast(Self.ending.count)) }
            .sorted(by: >).map(state)
    }

    /// Opens a state; no passcode is needed.
    ///
    /// - Throws: `KeychainStoreError`.
    package func open(_ state: State) throws(KeychainStoreError) -> Keychain {
        try Keychain.open(at: state.path, deviceKey: keychain.deviceKey, minimumCost: keychain.minimumCost)
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

    private static func areEqual(_ one: OpenFile, _ other: OpenFile) throws -> Bool {
        try one.size() == other.size() && digest(one) == digest(other)
    }

    private static func digest(_ file: OpenFile) throws -> SHA256Digest {
        var source = try FileSlice(whole: file)
        var hash = SHA256()
        try source.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        return hash.finalize()
    }

    private func state(named name: String) -> State {
        State(name: name, path: "\(folder)/\(name)\(Self.ending)")
    }

    private static func name(_ date: Timestamp) -> String {
        date.description.filter { $0 != "-" && $0 != ":" }
    }
}
