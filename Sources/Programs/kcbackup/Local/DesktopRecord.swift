internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService

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

    // A line has at most 109 bytes, and an archive at most ten million items.
    private static let limit = 2 << 30

    /// Identifies the restore of an archive.
    static func subject(archiveID: [UInt8], _ keyring: DesktopKeyring) -> String {
        Hexadecimal.encode(archiveID + Array(keyring.name.utf8))
    }

    init(subject: String, state: DesktopStateName?, planned: UnfinishedRestore) {
        self.subject = subject
        self.state = state
        self.planned = planned
    }

    private static let prefix = "unfinished-"

    /// Each restore has a record of its own.
    private static func path(of subject: String, in folder: String) -> String {
        "\(folder)/\(prefix)\(Hexadecimal.encode(Array(SHA256.hash(Array(subject.utf8).span).bytes.prefix(16))))"
    }

    /// Reads the record of a restore; nil if there is none, or if it is damaged.
    init?(of wanted: String, in folder: String) throws(FileFailure) {
        let path = Self.path(of: wanted, in: folder)
        guard try Path.exists(path) else { return nil }
        try self.init(at: path)
        guard subject.exact == wanted.exact else { return nil }
    }

    private init?(at path: String) throws(FileFailure) {
        let bytes = try PrivateFile.read(path, limit: Self.limit)
        let text = bytes.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        var subject: String?
        var state: DesktopStateName?
        var planned = UnfinishedRestore()
        for line in text.exact.split(separator: "\n") {
            let words = line.exact.split(separator: " ")
            guard words.count == (words.first == "update" ? 3 : 2) else { return nil }
            let word = String(words[1])
            switch words[0] {
            case "restore": subject = word
            case "state": state = DesktopStateName(file: word)
            case "create":
                guard let uuid = ItemUUID(word) else { return nil }
                planned.created.insert(uuid)
            case "update":
                guard let uuid = ItemUUID(word), let code = Hexadecimal.decode(words[2]) else { return nil }
                planned.updated[uuid] = code
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
        for (uuid, code) in planned.updated { text += "update \(uuid) \(Hexadecimal.encode(code))\n" }
        try PrivateFile.replace(Self.path(of: subject, in: folder), Array(text.utf8).span)
    }

    /// Removes the records of restores that can no longer be undone, since their state is gone.
    static func tidy(_ folder: String, states: [DesktopStateName]) throws(FileFailure) {
        for name in try Path.names(in: folder) where name.exact.hasPrefix(prefix) {
            let path = "\(folder)/\(name)"
            if let state = try DesktopRecord(at: path)?.state, !states.contains(state) { try Path.remove(path) }
        }
    }

    /// Removes the record.
    func remove(in folder: String) throws(FileFailure) { try Path.remove(Self.path(of: subject, in: folder)) }
}
