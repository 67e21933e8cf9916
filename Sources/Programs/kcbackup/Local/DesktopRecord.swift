internal import ByteStreams
internal import Cryptography
internal import KeychainModel
internal import SecretService

/// The record of a restore into the desktop keyring that is being written, or was broken off.
///
/// The keyring has no transactions. With this record, running the restore again finishes it, although the items that
/// it wrote are newer now, and `--undo` goes back to the state before it.
struct DesktopRecord {
    /// What is restored, and into what, in hexadecimal digits.
    let subject: String
    /// The state that was kept before it; nil if none was.
    let state: DesktopStateName?
    let planned: UnfinishedRestore

    // A line of a UUID has 44 bytes, and an archive at most a million items.
    private static let limit = 64 << 20

    /// Identifies the restore of an archive.
    static func subject(archiveID: [UInt8], _ keyring: DesktopKeyring) -> String {
        Hexadecimal.encode(archiveID + Array(keyring.name.utf8))
    }

    init(subject: String, state: DesktopStateName?, planned: UnfinishedRestore) {
        self.subject = subject
        self.state = state
        self.planned = planned
    }

    private static func path(in folder: String) -> String { folder + "/unfinished" }

    /// Reads the record; nil if there is none, or if it is damaged.
    init?(in folder: String) throws(FileFailure) {
        let path = Self.path(in: folder)
        guard try Path.exists(path) else { return nil }
        let bytes = try PrivateFile.read(path, limit: Self.limit)
        let text = bytes.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        var subject: String?
        var state: DesktopStateName?
        var planned = UnfinishedRestore(created: [], updated: [])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2 else { return nil }
            let word = String(words[1])
            switch words[0] {
            case "restore": subject = word
            case "state": state = DesktopStateName(file: word)
            case "create":
                guard let uuid = ItemUUID(word) else { return nil }
                planned.created.insert(uuid)
            case "update":
                guard let uuid = ItemUUID(word) else { return nil }
                planned.updated.insert(uuid)
            default: return nil
            }
        }
        guard let subject else { return nil }
        self.init(subject: subject, state: state, planned: planned)
    }

    /// Writes the record.
    func write(in folder: String) throws(FileFailure) {
        var text = "restore \(subject)\n"
        if let state { text += "state \(state.file)\n" }
        for uuid in planned.created { text += "create \(uuid)\n" }
        for uuid in planned.updated { text += "update \(uuid)\n" }
        try PrivateFile.replace(Self.path(in: folder), Array(text.utf8).span)
    }

    /// Removes the record, if there is one.
    static func remove(in folder: String) throws(FileFailure) {
        let path = path(in: folder)
        if try Path.exists(path) { try Path.remove(path) }
    }
}
