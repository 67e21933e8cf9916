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
            for name in try names().dropFirst(Self.limit) { try Path.remove(path(of: name)) }
        } catch {
            session.warn("an old state could not be removed: \(explainFile(error).message)")
        }
        return result
    }

    private func keep(_ client: SecretServiceClient) throws {
        try Path.makeFolder(folder)
        // Locked items cannot be changed, so they need not be kept.
        let items = ServiceSource(try client.read(.all, needsAll: false), keepsAll: true).readable
        let (device, _) = try LocalDevice(session.world).keyOrFirst()
        let first = DesktopStateName(at: session.now, after: try names().first)
        let backup = CreateBackup(
            of: try ArchiveSource(kind: DesktopKeyring.kind, name: ""), device: device, tool: CommandLineTool.tool,
            to: FolderDestination(folder: folder) { first.next($0 - 1).file }, now: session.now)
        _ = try backup.unencrypted(SealedSource(items, deviceKey: device))
    }

    /// Returns the names of the states, newest first.
    private func names() throws(FileFailure) -> [DesktopStateName] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).compactMap { DesktopStateName(file: $0) }.sorted(by: >)
    }

    private func path(of name: DesktopStateName) -> String { "\(folder)/\(name.file)" }

    private func open(_ name: DesktopStateName) throws -> ProvenArchive {
        let path = path(of: name)
        session.subjects.path = path
        return try ArchiveOpener(ArchiveOptions.parse([]), in: session).prove(
            ArchiveFile(session.world.openArchive(path)), at: path)
    }

    /// Selects the items of the collections that the user named; nil for all items.
    private func filter(_ keyring: DesktopKeyring, _ client: SecretServiceClient) throws -> ItemFilter? {
        try client.label(of: keyring.scope).map { ServiceMapping.filter(collection: $0) }
    }

    private func count(_ filter: ItemFilter?, in state: ProvenArchive) throws -> Int {
        var count = 0
        _ = try state.survey { item in if filter?.matches(item) ?? true { count += 1 } }
        return count
    }

    /// Returns a state that has items to restore: the named one, or else the newest.
    private func choose(
        _ state: String?, _ filter: ItemFilter?, for keyring: DesktopKeyring
    ) throws -> (DesktopStateName, ProvenArchive) {
        for name in try names() where state == nil || state == name.text {
            let proven = try open(name)
            if try filter == nil || count(filter, in: proven) > 0 { return (name, proven) }
        }
        throw Refusal.nothingToUndo(keychain: keyring.name)
    }

    /// Restores a state: reverts items that were changed or removed since, and leaves items that were added.
    func undo(
        _ state: String?, _ keyring: DesktopKeyring, _ access: (unlocking: UnlockOptions, passcode: SecretSource?),
        isDryRun: Bool, keepsState: Bool
    ) throws -> ExitStatus {
        if try names().isEmpty { throw Refusal.nothingToUndo(keychain: keyring.name) }
        let client = try keyring.connect(
            access.unlocking, passcode: access.passcode, mayBeMissing: true, in: session)
        var options = RestoreOptions()
        options.conflictPolicy = .overwrite
        options.isDryRun = isDryRun
        options.filter = try filter(keyring, client)
        let (name, proven) = try choose(state, options.filter, for: keyring)
        let target = ServiceTarget(
            client, scope: .all,
            making: keyring.making(access.unlocking, passcode: access.passcode, in: session))
        let report = try keeping(unless: isDryRun || !keepsState, client) { keep in
            try RestoreBackup(proven, options: options).run(into: target, keep: keep)
        }
        let counts = report.counts
        let chosen = name.text
        let words =
            "\(keyring.words): the state of \(chosen), \(counts.create) created, \(counts.update) updated, "
            + "\(counts.same) the same"
        if isDryRun || session.style.isJSON {
            try session.result(
                .members([
                    ("keychain", .text(keyring.name)), ("state", .text(chosen)), ("dryRun", .flag(isDryRun)),
                    ("items", .number(report.contents.counts.total - counts.notSelected)),
                ]),
                ["would bring back, in \(words)\n"])
        } else {
            session.note("brought back, in \(words); what was added since stays")
        }
        return .ok
    }

    /// Lists the states that have items of the collections that the user named, newest first.
    ///
    /// A state that cannot be read is reported and left out.
    func list(of keyring: DesktopKeyring) throws -> ExitStatus {
        let filter = keyring.scope == .all ? nil : try filter(keyring, keyring.connect(in: session))
        var isComplete = true
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "ITEMS", alignment: .right),
            Table.Column(title: "SIZE", alignment: .right),
        ])
        var listed: [JSONValue] = []
        for file in try names() {
            let path = path(of: file)
            let items: Int
            let size: UInt64
            do {
                items = try count(filter, in: open(file))
                size = try OpenFile.reading(path).size()
            } catch {
                if Interruption.isRequested { throw error }
                session.warn(Failure(error, session.subjects).explanation.message)
                isComplete = false
                continue
            }
            if items == 0, filter != nil { continue }
            let name = file.text
            table.append([name, String(items), byteCount(size)])
            listed.append(
                .members([
                    ("name", .text(name)), ("path", .text(path)), ("items", .number(items)),
                    ("size", .number(Int(size))),
                ]))
        }
        if table.isEmpty { session.note("no state of \(keyring.words) is kept") }
        try session.result(
            ["keychain": .text(keyring.name), "undo": .list(listed)],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        return isComplete ? .ok : .incomplete
    }
}

/// The name of a kept state: the time when it was kept, and a number if that is not enough.
struct DesktopStateName: Comparable {
    private let time: String
    /// From 1.
    private let number: Int

    private static let ending = ".kcb"

    private init(time: String, number: Int) {
        self.time = time
        self.number = number
    }

    /// Parses the name of a file; nil if it is not that of a state.
    init?(file: String) {
        guard file.hasSuffix(Self.ending) else { return nil }
        let parts = file.dropLast(Self.ending.count).split(separator: "-", omittingEmptySubsequences: false)
        guard let time = parts.first, time.utf8.count == 16, time.hasSuffix("Z"), parts.count <= 2 else { return nil }
        guard let number = parts.count == 2 ? Int(parts[1]) : 1, number > 0 else { return nil }
        self.init(time: String(time), number: number)
    }

    /// Names a state that is kept now; it comes after the newest one even if the clock was set back.
    init(at now: Timestamp, after newest: DesktopStateName?) {
        let time = String(now.description.filter { $0.isNumber || $0 == "T" }.prefix(15)) + "Z"
        let first = DesktopStateName(time: time, number: 1)
        self = newest.map { $0 < first ? first : $0.next(1) } ?? first
    }

    /// The name that many numbers later.
    func next(_ count: Int) -> DesktopStateName { DesktopStateName(time: time, number: number + count) }

    /// The name that users see.
    var text: String { time + (number == 1 ? "" : "-\(number)") }

    /// The name of the file.
    var file: String { text + Self.ending }

    static func < (left: DesktopStateName, right: DesktopStateName) -> Bool {
        (left.time, left.number) < (right.time, right.number)
    }
}
