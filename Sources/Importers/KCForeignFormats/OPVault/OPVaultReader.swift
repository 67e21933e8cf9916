internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Reads the records of a vault.
struct OPVaultReader {
    let collector: RecordCollector
    let keys: OPVaultSeal.Keys
    /// The names of folders, by ID.
    private var folders: [ExactText: String] = [:]

    init(collector: RecordCollector, keys: OPVaultSeal.Keys) {
        self.collector = collector
        self.keys = keys
    }

    /// The members of a record in the vault; `tx` is when it was last synchronized.
    private static let known: Set<ExactText> = [
        "category", "created", "d", "fave", "folder", "hmac", "k", "o", "trashed", "tx", "updated", "uuid",
    ]

    /// Notes the names of folders.
    ///
    /// - Throws: `CryptographyFailure`.
    mutating func note(folders json: ForeignJSON) throws {
        for member in json.root.members {
            try collector.record("a folder") {
                if json.flag(member.value["trashed"]) == true { return }
                let overview = try opened(member.value["overview"], of: json, "title of a folder")
                if overview.flag(overview.root["smart"]) == true {
                    collector.leaveOut("saved search")
                } else if let name = try overview.optionalText(overview.root["title"]) {
                    folders[member.name.exact] = name
                }
            }
        }
    }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - attachments: the paths of the files that belong to it.
    ///   - read: reads one of them.
    /// - Returns: the number of files that were read.
    /// - Throws: `CryptographyFailure`, `FileFailure`, `StreamFailure`, and as `RecordCollector.add`.
    func add(
        _ member: ForeignJSON.Member, of json: ForeignJSON, _ attachments: [String],
        _ read: (String) throws -> ForeignFile
    ) throws -> Int {
        // A record whose overview does not open is named by its ID.
        var title = member.name
        var overview: ForeignJSON?
        var problem: ForeignFailure?
        do {
            let opened = try self.overview(of: member, json)
            if let name = opened.text(opened.root["title"]), !name.isEmpty { title = name }
            overview = opened
        } catch let failure as ForeignFailure {
            problem = failure
        }
        var count = 0
        let isRead = try collector.record(title) {
            if let problem { throw problem }
            if let overview { count = try add(member.value, of: json, overview, attachments, read) }
        }
        if !isRead { json.skip(member.value) }
        return count
    }

    /// The title of a record and what else is not as secret as the rest.
    private func overview(of member: ForeignJSON.Member, _ json: ForeignJSON) throws -> ForeignJSON {
        guard member.value.isObject, json.text(member.value["uuid"])?.exact == member.name.exact else {
            throw ForeignFailure.damaged("it has another ID than its name in the vault")
        }
        try requireCode(of: member.value, json)
        return try opened(member.value["o"], of: json, "its title")
    }

    private func add(
        _ item: ForeignJSON.Value, of json: ForeignJSON, _ overview: ForeignJSON, _ attachments: [String],
        _ read: (String) throws -> ForeignFile
    ) throws -> Int {
        let category = try json.optionalText(item["category"]) ?? ""
        if isLeftOut(item, category, of: json) {
            json.skip(item)
            overview.skip(overview.root)
            return 0
        }
        let id = json.text(item["uuid"]) ?? ""
        let itemKeys = try itemKeys(item, json)
        let text = try open(bytes(item["d"], of: json), itemKeys, "its secret part")
        let details = try ForeignJSON(text)
        guard details.root.isObject else { throw ForeignFailure.damaged("its secret part is not an object") }
        let parts = AgileRecord(json: details, collector: collector)
        let record = RecordWriter(
            collector, identity: id, title: try overview.optionalText(overview.root["title"]) ?? "")
        record.id = id
        record.created = collector.date(item["created"], of: json)
        record.modified = collector.date(item["updated"], of: json)
        if let folder = try json.optionalText(item["folder"]), !folder.isEmpty {
            record.folder = folders[folder.exact]
            if record.folder == nil { collector.leaveOut("folder without a name") }
        }
        if let index = json.integer(item["fave"]), index != 0 { collector.leaveOut("favorite mark") }
        let outer = AgileRecord(json: overview, collector: collector)
        record.addresses = try addresses(overview, outer) + parts.addresses(of: details.root)
        let tags = try outer.texts(overview.root["tags"])
        if !tags.isEmpty { record.describe("tags", tags.joined(separator: ", ")) }
        try parts.add(details.root, category, to: record)
        try record.addUnread(of: details.root, in: details)
        try record.addUnread(of: overview.root, in: overview)
        collector.leaveOut(unknown: details.unread + overview.unread)
        for path in attachments {
            // The file has its own name encrypted in it.
            try collector.part("attachment", of: record.title) {
                let attachment = try OPVaultAttachment(read(path), itemKeys, keys.overview)
                if attachment.isInTrash {
                    collector.leaveOut("attachment in the trash")
                } else {
                    try record.addAttachment(attachment.name, attachment.content.copy())
                }
            }
        }
        try record.finish()
        collector.leaveOut(
            unknown: item.members.filter { !Self.known.contains($0.name.exact) && !json.isEmpty($0.value) }.map(\.name))
        return attachments.count
    }

