internal import KCByteStreams
internal import KCConsole
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `undo` and `undo --list`, for any store.
struct UndoRequest {
    let store: RestorePlace
    /// The name of a state; nil for the newest one.
    let state: String?
    let isDryRun: Bool
    /// True to keep the state that is replaced.
    let keepsState: Bool
    /// True to remove items, to set them back, or to replace a damaged file, without asking.
    let isConfirmed: Bool

    /// Brings a state back and keeps the one that it replaces; also replaces a store that does not open.
    func undo(in session: Session) throws -> ExitStatus {
        do {
            return try bringBack(store.place.planUndo(to: state), in: session)
        } catch {
            guard let plan = try store.place.planRepair(after: error, to: state) else { throw error }
            session.warn(session.failure(of: error).explanation.message)
            return try bringBack(plan, in: session)
        }
    }

    private func bringBack(_ plan: UndoPlan, in session: Session) throws -> ExitStatus {
        let text = UndoText(plan: plan, store: (store.name, store.words), calendar: session.calendar)
        let question = text.question
        let isWhole = text.changes?.blocked.isEmpty ?? true
        var list = ChangeList(isDryRun: isDryRun, in: session)
        let tellsAll = isDryRun || session.style.isVerbose
        var oldFile: String?
        warnOfRemovedRecords(plan, in: session)
        if !isDryRun {
            if let question {
                if !isConfirmed { try text.tell(isDone: false, all: tellsAll, in: &list) }
                try session.confirm(question, isGiven: isConfirmed)
            }
            oldFile = try plan.apply(keepsState: keepsState)
        }
        // Without a terminal, the run ends at the question and writes nothing.
        let unanswered = isDryRun && !isConfirmed ? question : nil
        let isRefused = unanswered != nil && !session.world.terminal.isAttended
        if isDryRun, !isRefused { try plan.rehearse(keepsState: keepsState) }
        if isDryRun || isConfirmed || question == nil { try text.tell(isDone: !isDryRun, all: tellsAll, in: &list) }
        text.tellBlocked(isDone: !isDryRun, all: session.style.isVerbose, in: &list)
        if !isDryRun { session.done = text.done }
        if isDryRun || session.style.isJSON {
            try session.result(
                text.json(isDryRun: isDryRun, oldFile: oldFile), session.prose(list.lines + [text.planned + "\n"]))
        } else {
            session.note(text.done)
            if let oldFile { session.note("the file that did not open is now \(quoted(oldFile))") }
            if isWhole {
                session.noteUndo(store.option)
            } else {
                session.warn("once nothing is in the way, \(session.undoCommand(store.option)) takes back the rest")
            }
        }
        if let unanswered, let status = try session.tellQuestion(unanswered) { return status }
        return isWhole ? .ok : .incomplete
    }

    /// Warns if an import that is taken back has taken its records out of a file, which stays without them.
    private func warnOfRemovedRecords(_ plan: UndoPlan, in session: Session) {
        guard store.kind == .keychain, plan.isOlder || plan.state.before == .import else { return }
        let home = HomeRoot.home
        let states: [KeptState]
        do {
            states = try RestorableHome(home, session.machine.home, session.context.stateSetting).states().states.map(
                \.state)
        } catch {
            // The states of the home must not keep a keychain from being taken back.
            session.warn(
                "whether an import took records out of a file is not known: "
                    + session.failure(of: error).explanation.message)
            return
        }
        // A run dates all that it keeps alike, but the names of states of a home have whole seconds.
        let start = plan.state.date.seconds
        let taken = states.filter {
            $0.before == .import && ($0.date.seconds == start || plan.isOlder && $0.date.seconds > start)
        }
        guard let first = taken.last else { return }
        let newest = session.undoCommand(home.storeName)
        let command = first == states.first ? newest : "\(newest.dropLast()) \(first.name)'"
        session.warn(
            "the records that \(plan.isOlder ? "an import" : "this import") took out of their file do not come back with "
                + "this; \(command) puts them back")
    }

    /// Lists the states of the store, newest first; one that cannot be read is reported and left out.
    func list(in session: Session) throws -> ExitStatus {
        let states = try store.place.states()
        if let damage = states.damage { session.warn(session.failure(of: damage).explanation.message) }
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "MADE", zone: session.zones),
            Table.Column(title: "BEFORE"),
            Table.Column(title: "ITEMS", alignment: .right), Table.Column(title: "SIZE", alignment: .right),
        ])
        var listed: [JSONValue] = []
        var status = ExitStatus.ok
        for (state, contents) in states.states {
            switch contents {
            case .success(let contents):
                table.append([
                    state.name, session.calendar.minute(state.date), state.command ?? "", String(contents.items),
                    byteCount(contents.size),
                ])
                listed.append(
                    .members([
                        ("name", .text(state.name)), ("path", .text(state.path)),
                        ("made", .text(state.date.description)), ("command", state.command.map { .text($0) }),
                        ("items", .number(contents.items)), ("size", .number(Int(contents.size))),
                    ]))
            case .failure(let failure):
                session.warn(session.failure(of: failure).explanation.message)
                status = .incomplete
            }
        }
        if table.isEmpty { session.note("no state of \(store.words) is kept") }
        try session.result(
            ["keychain": .text(store.name), "undo": .list(listed)],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        if states.ofOthers > 0 {
            session.note(
                "\(counted(states.ofOthers, "state")) of another keychain that was in this place before: to bring one back, "
                    + "move this keychain away, and run 'kcbackup undo --list' again")
        }
        return status
    }
}
