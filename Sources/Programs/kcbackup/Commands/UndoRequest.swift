internal import BackupEngine
internal import ByteStreams
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// `restore --undo` and `restore --list-undo`.
struct UndoRequest {
    let keychain: KeychainOptions
    /// The name of a state; nil for the newest.
    let state: String?
    let isDryRun: Bool
    /// True if the state that is replaced is kept.
    let keepsState: Bool

    /// Brings a state back, and keeps the one that it replaces.
    func undo(in session: Session) throws -> ExitStatus {
        let (local, open, states) = try find(in: session)
        let known = try states.list()
        guard let chosen = state.map({ name in known.first { $0.name == name } }) ?? known.first else {
            throw Refusal.nothingToUndo(keychain: local.name)
        }
        session.subjects.keychain = chosen.path
        let copy = try states.open(chosen)
        session.subjects.keychain = local.name
        guard open.hasKeys(of: copy) else { throw Refusal.stateOfOtherPasscode(path: chosen.path) }
        let counts = (before: try open.itemCount(), after: try copy.itemCount())
        if !isDryRun {
            try StateKeeper(open, in: session).keeping(using: chosen) { keep in
                try open.write { writer in
                    if keepsState { try keep() }
                    try writer.replaceAll(with: copy)
                }
            }
        }
        let words = "keychain \(quoted(local.name)): the state of \(chosen.name), \(counted(counts.after, "item"))"
        let json = JSONValue.members([
            ("keychain", .text(local.name)), ("state", .text(chosen.name)), ("dryRun", .flag(isDryRun)),
            ("items", .number(counts.after)), ("itemsBefore", .number(counts.before)),
        ])
        if isDryRun || session.style.isJSON {
            try session.result(json, ["would bring back, in \(words) (now \(counts.before))\n"])
        } else {
            session.note("brought back, in \(words) (before: \(counts.before)); '--undo' again takes that back")
        }
        return .ok
    }

    /// Lists the states of the keychain, the newest first.
    func list(in session: Session) throws -> ExitStatus {
        let (local, _, states) = try find(in: session)
        var table = Table([
            Table.Column(title: "STATE"), Table.Column(title: "ITEMS", alignment: .right),
            Table.Column(title: "SIZE", alignment: .right),
        ])
        var listed: [JSONValue] = []
        var status = ExitStatus.ok
        for state in try states.list() {
            do {
                let items = try states.open(state).itemCount()
                let size = try OpenFile.reading(state.path).size()
                table.append([state.name, String(items), byteCount(size)])
                listed.append(
                    .members([
                        ("name", .text(state.name)), ("path", .text(state.path)), ("items", .number(items)),
                        ("size", .number(Int(size))),
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

    private func find(in session: Session) throws -> (LocalKeychain, Keychain, KeptStates) {
        let local = try LocalKeychain(keychain.keychain, in: session.world)
        let open = try local.open(in: session)
        return (local, open, KeptStates(of: open, in: session.world.dataFolder))
    }
}
