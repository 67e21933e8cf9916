internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// 1PIF, the unencrypted export of 1Password 4 to 7: a JSON object per line, with a line of asterisks after each; as a
/// folder, with attachments beside it.
///
/// Source: exports of 1Password, and AgileBits' converters into the format.
package struct PIFFormat: ForeignFormat {
    package let kind = ForeignKind.onePasswordPIF

    /// The text between two records.
    private static let separator = "***5642bee8-a5ff-11dc-8314-0800200c9a66***"
    /// The file with the records in a folder.
    private static let member = "data.1pif"
    private static let attachments = "attachments/"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return try Path.kind(of: input.path + "/" + Self.member) == .file }
        return file.bytes.withBytes { bytes in
            !JSONHead.names(["uuid"], in: bytes).isEmpty && bytes.holds(Self.separator)
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        guard let file = input.file else {
            let folder = try ForeignFolder(input.path)
            let file = try folder.read(Self.member)
            var reader = PIFReader(collector: RecordCollector(format: name, date: file.modified))
            for path in folder.files where path.exact.hasPrefix(Self.attachments) {
                let parts = path.exact.split(separator: "/", maxSplits: 2)
                if parts.count == 3 { reader.attachments[parts[1].exact, default: []].append((parts[2], path)) }
            }
            let opened = try reader.read(file) { try folder.read($0).bytes.copy() }
            reader.collector.leaveOut("file of no imported record", folder.files.count - 1 - opened)
            return try reader.collector.finish(details: "", isPlaintext: true)
        }
        var reader = PIFReader(collector: RecordCollector(format: name, date: file.modified))
        _ = try reader.read(file) { _ in SecretBytes(capacity: 0) }
        return try reader.collector.finish(details: "", isPlaintext: true)
    }

    /// The texts of the records, and the lines on which they begin.
    fileprivate static func records(_ bytes: borrowing Span<UInt8>) -> [(line: Int, range: Range<Int>)] {
        var records: [(line: Int, range: Range<Int>)] = []
        var lines = Lines(bytes.count)
        var record: (line: Int, range: Range<Int>)?
        while let (range, number) = lines.next(in: bytes) {
            if bytes.extracting(range).isEqual(to: separator.utf8.span) {
                if let record { records.append(record) }
                record = nil
            } else {
                record = (record?.line ?? number, (record?.range.lowerBound ?? range.lowerBound)..<range.upperBound)
            }
        }
        if let record { records.append(record) }
        return records
    }
}

/// Reads the records of a 1PIF export.
private struct PIFReader {
    let collector: RecordCollector
    /// The files attached to records, by the record's ID: their names and paths.
    var attachments: [ExactText: [(name: String, path: String)]] = [:]
    /// The names of folders and those that they are in, by ID.
    private var folders: [ExactText: (name: String, parent: String)] = [:]
    private var ids: Set<ExactText> = []

    /// How deeply folders may be nested.
    private static let depthLimit = 32

    init(collector: RecordCollector) {
        self.collector = collector
    }

    /// Reads all records.
    ///
    /// - Parameter attachment: returns the content of an attached file.
    /// - Returns: the number of attached files that were read.
    mutating func read(_ file: ForeignFile, attachment: (String) throws -> SecretBytes) throws -> Int {
        var opened = 0
        var documents: [(line: Int, Result<ForeignJSON, ForeignFailure>)] = []
        for record in file.bytes.withBytes({ PIFFormat.records($0) }) {
            let document = Result { () throws(ForeignFailure) in
                try ForeignJSON(file.bytes.withBytes { SecretBytes($0.extracting(record.range)) })
            }
            documents.append((record.line, document))
            // A record may come before its folder.
            if case .success(let json) = document { noteFolder(json) }
        }
        for (line, document) in documents {
            let place = "line \(line)"
            switch document {
            case .failure(let failure): try collector.record(place) { () throws(ForeignFailure) in throw failure }
            case .success(let json):
                let title = json.text(json.root["title"]) ?? ""
                let isRead = try collector.record(title.isEmpty ? place : title) {
                    opened += try add(json, attachment)
                }
                if isRead { collector.leaveOut(unknown: json.unread) }
            }
        }
        return opened
    }

