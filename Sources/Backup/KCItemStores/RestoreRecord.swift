internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCSecretService

/// The record of a restore into the desktop keyring that is being written, or was broken off.
///
/// The keyring has no transactions. With this record, running the restore again finishes it, although the items that
/// it wrote are newer now, and undo goes back to the state before it.
struct RestoreRecord {
    /// The state that was kept before it; nil if none was.
    let state: ArchivedStateName?
    let planned: UnfinishedRestore

    // A line has at most 109 bytes, and an archive at most ten million items.
    private static let kind = StateFile.Kind("unfinished restore", version: 1, sizeLimit: 2 << 30)
    private static let prefix = "unfinished-"

    /// The name of the record of a restore; each has one of its own.
    ///
    /// - Parameter identity: what tells it from others into the same scope.
    static func name(of identity: [UInt8], _ scope: ServiceScope) -> String {
        let label = if case .collection(let label) = scope { label } else { "" }
        let subject = identity + Array("\(ArchiveSource.desktopKeyring):\(label)".utf8)
        return prefix + Hexadecimal.encode(Array(SHA256.hash(subject.span).bytes.prefix(16)))
    }

    static func isName(_ name: String) -> Bool { name.exact.hasPrefix(prefix) }

    /// The file of a record.
    static func file(_ name: String, in folder: String, of device: DeviceKey) -> StateFile {
        StateFile("\(folder)/\(name)", kind, about: name, of: device)
    }

    init(state: ArchivedStateName?, planned: UnfinishedRestore) {
        self.state = state
        self.planned = planned
    }

    /// Reads a record; nil if there is none.
    ///
    /// - Throws: `StateFileFailure` (`altered` also for lines that no record has).
    init?(in file: StateFile) throws(StateFileFailure) {
        guard let body = try file.read() else { return nil }
        guard let fields = StateFields(parsing: body) else { throw .altered(path: file.path) }
        state = fields.values("state").first.flatMap { ArchivedStateName(file: $0) }
        var planned = UnfinishedRestore()
        for word in fields.values("create") {
            guard let uuid = ItemUUID(word) else { throw .altered(path: file.path) }
            planned.created.insert(uuid)
        }
        for value in fields.values("update") {
            let words = value.exact.split(separator: " ")
            guard words.count == 2, let uuid = ItemUUID(String(words[0])), let code = Hexadecimal.decode(words[1])
            else { throw .altered(path: file.path) }
            planned.updated[uuid] = code
        }
        self.planned = planned
    }

    func write(to file: StateFile) throws(StateFileFailure) {
        var fields = StateFields()
        fields.add("state", state?.file)
        for uuid in planned.created { fields.add("create", "\(uuid)") }
        for (uuid, code) in planned.updated { fields.add("update", "\(uuid) \(Hexadecimal.encode(code))") }
        try file.write(fields.encoded)
    }
}
