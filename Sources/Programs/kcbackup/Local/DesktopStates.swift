internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import KeychainKeys
internal import KeychainModel
internal import LocalKeychains
internal import SecretService

/// The states of the desktop keyring before restores, kept as unencrypted archives of this device.
struct DesktopStates {
    private let session: Session
    private let folder: String

    private static let ending = ".kcb"
    // The same number as for a keychain.
    private static let limit = KeptStates.limit

    init(_ session: Session) {
        self.session = session
        folder = "\(session.world.dataFolder.keptStates)/\(DesktopKeyring.kind)"
    }

    /// Runs `change`, which must call `keep` before it changes anything.
    ///
    /// - Parameter isOff: true to keep no state.
    /// - Throws: `Failure.notKept`, and what `change` throws.
    func keeping<Result>(
        unless isOff: Bool, _ client: SecretServiceClient,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        let result = try change {
            guard !isOff else { return }
            do {
                try keep(client)
            } catch {
                throw Failure.notKept(Failure(error, Failure.Subjects()))
            }
        }
        do throws(FileFailure) {
            for name in try names().dropFirst(Self.limit) { try Path.remove("\(folder)/\(name)") }
        } catch {
            session.warn("an old state could not be removed: \(explainFile(error).message)")
        }
        return result
    }

    private func keep(_ client: SecretServiceClient) throws {
        try Path.makeFolder(folder)
        // Locked items cannot be changed, so they need not be kept.
        let items = ServiceSource(try client.read(.all, needsAll: false)).readable
        let (device, _) = try LocalDevice(session.world).keyOrFirst()
        let stem = String(session.now.description.filter { $0.isNumber || $0 == "T" }.prefix(15)) + "Z"
        let backup = CreateBackup(
            of: try ArchiveSource(kind: DesktopKeyring.kind, name: ""), device: device, tool: CommandLineTool.tool,
            to: FolderDestination(folder: folder) { number in
                stem + (number == 1 ? "" : "-\(number)") + Self.ending
            }, now: session.now)
        _ = try backup.unencrypted(SealedSource(items, deviceKey: device))
    }

    /// Returns the names of the files, newest first.
    private func names() throws(FileFailure) -> [String] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).filter { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }.sorted(by: >)
    }

    private func open(_ name: String) throws -> ProvenArchive {
        let path = "\(folder)/\(name)"
        session.subjects.path = path
        return try ArchiveOpener(ArchiveOptions.parse([]), in: session).prove(
            ArchiveFile(session.world.openArchive(path)), at: path)
    }

    /// Restores a state: reverts items that were changed or removed since, and leaves items that were added.
    func undo(
        _ state: String?, _ keyring: DesktopKeyring, isDryRun: Bool, keepsState: Bool
    ) throws -> ExitStatus {
        let names = try names()
        guard let name = state.map({ given in names.first { $0 == given + Self.ending } }) ?? names.first else {
            throw Refusal.nothingToUndo(keychain: keyring.name)
        }
        let proven = try open(name)
        var options = RestoreOptions()
        options.conflictPolicy = .overwrite
        options.isDryRun = isDryRun
        let client = try keyring.connect(in: session)
        let target = ServiceTarget(client, scope: .all, making: .refused)
        let report = try keeping(unless: isDryRun || !keepsState, client) { keep in
            try RestoreBackup(proven, options: options).run(into: target, keep: keep)
        }
        let counts = report.counts
        let chosen = String(name.dropLast(Self.ending.count))
        let words =
            "\(keyring.words): the state of \(chosen), \(counts.create) created, \(counts.update) updated, "
            + "\(counts.same) the same"
        if isDryRun || session.style.isJSON {
            try session.result(
                .members([
                    ("keychain", .text(keyring.name)), ("state", .text(chosen)), ("dryRun", .flag(isDryRun)),
                    ("items", .number(report.contents.counts.total)),
                ]),
                ["would bring back, in \(words)\n"])
        } else {
            session.note("brought back, in \(words); what was added since stays")
        }
        return .ok
    }

    /// Lists the states, newest first.
    func list() throws -> ExitStatus {
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "ITEMS", alignment: .right),
            Table.Column(title: "SIZE", alignment: .right),
        ])
        var listed: [JSONValue] = []
        for file in try names() {
            let items = try open(file).survey { _ in }.contents.counts.total
            let size = try OpenFile.reading("\(folder)/\(file)").size()
            let name = String(file.dropLast(Self.ending.count))
            table.append([name, String(items), byteCount(size)])
            listed.append(
                .members([
                    ("name", .text(name)), ("path", .text("\(folder)/\(file)")), ("items", .number(items)),
                    ("size", .number(Int(size))),
                ]))
        }
        if table.isEmpty { session.note("no state of the Secret Service is kept") }
        try session.result(
            ["keychain": .text(DesktopKeyring.all.name), "undo": .list(listed)],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        return .ok
    }
}
