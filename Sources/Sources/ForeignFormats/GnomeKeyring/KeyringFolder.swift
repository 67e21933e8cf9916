internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// A folder of keyrings, such as `~/.local/share/keyrings`, which are read together with one password.
struct KeyringFolder {
    private let keyrings: [ForeignFile]
    /// The number of other files and links in the folder, such as the daemon's own.
    private let others: Int

    /// Finds the keyrings directly in a folder; nil if there are none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `ForeignFailure` (`limit`).
    init?(_ path: String) throws {
        guard try Self.names(in: path).contains(where: Self.hasEnding) else { return nil }
        let folder = try ForeignFolder(path)
        var keyrings: [ForeignFile] = []
        for name in folder.files where Self.hasEnding(name) && !name.contains("/") {
            let file = try folder.read(name)
            let isKeyring = try GnomeKeyringFormat().recognises(ForeignInput(path: folder.path(of: name), .file(file)))
            if isKeyring { keyrings.append(file) }
        }
        if keyrings.isEmpty { return nil }
        self.keyrings = keyrings
        others = folder.files.count + folder.others - keyrings.count
    }

    private static func names(in path: String) throws(FileFailure) -> [String] {
        var unreadable = 0
        return try Path.names(in: path, unreadable: &unreadable)
    }

    private static func hasEnding(_ name: String) -> Bool { name.hasSuffix(".keyring") && !name.hasPrefix(".") }

    /// Reads all keyrings that the password opens; damaged ones and those with another password are refused by name.
    ///
    /// - Throws: if no keyring can be read, the failure of the first one.
    func read(_ secrets: any ForeignSecrets) throws -> ForeignContents {
        var collector = RecordCollector(format: "gnome-keyring", date: .reference)
        var read: [Int: ForeignContents] = [:]
        var failures: [Int: ForeignFailure] = [:]
        for index in keyrings.indices where !isEncrypted(index) {
            try attempt(index, NoSecrets(), &read, &failures)
        }
        let encrypted = keyrings.indices.filter(isEncrypted)
        if !encrypted.isEmpty {
            try secrets.password("password of the keyrings") { password in
                let given = OnePassword(text: password.copy())
                for index in encrypted { try attempt(index, given, &read, &failures) }
                guard encrypted.contains(where: { read[$0] != nil }) else {
                    throw encrypted.compactMap { failures[$0] }.first ?? .wrongPasswordOrDamaged
                }
            }
        }
        if read.isEmpty { throw failures.min { $0.key < $1.key }?.value ?? .damaged("it has no keyring") }
        var details: [String] = []
        for (index, file) in keyrings.enumerated() {
            if let contents = read[index] {
                details.append(file.name)
                try collector.add(contents, of: file.name) { item in
                    KeyringCollector.kind(of: item.attributes)
                }
            } else if let failure = failures[index] {
                collector.refuse(file.name, .damaged(failure.keyringWords))
            }
        }
        collector.leaveOut("file beside the keyrings", others)
        return try collector.finish(
            details: "\(details.count) of a folder: " + details.joined(separator: ", "),
            isPlaintext: read.values.contains(where: \.isPlaintext))
    }

    private func isEncrypted(_ index: Int) -> Bool { keyrings[index].starts(with: GnomeKeyringFormat.magic) }

    private func attempt(
        _ index: Int, _ secrets: any ForeignSecrets, _ read: inout [Int: ForeignContents],
        _ failures: inout [Int: ForeignFailure]
    ) throws {
        let file = keyrings[index]
        do {
            read[index] = try GnomeKeyringFormat().read(ForeignInput(path: file.name, .file(file)), secrets)
        } catch let failure as ForeignFailure {
            failures[index] = failure
        }
    }
}

extension ForeignFailure {
    /// Why one of several keyrings cannot be read; contains no foreign text.
    fileprivate var keyringWords: String {
        switch self {
        case .wrongPassword, .wrongPasswordOrDamaged: "another password opens it: import it by itself"
        case .damaged(let rule): "it is damaged: \(rule)"
        case .damagedLine(let line, let rule): "line \(line): \(rule)"
        case .unknownVariant(let what): "it is of an unknown kind: \(what)"
        case .limit(let what, let found, let allowed): "over a limit: \(what) \(found), and \(allowed) is allowed"
        case .empty: "it is empty"
        // Reading a keyring throws none of these.
        case .wrongPasswordOrNoKeyFile, .needsKeyFile, .needsFile, .refused, .needsProgram, .folderOfFiles,
            .unknownFormat, .notUTF8,
            .unknownColumns, .noSuchColumn, .columnTwice, .notOfFormat, .ambiguous:
            "it cannot be read"
        }
    }
}

/// A password that was asked for once and is used for several keyrings.
private final class OnePassword: ForeignSecrets {
    private let text: SecretBytes

    init(text: consuming SecretBytes) {
        self.text = text
    }

    func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws { try use(text) }

    func keyFile() -> ForeignFile? { nil }
}

/// The secrets for keyrings in plain text, which need none.
private struct NoSecrets: ForeignSecrets {
    func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws {
        preconditionFailure("a keyring in plain text has no password")
    }

    func keyFile() -> ForeignFile? { nil }
}