    /// Counts what has no place in a keychain.
    private func isLeftOut(_ item: ForeignJSON.Value, _ category: String, of json: ForeignJSON) -> Bool {
        if category == "099" {
            collector.leaveOut("trace of a deletion")
        } else if json.flag(item["trashed"]) == true {
            collector.leaveOut("record in the trash")
        } else {
            return false
        }
        return true
    }

    private func addresses(_ overview: ForeignJSON, _ open: AgileRecord) throws(ForeignFailure) -> [String] {
        var addresses: [String] = []
        if let address = try open.text(overview.root["url"]), !address.isEmpty { addresses.append(address) }
        for url in try overview.list(overview.root["URLs"]) {
            if let address = try open.text(overview.object(url)?["u"]), !address.isEmpty,
                !addresses.contains(where: { $0.exact == address.exact })
            {
                addresses.append(address)
            }
            if let label = try open.text(url["l"]), !["", "website"].contains(label) {
                collector.leaveOut("label of an address")
            }
        }
        // Values that 1Password makes of the user name, and its judgment of the password.
        overview.skip("title", "ainfo", "ps", "pgrng", "pbe", "appIds", of: overview.root)
        return addresses
    }

    // MARK: Keys

    /// The bytes of a value in base64.
    private func bytes(_ value: ForeignJSON.Value?, of json: ForeignJSON) throws(ForeignFailure) -> [UInt8] {
        guard let text = try json.optionalText(value), let bytes = Base64.decode(text) else {
            throw .damaged("an encrypted part is missing or not base64")
        }
        return bytes
    }

    /// The JSON in a value that the overview key opens.
    private func opened(_ value: ForeignJSON.Value?, of json: ForeignJSON, _ what: String) throws -> ForeignJSON {
        try ForeignJSON(open(bytes(value, of: json), keys.overview, what))
    }

    /// Opens a block, and says what was altered if its code does not fit.
    private func open(_ sealed: [UInt8], _ keys: OPVaultSeal.Pair, _ what: String) throws -> SecretBytes {
        do {
            return try OPVaultSeal.open(sealed.span, keys)
        } catch is OPVaultSeal.Mismatch {
            throw ForeignFailure.damaged("\(what) was altered")
        }
    }

    private func itemKeys(_ item: ForeignJSON.Value, _ json: ForeignJSON) throws -> OPVaultSeal.Pair {
        let sealed = try bytes(item["k"], of: json)
        do {
            return OPVaultSeal.Pair(try OPVaultSeal.itemKeys(sealed.span, keys.master))
        } catch is OPVaultSeal.Mismatch {
            throw ForeignFailure.damaged("its keys were altered")
        }
    }

    /// Checks the code over a record as a whole: the names and values of all its members in the order of their names.
    private func requireCode(of item: ForeignJSON.Value, _ json: ForeignJSON) throws {
        var hmac = try HMAC(key: keys.overview.authentication)
        for member in item.members.sorted(by: { $0.name.exact < $1.name.exact }) where member.name != "hmac" {
            try hmac.update(member.name.utf8.span)
            switch member.value.kind {
            case .string: try hmac.update(json.secret(member.value) ?? SecretBytes(capacity: 0))
            case .flag(let flag): try hmac.update([UInt8(ascii: flag ? "1" : "0")].span)
            default: try hmac.update(json.source(member.value))
            }
        }
        guard constantTimeEqual(try hmac.finalize(), try bytes(item["hmac"], of: json)) else {
            throw ForeignFailure.damaged("it was altered")
        }
    }
}

/// A file attached to a record.
private final class OPVaultAttachment {
    let name: String
    let isInTrash: Bool
    let content: SecretBytes

    private static let magic = "OPCLDAT"

    /// Decrypts a file.
    init(_ file: ForeignFile, _ itemKeys: OPVaultSeal.Pair, _ overviewKeys: OPVaultSeal.Pair) throws {
        let (metadata, sealed) = try file.bytes.withBytes { bytes throws(ForeignFailure) in try Self.parts(bytes) }
        let json = try ForeignJSON(file.bytes.withBytes { SecretBytes($0.extracting(metadata)) })
        isInTrash = json.flag(json.root["trashed"]) == true
        do {
            guard let overview = Base64.decode(json.text(json.root["overview"]) ?? "") else {
                throw ForeignFailure.damaged("its name is not base64")
            }
            let names = try ForeignJSON(OPVaultSeal.open(overview.span, overviewKeys))
            name = try names.optionalText(names.root["filename"]) ?? ""
            content = try file.bytes.withBytes { try OPVaultSeal.open($0.extracting(sealed), itemKeys) }
        } catch is OPVaultSeal.Mismatch {
            throw ForeignFailure.damaged("it was altered")
        }
    }

    /// The positions of the metadata and of the content; an icon stands between them.
    private static func parts(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (metadata: Range<Int>, content: Range<Int>) {
        guard bytes.starts(with: magic) else { throw .damaged("it does not begin like one") }
        var cursor = ByteCursor(magic.utf8.count..<bytes.count, .littleEndian)
        let version = try cursor.number(1, in: bytes)
        guard (1...2).contains(version) else { throw .damaged("it is of version \(version), which is not known") }
        let length = try cursor.number(2, in: bytes)
        _ = try cursor.take(2)
        let icon = try cursor.number(4, in: bytes)
        let metadata = try cursor.take(length)
        _ = try cursor.take(icon)
        return (metadata, cursor.position..<cursor.end)
    }
}
