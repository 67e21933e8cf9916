internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The vault of Aegis Authenticator, plain or encrypted with a password.
///
/// Source: beemdevelopment/Aegis, `docs/vault.md`.
package struct AegisFormat: ForeignFormat {
    package let kind = ForeignKind.aegis

    /// The newest version of a vault's contents that is known.
    private static let newest: Int64 = 3

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { JSONHead.names(["version", "header", "db"], in: $0).count == 3 } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let outer = try ForeignJSON(file)
        guard let version = outer.integer(outer.root["version"]) else {
            throw ForeignFailure.damaged("it has no version")
        }
        guard version == 1 else { throw ForeignFailure.unknownVariant("version \(version) of Aegis's vaults") }
        let isEncrypted = outer.root["db"]?.isString == true
        let json = isEncrypted ? try AegisSeal(outer).open(secrets) : outer
        let database = isEncrypted ? json.root : outer.root["db"]
        guard let database, database.isObject else { throw ForeignFailure.damaged("its contents are not an object") }
        let contents = json.integer(database["version"]) ?? 0
        guard (1...Self.newest).contains(contents) else {
            throw ForeignFailure.unknownVariant("version \(contents) of the contents of Aegis's vaults")
        }
        let collector = RecordCollector(format: name, date: file.modified)
        try AegisReader(json, database, collector).add(database)
        // They say how the vault is stored.
        json.skip("version", "icons_optimized", of: database)
        if !isEncrypted { json.skip("header", of: json.root) }
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: isEncrypted ? "encrypted" : "", isPlaintext: !isEncrypted)
    }
}

/// Reads the entries of a vault.
private struct AegisReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    /// The names of groups, by ID.
    private var groups: [ExactText: String] = [:]

    init(
        _ json: ForeignJSON, _ database: ForeignJSON.Value, _ collector: RecordCollector
    ) throws(ForeignFailure) {
        self.json = json
        self.collector = collector
        for group in try json.list(database["groups"]) {
            guard let id = try text(group["uuid"]), let name = try text(group["name"]) else { continue }
            groups[id.exact] = name
        }
    }

    func add(_ database: ForeignJSON.Value) throws(ForeignFailure) {
        let entries = try json.list(database["entries"], required: "its list of entries")
        var ids: Set<ExactText> = []
        for (index, entry) in entries.enumerated() {
            try collector.record(entry, of: json, title: entry["issuer"], number: index + 1) {
                () throws(ForeignFailure) in
                guard entry.isObject else { throw .damaged("it is not an object") }
                guard let id = try text(entry["uuid"]), !id.isEmpty else { throw .damaged("it has no ID") }
                guard ids.insert(id.exact).inserted else { throw .damaged("another record has the same ID") }
                try add(entry, id)
            }
        }
    }

    private func add(_ entry: ForeignJSON.Value, _ id: String) throws(ForeignFailure) {
        guard let type = try text(entry["type"])?.lowercased(), let info = try json.object(entry["info"]) else {
            throw .damaged("its kind of code is missing")
        }
        let code = AuthenticatorCode(
            type: type, algorithm: try text(info["algo"]), digits: try json.optionalInteger(info["digits"]),
            period: try json.optionalInteger(info["period"]), counter: try json.optionalInteger(info["counter"]))
        let note = try filled(entry["note"])
        let hasNote =
            switch note {
            case .some: true
            case .none: false
            }
        let groups = try groups(of: entry)
        try leaveOutMarks(of: entry)
        try record(
            of: entry, id: id, issuer: try text(entry["issuer"]) ?? "", user: try text(entry["name"]), code,
            seed: try filled(info["secret"]), hasOthers: hasNote
        ) { record throws(ForeignFailure) in
            record.folder = groups.first
            if groups.count > 1 { record.describe("tags", groups.dropFirst().joined(separator: ", ")) }
            switch note {
            case .some(let note): try record.addNote(note.copy())
            case .none: break
            }
        }
    }

    private func groups(of entry: ForeignJSON.Value) throws(ForeignFailure) -> [String] {
        var names: [String] = []
        // Version 2 has the name of one group, and version 3 the IDs of several.
        if let name = try text(entry["group"]), !name.isEmpty { names.append(name) }
        for id in try texts(entry["groups"]) {
            guard let name = groups[id.exact] else { throw .damaged("it is in a group that does not exist") }
            names.append(name)
        }
        return names
    }

    private func leaveOutMarks(of entry: ForeignJSON.Value) throws(ForeignFailure) {
        if json.flag(entry["favorite"]) == true { collector.leaveOut("favorite mark") }
        leaveOut("icon", entry["icon"])
        json.skip("icon_mime", "icon_hash", of: entry)
    }
}
