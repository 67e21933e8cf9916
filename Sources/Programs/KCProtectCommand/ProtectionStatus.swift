internal import KCByteStreams
internal import KCFileProtection
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension ProtectStatusCommand {
    func perform(in session: Session) throws -> ExitStatus {
        let opened = try files.map { try FileToProtect(session.machine.resolve(file: $0)) }
        let places = try FileKeyPlaces(keychain, passesOver: true, in: session.machine)
        var table = Table([
            Table.Column(title: "FILE", least: 8), Table.Column(title: "CLASS"),
            Table.Column(title: "KEYCHAIN", yields: 1), Table.Column(title: "STATE", least: 14, isWhole: true),
        ])
        var rows: [JSONValue] = []
        // The named keychain was to be looked at, whether a file needs it or not.
        let named = places.failureOfNamed.map { session.failure(of: $0).explanation }
        var failure = named
        for file in opened {
            let place = try file.stanzas.flatMap(places.place(of:))
            var state = try state(of: file, place, in: session)
            var problem: Explanation?
            if state == .elsewhere {
                do {
                    try places.requireAll()
                } catch {
                    // The keychain with its key may be the one that cannot be looked at.
                    state = .unknown
                    problem = session.failure(of: error).explanation
                }
            }
            failure = failure ?? problem
            table.append([
                file.path, place?.protection.description ?? "-", place?.keychain?.name ?? "-", state.words,
            ])
            let row = place?.json(path: file.path, state) ?? ["path": .text(file.path), "state": .text(state.rawValue)]
            rows.append(row.adding([("error", problem?.jsonBody)]))
        }
        let json = JSONValue.members([("files", .list(rows)), ("error", named?.jsonBody)])
        try session.result(json, table.lines(width: session.tableWidth))
        guard let failure else { return .ok }
        // Not thrown: in JSON, the object says it, and an error would be a second one.
        session.message(failure.lines)
        return failure.status
    }

    private func state(
        of file: FileToProtect, _ place: FileKeyPlaces.Place?, in session: Session
    ) throws -> ProtectionState {
        guard let place else {
            return file.stanzas.map(ProtectionMark.isMarked) == true ? .elsewhere : .clear
        }
        if !file.hasEnding { return .unnamed }
        return try place.isOpen(in: session.machine) ? .open : .locked
    }
}

extension ProtectionState {
    /// The state in a table.
    fileprivate var words: String {
        switch self {
        case .open: "can be opened"
        case .locked: "locked"
        case .unnamed: "encrypted under its old name: repeat 'kcbackup protect'"
        case .elsewhere: "the key is not on this device"
        case .unknown: "not known: a keychain does not open"
        case .clear: "not protected"
        case .protected, .wouldBeProtected, .unprotected, .wouldBeUnprotected: rawValue
        }
    }
}
