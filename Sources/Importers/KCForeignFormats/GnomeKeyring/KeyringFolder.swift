internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// A folder of keyrings, such as `~/.local/share/keyrings`, which are read together with one password.
struct KeyringFolder {
    private let path: String
    private let keyrings: [Entry]
    /// Files that are named like keyrings and do not begin like one.
    private let strangers: [Entry]

    /// A file of the folder.
    private struct Entry {
        /// Its path below the folder.
        let name: String
        let keyring: KeyringFile

        var file: ForeignFile { keyring.file }
    }

    /// Finds the keyrings directly in a folder, and those of oo7 in the folder below it; nil if there are none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    init?(_ path: String) throws {
        var (keyrings, strangers): ([Entry], [Entry]) = ([], [])
        let real = Path.real(path) ?? path
        for name in try KeyringPlaces.names(in: path) {
            let file = try ForeignFile(reading: OpenFile.reading(path + "/" + name))
            let isKeyring = try GnomeKeyringFormat().recognises(ForeignInput(path: path + "/" + name, .file(file)))
            let entry = Entry(name: name, keyring: KeyringFile(file, in: Path.split(real + "/" + name).folder))
            if isKeyring { keyrings.append(entry) } else { strangers.append(entry) }
        }
        if keyrings.isEmpty { return nil }
        self.path = path
        self.keyrings = keyrings
        self.strangers = strangers
    }

    /// Reads all keyrings that the password opens; damaged ones and those with another password are refused by name.
    ///
    /// - Throws: if no keyring can be read, the failure of the first one; `ForeignFailure` (`limit`).
    func read(_ secrets: any ForeignSecrets) throws -> ForeignContents {
        var reading = Reading()
        for entry in keyrings where !Self.isEncrypted(entry.file) {
            try reading.attempt(entry.name, entry.keyring, NoSecrets())
        }
        let encrypted = keyrings.indices.filter { Self.isEncrypted(keyrings[$0].file) }
        let named = keyrings.map { ($0.name, $0.keyring) }
        if encrypted.isEmpty {
            try reading.number(named, NoSecrets())
        } else {
            try secrets.password(.keyrings) { password in
                let given = OnePassword(text: password.copy())
                for index in encrypted {
                    try reading.attempt(keyrings[index].name, keyrings[index].keyring, given)
                }
                guard encrypted.contains(where: { reading.contents[keyrings[$0].name.exact] != nil }) else {
                    throw encrypted.compactMap { reading.failures[keyrings[$0].name.exact] }.first
                        ?? .wrongPasswordOrDamaged
                }
                try reading.number(named, given)
            }
        }
        if reading.contents.isEmpty {
            throw keyrings.compactMap { reading.failures[$0.name.exact] }.first ?? .damaged("it has no keyring")
        }
        return try collected(reading)
    }

    private func collected(_ reading: Reading) throws -> ForeignContents {
        let collector = RecordCollector(format: "gnome-keyring", date: .reference)
        var details: [String] = []
        for entry in keyrings {
            if let contents = reading.contents[entry.name.exact] {
                details.append(entry.name)
                try collector.add(contents, of: entry.name) { item in KeyringCollector.kind(of: item.attributes) }
                if contents.exposesSecrets, entry.file.isReadableByOthers {
                    let word = Quoted.shellWord(path + "/" + entry.name)
                    collector.remark(
                        "\(entry.name) can be read by others, and holds secrets; if they are real, run 'chmod 600 \(word)'"
                    )
                }
            } else if let failure = reading.failures[entry.name.exact] {
                collector.refuse(entry.name, .damaged(failure.keyringWords))
            }
        }
        for entry in strangers {
            let problem: ForeignFailure = entry.file.isBlank ? .empty : .damaged("it does not begin like a keyring")
            collector.refuse(entry.name, .damaged(problem.keyringWords))
        }
        let folder = try ForeignFolder(path)
        let others = folder.files.count + folder.others - keyrings.count - strangers.count
        // A keyring may have been removed in the meantime.
        collector.leaveOut("file beside the keyrings", max(0, others))
        collector.leaveOut("file whose name is not UTF-8", folder.unreadable)
        return try collector.finish(
            details: "\(details.count) of a folder: " + details.joined(separator: ", "),
            isPlaintext: reading.contents.values.contains(where: \.isPlaintext))
    }

    private static func isEncrypted(_ file: ForeignFile) -> Bool { file.starts(with: GnomeKeyringFormat.magic) }
}

/// The results of reading several keyrings, by the names of their files.
private struct Reading {
    private(set) var contents: [ExactText: ForeignContents] = [:]
    private(set) var failures: [ExactText: ForeignFailure] = [:]

    mutating func attempt(_ name: String, _ keyring: KeyringFile, _ secrets: any ForeignSecrets) throws {
        do {
            contents[name.exact] = try GnomeKeyringFormat.read(keyring, secrets, number: 0)
        } catch let failure as ForeignFailure {
            failures[name.exact] = failure
        }
    }

    /// Numbers the keyrings with the same label in the order in which the daemon makes their files.
    ///
    /// A copy, which has nothing that an earlier one lacks, is no other keyring.
    mutating func number(_ files: [(name: String, keyring: KeyringFile)], _ secrets: any ForeignSecrets) throws {
        let ordered = files.sorted { ($0.name.utf8.count, $0.name) < ($1.name.utf8.count, $1.name) }
        var earlier: [[UInt8]: [ForeignContents]] = [:]
        for (name, keyring) in ordered {
            guard let found = contents[name.exact], let label = try KeyringMapping.keyring(of: found.items) else {
                continue
            }
            let others = earlier[label, default: []]
            if try others.contains(where: { try $0.items.hasAll(of: found.items) }) { continue }
            earlier[label, default: []].append(found)
            if others.isEmpty { continue }
            contents[name.exact] = try GnomeKeyringFormat.read(keyring, secrets, number: others.count)
        }
    }
}

/// A password that was asked for once and is used for several keyrings.
private final class OnePassword: ForeignSecrets {
    private let text: SecretBytes

    init(text: consuming SecretBytes) {
        self.text = text
    }

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws { try use(text) }

    func keyFile() -> ForeignFile? { nil }
}

/// The secrets for keyrings in plain text, which need none.
private struct NoSecrets: ForeignSecrets {
    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        preconditionFailure("a keyring in plain text has no password")
    }

    func keyFile() -> ForeignFile? { nil }
}