    private mutating func noteFolder(_ json: ForeignJSON) {
        let root = json.root
        guard json.text(root["typeName"]) == "system.folder.Regular", let id = json.text(root["uuid"]),
            let name = json.text(root["title"])
        else { return }
        folders[id.exact] = (name, json.text(root["folderUuid"]) ?? "")
    }

    /// - Returns: the number of attached files that were read.
    private mutating func add(_ json: ForeignJSON, _ attachment: (String) throws -> SecretBytes) throws -> Int {
        let root = json.root
        guard root.isObject, let id = try json.optionalText(root["uuid"]), !id.isEmpty else {
            throw ForeignFailure.damaged("it has no ID")
        }
        guard ids.insert(id.exact).inserted else { throw ForeignFailure.damaged("another record has the same ID") }
        let type = try json.optionalText(root["typeName"]) ?? ""
        if isLeftOut(type, isInTrash: json.flag(root["trashed"]) == true) {
            json.skip(root)
            return 0
        }
        let parts = AgileRecord(json: json, collector: collector)
        let details = try json.object(root["secureContents"])
        let record = RecordWriter(collector, identity: id, title: try json.optionalText(root["title"]) ?? "")
        record.id = id
        record.created = collector.date(root["createdAt"], of: json)
        record.modified = collector.date(root["updatedAt"], of: json)
        record.folder = folder(try json.optionalText(root["folderUuid"]))
        let open = try json.object(root["openContents"])
        let tags = try parts.texts(open?["tags"]) + parts.texts(root["tags"])
        if !tags.isEmpty { record.describe("tags", tags.joined(separator: ", ")) }
        if let index = json.integer(open?["faveIndex"] ?? root["faveIndex"]), index != 0 {
            collector.leaveOut("favorite mark")
        }
        // How 1Password fills a form, and marks of its own.
        json.skip("autosubmit", "usernameHash", "passwordStrength", "scope", of: open)
        json.skip("keyID", "locationKey", "securityLevel", "contentsHash", "txTimestamp", of: root)
        record.addresses = try addresses(of: root, details, parts)
        if let details { try parts.add(details, type, to: record) }
        let files = attachments[id.exact] ?? []
        for file in files { try record.addAttachment(file.name, attachment(file.path)) }
        try record.addUnread(of: root, in: json)
        try record.finish()
        return files.count
    }

    /// Counts what has no place in a keychain.
    private func isLeftOut(_ type: String, isInTrash: Bool) -> Bool {
        switch type {
        // Records name it.
        case "system.folder.Regular": return true
        case "system.folder.SavedSearch": collector.leaveOut("saved search")
        case "system.Tombstone": collector.leaveOut("trace of a deletion")
        default:
            guard isInTrash else { return false }
            collector.leaveOut("record in the trash")
        }
        return true
    }

    private func addresses(
        of root: ForeignJSON.Value, _ details: ForeignJSON.Value?, _ parts: AgileRecord
    ) throws(ForeignFailure) -> [String] {
        var addresses = try parts.addresses(of: details)
        if let address = try parts.text(root["location"]), !address.isEmpty,
            !addresses.contains(where: { $0.exact == address.exact })
        {
            addresses.insert(address, at: 0)
        }
        return addresses
    }

    /// The names of a folder and of those that it is in.
    private func folder(_ id: String?) -> String? {
        var names: [String] = []
        var next = id
        while names.count < Self.depthLimit, let id = next, let folder = folders[id.exact] {
            names.insert(folder.name, at: 0)
            next = folder.parent
        }
        if let id, !id.isEmpty, names.isEmpty { collector.leaveOut("folder without a name") }
        return names.isEmpty ? nil : names.joined(separator: "/")
    }
}
