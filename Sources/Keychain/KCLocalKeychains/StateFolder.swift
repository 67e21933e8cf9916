package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel
package import KCKeychainStore

/// The folder of the kept states of one keychain, which can be found even if the keychain itself does not open.
package struct StateFolder: Hashable, Sendable {
    package let path: String

    private static let ending = ".keychain"
    private static let recordEnding = ".written"
    private static let placeName = "/.place"
    private static let followedName = "/.followed"
    // Bytes of the MAC: half of HMAC-SHA256, the minimum that RFC 2104 (section 5) recommends.
    private static let codeLength = 16

    /// The folder of a keychain, determined by the ID of its file and its path.
    init(of storeID: [UInt8], at path: String, in folder: DataFolder) {
        self.path = "\(folder.keptStates)/\(Self.start(of: storeID))\(Self.word(for: path))"
    }

    private static func start(of storeID: [UInt8]) -> String { Hexadecimal.encode(storeID) + "-" }

    private init(path: String) {
        self.path = path
    }

    private static func word(for path: String) -> String { word(of: LocalKeychain.place(of: path)) }

    fileprivate static func word(of place: String) -> String {
        String(SHA256.hash(Array(place.utf8).span).hex.prefix(16))
    }

    /// The folders of all keychains that were ever at the path of `local`, which need not be opened.
    package static func all(at local: LocalKeychain, in folder: DataFolder) throws(FileFailure) -> [StateFolder] {
        try all(at: local.path, in: folder)
    }

    private static func all(at path: String, in folder: DataFolder) throws(FileFailure) -> [StateFolder] {
        try PrivateFolder.require(folder.keptStates, mayBeMissing: true)
        let ending = "-" + word(for: path)
        return try Path.names(in: folder.keptStates).filter { $0.exact.hasSuffix(ending) }.sorted {
            $0.exact < $1.exact
        }.map {
            StateFolder(path: "\(folder.keptStates)/\($0)")
        }
    }

    /// Makes the folder, and notes the location of the keychain in it, which its name alone does not tell.
    func make(at keychainPath: String) throws(FileFailure) {
        try Path.makeFolder(path)
        let note = path + Self.placeName
        if try Path.exists(note) { return }
        do throws(FileFailure) {
            try PrivateFile.create(note, Array(LocalKeychain.place(of: keychainPath).utf8).span)
        } catch {
            // Another process has noted the same.
            guard error.problem == .exists else { throw error }
        }
    }

    /// Makes the folder, and notes that its keychain is the one at the path, and no other one is there any more.
    func claim(_ keychainPath: String, in folder: DataFolder) throws(FileFailure) {
        try make(at: keychainPath)
        // A kill in between leaves none that is there for certain, of which undo takes none unasked.
        for other in try Self.all(at: keychainPath, in: folder) where other != self { try other.setFollowed() }
        if try isFollowed() { try Path.remove(path + Self.followedName) }
    }

    /// Notes that another keychain came to the place of this one, if there are states of this one.
    private func setFollowed() throws(FileFailure) {
        if try isFollowed() { return }
        if try list().isEmpty { return }
        do throws(FileFailure) {
            try PrivateFile.create(path + Self.followedName, [UInt8]().span)
        } catch {
            // Another process has noted the same.
            guard error.problem == .exists else { throw error }
        }
    }

    /// True if another keychain came to the place of this one after it.
    package func isFollowed() throws(FileFailure) -> Bool { try Path.exists(path + Self.followedName) }

    /// Notes that a new keychain comes to a place, so that the states of others there are not taken for its own.
    static func follow(at local: LocalKeychain, in folder: DataFolder) throws(FileFailure) {
        for states in try all(at: local, in: folder) { try states.setFollowed() }
    }

    /// Claims the place of a keychain that is brought back from one of these states.
    package func claim(_ local: LocalKeychain, in folder: DataFolder) throws(FileFailure) {
        try claim(local.path, in: folder)
    }

    /// Where the keychain of these states is now, if it is known at another place than `local`.
    ///
    /// The keychain is looked for under the names in the data folder, and where states of it were kept.
    package func otherPlace(
        than local: LocalKeychain, in folder: DataFolder, deviceKey: DeviceKey, minimumCost: ScryptCost?
    ) throws(FileFailure) -> String? {
        guard let start = Path.split(path).name.exact.split(separator: "-").first else { return nil }
        var places: [String] = []
        for name in try LocalKeychain.names(in: folder) {
            places.append("\(folder.keychains)/\(name)\(LocalKeychain.ending)")
        }
        for name in try Path.names(in: folder.keptStates) where name.exact.hasPrefix(start + "-") {
            if let place = try StateFolder(path: "\(folder.keptStates)/\(name)").place() { places.append(place) }
        }
        for place in places where LocalKeychain.place(of: place).exact != local.place.exact {
            // A file that does not open would not be a second keychain of that ID that is in use.
            if try Occupant(of: place, for: String(start), deviceKey, minimumCost) == .keychain { return place }
        }
        return nil
    }

    /// The contents of a place where a keychain was.
    private enum Occupant {
        /// The keychain, or a copy of it: a keychain with its ID.
        case keychain
        /// Nothing, or another keychain.
        case none
        /// A file that does not open, and may be a copy.
        case unknown

        /// - Parameter id: the ID of the keychain, in hexadecimal.
        init(
            of place: String, for id: String, _ deviceKey: DeviceKey, _ minimumCost: ScryptCost?
        ) throws(FileFailure) {
            guard try Path.exists(place) else {
                self = .none
                return
            }
            do throws(KeychainStoreError) {
                let found = try Keychain.open(at: place, deviceKey: deviceKey, minimumCost: minimumCost)
                self = Hexadecimal.encode(found.storeID).exact == id.exact ? .keychain : .none
            } catch {
                self = .unknown
            }
        }
    }

    /// The location of the keychain whose states these are; nil if it was not noted.
    private func place() throws(FileFailure) -> String? {
        do throws(FileFailure) {
            let note = try PrivateFile.read(path + Self.placeName)
            return note.withBytes { span in String(validating: span.indices.map { span[$0] }, as: UTF8.self) }
        } catch {
            guard error.problem == .notFound else { throw error }
            return nil
        }
    }

    /// Folders of a keychain for places where it is no longer, since its file or its home was moved.
    struct LeftBehind {
        /// The folders for places where no copy of the keychain is: they belong to it.
        var own: [StateFolder] = []
        /// States for places with a file that does not open, which may be a copy of the keychain.
        var doubtful: [KeptStates.Doubtful] = []
    }

    /// The folders of the same keychain for other places, without those of copies of its file that are at such places.
    func leftBehind(by keychain: Keychain, in folder: DataFolder) throws(FileFailure) -> LeftBehind {
        try PrivateFolder.require(folder.keptStates, mayBeMissing: true)
        let id = Hexadecimal.encode(keychain.storeID)
        var found = LeftBehind()
        for name in try Path.names(in: folder.keptStates).sorted(by: { $0.exact < $1.exact }) {
            let other = StateFolder(path: "\(folder.keptStates)/\(name)")
            guard name.exact.hasPrefix(Self.start(of: keychain.storeID)), other != self else { continue }
            // The place may lead to the keychain itself, by another path.
            guard let place = try other.place(), try FileIdentity(of: place) != FileIdentity(of: keychain.path) else {
                found.own.append(other)
                continue
            }
            switch try Occupant(of: place, for: id, keychain.deviceKey, keychain.minimumCost) {
            case .keychain: continue
            case .none: found.own.append(other)
            case .unknown:
                let states = KeptStates.Doubtful(count: try other.list().count, folder: other.path, place: place)
                if states.count > 0 { found.doubtful.append(states) }
            }
        }
        return found
    }

    /// All states, the newest first.
    package func list() throws(FileFailure) -> [KeptStates.State] {
        try PrivateFolder.require(path, mayBeMissing: true)
        return try Path.names(in: path).compactMap(state).sorted { $0.date > $1.date }
    }

    /// Opens a state; no passcode is needed.
    ///
    /// - Throws: as `KeptStates.open`.
    package static func open(
        _ state: KeptStates.State, deviceKey: DeviceKey, minimumCost: ScryptCost?
    ) throws -> Keychain {
        guard try code(of: OpenFile.reading(state.path), deviceKey) == state.code else {
            throw KeychainStoreError.damaged("it is not as it was kept")
        }
        return try Keychain.open(at: state.path, deviceKey: deviceKey, minimumCost: minimumCost)
    }

    /// Removes a state.
    package static func remove(_ state: KeptStates.State) throws(FileFailure) {
        // The state itself is removed last: while it is listed, what belongs to it is not forgotten.
        for suffix in ["-journal", ".lock", recordEnding, ""] { try Path.remove(state.path + suffix) }
    }

    /// The path of the record of rows that were written after a state was kept.
    static func record(of state: KeptStates.State) -> String { state.path + recordEnding }

    /// Removes all states.
    ///
    /// - Returns: the number of states removed.
    package func removeAll() throws(FileFailure) -> Int {
        let states = try list()
        for state in states { try Self.remove(state) }
        return states.count
    }

    /// The MAC of a copy.
    static func code(of file: OpenFile, _ deviceKey: DeviceKey) throws -> String {
        var source = try FileSlice(whole: file)
        var hash = SHA256()
        try source.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        let key = try deviceKey.stateMACKey(context: Array("kept states".utf8))
        var hmac = try HMAC(key: key)
        let code = try hmac.authenticate(hash.finalize().bytes.span)
        return Hexadecimal.encode(Array(code.prefix(codeLength)))
    }

    /// The state with a given date, code and following change.
    func state(_ date: Timestamp, _ code: String, before change: KeptStates.Change?) -> KeptStates.State {
        let name = date.compact
        let word = change.map { "-" + $0.rawValue } ?? ""
        return KeptStates.State(
            name: name, path: "\(path)/\(name)-\(code)\(word)\(Self.ending)", date: date, before: change, code: code)
    }

    /// The state in a file of the folder; nil if the name has another form.
    private func state(fileName: String) -> KeptStates.State? {
        guard let stem = fileName.exact.removingSuffix(Self.ending) else { return nil }
        let parts = stem.exact.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[1].utf8.count == 2 * Self.codeLength else { return nil }
        let change = parts.count == 3 ? KeptStates.Change(rawValue: String(parts[2])) : nil
        guard let date = Timestamp(compact: parts[0]) else { return nil }
        let found = state(date, String(parts[1]), before: change)
        return found.path.exact == "\(path)/\(fileName)".exact ? found : nil
    }
}

extension DataFolder {
    /// The folder of the kept states of what is no keychain: the files below a root, such as a home, or the desktop keyring.
    ///
    /// Homes that share a data folder do not share it: the state of one would write its secrets into the other. A home whose
    /// own data folder this is has the plain name, so that it finds its states after it was moved.
    package func keptStates(of kind: String, below root: String) -> String {
        let plain = "\(keptStates)/\(kind)"
        let own = DataFolder(environment: [:], home: root).path
        if own.exact == path.exact { return plain }
        if let own = Path.real(own), let present = Path.real(path), own.exact == present.exact { return plain }
        return plain + "-" + StateFolder.word(of: Path.real(root) ?? root)
    }
}
