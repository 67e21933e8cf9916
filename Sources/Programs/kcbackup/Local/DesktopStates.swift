internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

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

    /// Restores into the keyring, one run at a time.
    ///
    /// Before anything is written, the state is kept, unless it was kept by an earlier run that this one finishes.
    ///
    /// - Parameters:
    ///   - keyring: what the user named.
    ///   - change: what the user does, for the list of states.
    ///   - keepsState: false to keep no state.
    ///   - used: a state that is no longer needed after the restore.
    /// - Throws: `Failure.notKept`, and what `RestoreBackup` throws.
    func restore(
        _ proven: ProvenArchive, _ options: RestoreOptions, into client: SecretServiceClient, _ keyring: DesktopKeyring,
        _ given: ServiceTarget.Options, as change: KeptStates.Change, keepsState: Bool,
        using used: DesktopStateName? = nil, step: @escaping () -> Void = {},
        observe: @escaping (Item, RestoreAction) -> Void = { _, _ in }
    ) throws -> RestoreReport {
        let backup = try RestoreBackup(proven, options: options)
        let subject = DesktopRecord.subject(archiveID: proven.header.archiveID, keyring)
        var given = given
        func record() throws(FileFailure) -> DesktopRecord? { try DesktopRecord(of: subject, in: folder) }
        if options.isDryRun {
            given.unfinished = try record()?.planned
            given.secretCode = secretCode()
            return try backup.run(into: ServiceTarget(client, given), step: step, observe: observe)
        }
        return try alone {
            let earlier = try record()
            given.unfinished = earlier?.planned
            given.secretCode = secretCode()
            var planned = earlier?.planned ?? UnfinishedRestore()
            var updated: Set<ItemUUID> = []
            given.willWrite = { code in
                // If the keyring was changed after the earlier run, undo must take back that change first.
                let kept = try earlier?.state.flatMap { try names().first == $0 ? $0 : nil }
                let state = try kept ?? (keepsState ? keep(client, before: change) : nil)
                if state != nil { session.keptState = true }
                // An earlier run may have written over a secret, so its code of what was there before is the right one.
                // Without a state there may be no device key, and a broken-off update is not finished.
                for uuid in updated where planned.updated[uuid] == nil && state != nil {
                    planned.updated[uuid] = try code(uuid)
                }
                try DesktopRecord(subject: subject, state: state, planned: planned).write(in: folder)
            }
            let report = try backup.run(into: ServiceTarget(client, given), step: step) { item, action in
                if action == .create { planned.created.insert(item.uuid) }
                if action == .update { updated.insert(item.uuid) }
                observe(item, action)
            }
            let isWhole = report.failing.isEmpty && report.stayingBehind.isEmpty
            tidy(removing: try record(), using: isWhole ? used : nil)
            return report
        }
    }

    /// Changes items, one run at a time, after keeping the state.
    ///
    /// - Throws: `Failure.notKept`, and what `change` throws.
    func change<Result>(
        _ client: SecretServiceClient, before command: KeptStates.Change, keepsState: Bool,
        _ change: (_ willWrite: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        try alone {
            let result = try change {
                guard keepsState else { return }
                _ = try keep(client, before: command)
                session.keptState = true
            }
            tidy(removing: nil)
            return result
        }
    }

    /// Runs `body` while no other run writes to the keyring.
    private func alone<Result>(_ body: () throws -> Result) throws -> Result {
        try Path.makeFolder(folder)
        let lock = try FileLock.ofFolder(folder)
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Removes old states, the one that was brought back, and the record of a restore that is complete; that of another
    /// one is still needed.
    ///
    /// As for a keychain, as many states are kept before restores as before changes of items.
    private func tidy(removing record: DesktopRecord?, using used: DesktopStateName? = nil) {
        do throws(FileFailure) {
            try record?.remove(in: folder)
            if let used { try Path.remove(path(of: used)) }
            for isOfItems in [false, true] {
                let alike = try names().filter { ($0.before?.isOfItems ?? false) == isOfItems }
                for name in alike.dropFirst(Self.limit) { try Path.remove(path(of: name)) }
            }
            try DesktopRecord.tidy(folder, states: names())
        } catch {
            session.warn("an old state could not be removed: \(explainFile(error).message)")
        }
    }

    /// Makes MACs of secrets under a key derived from the device key, which is read when the first one is needed.
    private func secretCode() -> (borrowing Span<UInt8>) throws -> [UInt8] {
        var code: HMACSHA256?
        return { secret in
            if code == nil {
                let (device, _) = try LocalDevice(session.world).keyOrFirst()
                code = try HMACSHA256(key: device.sourceSealKey(context: "unfinished restore"))
            }
            guard let made = try code?.authenticate(secret) else { preconditionFailure("the key was just read") }
            return made
        }
    }

    private func keep(
        _ client: SecretServiceClient, before change: KeptStates.Change
    ) throws(Failure) -> DesktopStateName {
        do {
            // Locked items cannot be changed, so they need not be kept.
            let source = ServiceSource(try client.read(.all, needsAll: false), keepsAll: true)
            if let label = source.unkept.first { throw Refusal.unkeepable(label: label) }
            let (device, _) = try LocalDevice(session.world).keyOrFirst()
            var name = DesktopStateName(at: session.now, after: try names().first, before: change)
            let first = name
            let backup = CreateBackup(
                of: try ArchiveSource(kind: DesktopKeyring.kind, name: ""), device: device, tool: CommandLineTool.tool,
                to: FolderDestination(folder: folder) { number in
                    name = first.next(number - 1)
                    return name.file
                }, now: session.now)
            _ = try backup.unencrypted(SealedSource(source.readable, deviceKey: device))
            return name
        } catch {
            throw .notKept(Failure(error, Failure.Subjects()))
        }
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

    /// Brings a state back: items that were changed or removed since, and those that were added go.
    func undo(
        _ state: String?, _ keyring: DesktopKeyring, _ access: (unlocking: UnlockOptions, passcode: SecretSource?),
        isDryRun: Bool, keepsState: Bool, isConfirmed: Bool
    ) throws -> ExitStatus {
        if try names().isEmpty { throw Refusal.noDesktopState(state, of: keyring) }
        let client = try keyring.connect(
            access.unlocking, passcode: access.passcode, mayBeMissing: true, in: session)
        let label = try client.label(of: keyring.scope)
        var options = RestoreOptions()
        options.filter = label.map { ServiceMapping.filter(collection: $0) }
        options.replacing = .all
        var target = ServiceTarget.Options(
            scope: .all, making: keyring.making(access.unlocking, passcode: access.passcode, in: session))
        target.removesOnlyFrom = label
        options.isDryRun = true
        let (name, proven, plan, rehearsal) = try choose(state, options, for: keyring, target, client)
        var report = rehearsal
        let undone = try undone(by: name, isNamed: state != nil)
        var list = ChangeList(isDryRun: isDryRun, in: session)
        if !isDryRun {
            if let question = plan.question(undone, keyring) {
                if !isConfirmed { plan.tell(isDone: false, in: &list) }
                try session.confirm(question, isGiven: isConfirmed)
            }
            options.isDryRun = false
            options.removable = Set(plan.removed.map(\.uuid))
            options.updatable = Set(plan.changed.map(\.uuid))
            report = try restore(
                proven, options, into: client, keyring, target, as: .undo, keepsState: keepsState,
                using: label == nil ? name : nil)
            if label != nil { try removeIfPresent(name, proven, client) }
        }
        if isDryRun || isConfirmed { plan.tell(isDone: !isDryRun, in: &list) }
        let counts = report.counts
        let parts = [(counts.create, "brought back"), (counts.update, "set back"), (counts.remove, "removed")]
        let words =
            "\(undone) in \(keyring.words): "
            + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        if !isDryRun { session.done = "brought back, in \(words)" }
        if isDryRun || session.style.isJSON {
            try session.result(
                .members([
                    ("keychain", .text(keyring.name)), ("state", .text(name.text)),
                    ("command", name.before.map { .text($0.command) }), ("dryRun", .flag(isDryRun)),
                    ("items", .number(report.contents.counts.total - counts.notSelected)),
                    ("itemsBefore", .number(counts.update + counts.same + counts.keep + counts.remove)),
                    ("vanishing", .list(report.vanishing.map { .item($0) })),
                    ("changing", .list(plan.changed.map { .item($0) })),
                    ("returning", .list(plan.created.map { .item($0) })),
                ]),
                list.lines + ["would take back \(words)\n"])
        } else {
            session.note("took back \(words)")
            session.noteUndo(keyring.name)
        }
        return .ok
    }

    /// Removes a state of which one collection was brought back, if the others are as in it, too.
    private func removeIfPresent(
        _ name: DesktopStateName, _ proven: ProvenArchive, _ client: SecretServiceClient
    ) throws {
        var options = RestoreOptions()
        options.replacing = .all
        options.isDryRun = true
        do {
            let report = try restore(
                proven, options, into: client, .all, ServiceTarget.Options(scope: .all, making: .refused), as: .undo,
                keepsState: false)
            if !report.writesSomething { try alone { tidy(removing: nil, using: name) } }
        } catch SecretServiceFailure.lockedTarget, SecretServiceFailure.collectionMissing {
            // Another collection cannot be compared, so the state may be the only one that has its items.
        }
    }

    /// Chooses the named state, or else the newest that has items of the keyring and differs from the present one.
    ///
    /// - Parameter options: those of a dry run.
    private func choose(
        _ state: String?, _ options: RestoreOptions, for keyring: DesktopKeyring, _ target: ServiceTarget.Options,
        _ client: SecretServiceClient
    ) throws -> (DesktopStateName, ProvenArchive, DesktopUndoPlan, RestoreReport) {
        for name in try names() where state == nil || state == name.text {
            let proven = try open(name)
            if let filter = options.filter, try count(filter, in: proven) == 0 { continue }
            var plan = DesktopUndoPlan()
            let report = try restore(
                proven, options, into: client, keyring, target, as: .undo, keepsState: false,
                observe: { plan.add($0, $1) })
            plan.removed = report.vanishing
            if report.writesSomething { return (name, proven, plan, report) }
            if state != nil { throw Refusal.stateIsPresent(keychain: keyring.words, state: name.text) }
        }
        throw Refusal.noDesktopState(state, of: keyring)
    }

    /// What bringing back a state takes back: the command after it and, with an earlier state, what followed.
    private func undone(by chosen: DesktopStateName, isNamed: Bool) throws -> String {
        let time = chosen.moment(session.calendar)
        let words = chosen.before.map { "'\($0.command)' of \(time)" } ?? "what changed since \(time)"
        return try !isNamed || chosen == names().first ? words : "\(words), and what followed,"
    }

    /// Lists the states that have items of the collections that the user named, newest first.
    ///
    /// A state that cannot be read is reported and left out.
    func list(of keyring: DesktopKeyring) throws -> ExitStatus {
        let filter = keyring.scope == .all ? nil : try filter(keyring, keyring.connect(in: session))
        var isComplete = true
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "MADE", zone: session.zones),
            Table.Column(title: "BEFORE"),
            Table.Column(title: "ITEMS", alignment: .right), Table.Column(title: "SIZE", alignment: .right),
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
            let command = file.before?.command
            let made = file.made.map(session.calendar.minute) ?? ""
            table.append([name, made, command ?? "", String(items), byteCount(size)])
            listed.append(
                .members([
                    ("name", .text(name)), ("path", .text(path)), ("command", command.map { .text($0) }),
                    ("items", .number(items)),
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
