internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// `undo` and `undo --list`, for a keychain.
struct UndoRequest {
    let keychain: KeychainOptions
    /// The name of a state; nil for the newest one.
    let state: String?
    let isDryRun: Bool
    /// True to keep the state that is replaced.
    let keepsState: Bool

    /// True to remove items, to set them back, or to replace a damaged file, without asking.
    let isConfirmed: Bool

    /// Restores a state and keeps the one that it replaces; also replaces a keychain file that is damaged or missing.
    func undo(in session: Session) throws -> ExitStatus {
        let local = try LocalKeychain(keychain.keychain, in: session.world)
        let file = try local.fileIdentity()
        do {
            return try undo(local, local.open(in: session), in: session)
        } catch let error as KeychainStoreError
            where error.isOfTheFile && session.subjects.keychain?.exact == local.name.exact
        {
            return try replace(local, file, because: error, in: session)
        }
    }

    private func undo(_ local: LocalKeychain, _ open: Keychain, in session: Session) throws -> ExitStatus {
        // Keys that are at hand show which rows differ in more than their seals.
        try session.world.unlocked.resume(open)
        let states = KeptStates(of: open, in: session.world.dataFolder)
        let known = try states.list()
        let (chosen, copy, plan) = try choose(among: known, states, local, open, in: session)
        let before = try open.itemCount()
        let undone = undone(by: chosen, among: known, session.calendar)
        let question = plan.question(undone)
        var list = ChangeList(isDryRun: isDryRun, in: session)
        let tellsAll = isDryRun || session.style.isVerbose
        if !isDryRun {
            if let question {
                if !isConfirmed { plan.tell(isDone: false, all: tellsAll, in: &list) }
                try session.confirm(question, isGiven: isConfirmed)
            }
            // Another run may be waiting to restore the same state.
            try states.exclusively(knowing: known) {
                try StateKeeper(open, before: .undo, in: session).keeping(using: chosen) { keep in
                    try open.write { writer in
                        // What was listed and confirmed must still be what is removed or set back.
                        let now = try writer.reader.versionedItems(since: plan.rowsAfter, of: copy)
                        guard now.versions == plan.versions else {
                            throw KeychainStoreError.busy
                        }
                        if keepsState { try keep() }
                        try writer.replaceAll(with: copy)
                    }
                }
            }
        }
        if isDryRun || isConfirmed || question == nil { plan.tell(isDone: !isDryRun, all: tellsAll, in: &list) }
        let changes = plan.counts.isEmpty ? "damaged items changed" : plan.counts
        let words = "\(undone) in keychain \(quoted(local.name)): \(changes)"
        let json = JSONValue.members([
            ("keychain", .text(local.name)), ("state", .text(chosen.name)), ("made", .text(chosen.date.description)),
            ("command", chosen.before.map { .text($0.command) }), ("dryRun", .flag(isDryRun)),
            ("items", .number(plan.itemsAfter)), ("itemsBefore", .number(before)),
            ("vanishing", .list(plan.vanishing.map { .item($0) })),
            ("changing", .list(plan.changing.map { .item($0) })),
            ("returning", .list(plan.returning.map { .item($0) })),
            ("changedSince", .list(plan.changedSince.map { .item($0) })),
        ])
        if !isDryRun { session.done = "took back \(words)" }
        if isDryRun || session.style.isJSON {
            try session.result(json, list.lines + ["would take back \(words)\n"])
        } else {
            session.note("took back \(words)")
            session.noteUndo(keychain.keychain)
        }
        return .ok
    }

    /// Chooses the named state, or else the newest that differs from the present one.
    ///
    /// A change that was killed leaves the state that it kept, which is the present one.
    private func choose(
        among known: [KeptStates.State], _ states: KeptStates, _ local: LocalKeychain, _ open: Keychain,
        in session: Session
    ) throws -> (KeptStates.State, Keychain, UndoPlan) {
        defer { session.subjects.keychain = local.name }
        for candidate in known where state == nil || state?.exact == candidate.name.exact {
            session.subjects.keychain = candidate.path
            let copy = try states.open(candidate)
            guard open.hasKeys(of: copy) else { throw Refusal.stateOfOtherPasscode(path: candidate.path) }
            session.subjects.keychain = local.name
            let plan = try UndoPlan(from: open, to: copy, written: states.written(after: candidate))
            if !plan.changesNothing { return (candidate, copy, plan) }
            if state != nil {
                throw Refusal.stateIsPresent(keychain: "keychain \(quoted(local.name))", state: candidate.name)
            }
        }
        throw Self.nothing(among: state == nil ? [] : known, of: local)
    }

    /// What bringing back a state takes back: the command after it and, with an earlier state, what followed.
    private func undone(
        by chosen: KeptStates.State, among known: [KeptStates.State], _ calendar: LocalCalendar
    ) -> String {
        let time = calendar.moment(chosen.date)
        let words = chosen.before.map { "'\($0.command)' of \(time)" } ?? "what changed since \(time)"
        return state == nil || chosen == known.first ? words : "\(words), and what followed,"
    }

    /// Replaces a file that cannot be opened with a state; the file is kept under another name.
    private func replace(
        _ local: LocalKeychain, _ file: FileIdentity?, because error: KeychainStoreError, in session: Session
    ) throws -> ExitStatus {
        let key = try LocalDevice(session.world).key()
        let known = try Self.states(at: local, in: session)
        if known.isEmpty { throw error }
        guard
            let (folder, chosen) = state.map({ name in known.first { $0.state.name.exact == name.exact } })
                ?? known.first
        else {
            throw Self.nothing(among: known.map(\.state), of: local)
        }
        session.subjects.keychain = chosen.path
        let copy = try folder.open(chosen, deviceKey: key, minimumCost: session.world.costs.lowestPasscode)
        let items = try copy.itemCount()
        session.subjects.keychain = local.name
        let time = session.calendar.moment(chosen.date)
        let words = "keychain \(quoted(local.name)): the state of \(time), \(counted(items, "item"))"
        session.warn(Failure(error, session.subjects).explanation.message)
        var old: String?
        if !isDryRun {
            try session.confirm(
                "Replace the file of keychain \(quoted(local.name)) by its state of \(time), "
                    + "\(counted(items, "item"))?", isGiven: isConfirmed)
            old = try local.replaceFile(by: chosen, insteadOf: file, deviceKey: key, now: session.now)
            do throws(FileFailure) {
                try StateFolder.remove(chosen)
            } catch {
                session.warn("a kept state could not be removed: \(explainFile(error).message)")
            }
        }
        if !isDryRun { session.done = "brought back, in \(words)" }
        if isDryRun || session.style.isJSON {
            try session.result(
                .members([
                    ("keychain", .text(local.name)), ("state", .text(chosen.name)), ("dryRun", .flag(isDryRun)),
                    ("items", .number(items)), ("oldFile", old.map { .text($0) }),
                ]),
                ["would bring back, in \(words) (now it does not open)\n"])
        } else {
            session.note("brought back, in \(words)")
            if let old { session.note("the file that did not open is now \(quoted(old))") }
        }
        return .ok
    }

    /// Lists the states of the keychain, newest first.
    func list(in session: Session) throws -> ExitStatus {
        let local = try LocalKeychain(keychain.keychain, in: session.world)
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "MADE", zone: session.zones),
            Table.Column(title: "BEFORE"),
            Table.Column(title: "ITEMS", alignment: .right), Table.Column(title: "SIZE", alignment: .right),
        ])
        var listed: [JSONValue] = []
        var status = ExitStatus.ok
        for (state, open) in try states(of: local, in: session) {
            do {
                let items = try open().itemCount()
                let size = try OpenFile.reading(state.path).size()
                let command = state.before?.command
                table.append([
                    state.name, session.calendar.minute(state.date), command ?? "", String(items), byteCount(size),
                ])
                listed.append(
                    .members([
                        ("name", .text(state.name)), ("path", .text(state.path)),
                        ("made", .text(state.date.description)), ("command", command.map { .text($0) }),
                        ("items", .number(items)), ("size", .number(Int(size))),
                    ]))
            } catch {
                session.warn("\(state.name): \(Failure(error, session.subjects).explanation.message)")
                status = .incomplete
            }
        }
        if table.isEmpty { session.note("no state of keychain \(quoted(local.name)) is kept") }
        try session.result(
            ["keychain": .text(local.name), "undo": .list(listed)],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        return status
    }

    private static func nothing(among states: [KeptStates.State], of local: LocalKeychain) -> Refusal {
        states.isEmpty ? .noStates(keychain: local.name) : .nothingToUndo(keychain: local.name)
    }

    /// Returns the states of the keychain, newest first, with a closure that opens each, even if the keychain itself
    /// cannot be opened.
    private func states(
        of local: LocalKeychain, in session: Session
    ) throws -> [(KeptStates.State, () throws -> Keychain)] {
        do {
            let states = KeptStates(of: try local.open(in: session), in: session.world.dataFolder)
            return try states.list().map { state in (state, { try states.open(state) }) }
        } catch let error as KeychainStoreError where error.isOfTheFile {
            let known = try Self.states(at: local, in: session)
            if known.isEmpty { throw error }
            session.warn(Failure(error, session.subjects).explanation.message)
            let key = try LocalDevice(session.world).key()
            return known.map { folder, state in
                (state, { try folder.open(state, deviceKey: key, minimumCost: session.world.costs.lowestPasscode) })
            }
        }
    }

    /// Returns the states of all keychains that were at a path, newest first.
    private static func states(
        at local: LocalKeychain, in session: Session
    ) throws -> [(folder: StateFolder, state: KeptStates.State)] {
        try StateFolder.all(at: local, in: session.world.dataFolder).flatMap { folder in
            try folder.list().map { (folder, $0) }
        }.sorted { $0.1.name > $1.1.name }
    }
}

extension KeychainStoreError {
    /// True if the keychain file is damaged or missing, so that a kept state can replace it.
    fileprivate var isOfTheFile: Bool {
        switch self {
        case .damaged, .notAKeychain, .notFound: true
        default: false
        }
    }
}
