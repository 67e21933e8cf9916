internal import ArgumentParser
internal import KCByteStreams
internal import KCFileProtection
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText

/// `kcbackup protect status`.
struct ProtectStatusCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain]

    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say which key files are protected by, and whether they can be opened.",
        discussion: """
            No passcode is needed: a protected file has a mark that this device recognises.

            EXAMPLES:
              kcbackup protect status *.age
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "A keychain to look at besides those that are searched: a path with a '/'.", valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let opened = try files.map { try FileToProtect(session.world.resolve(file: $0)) }
        let places = try FileKeyPlaces(keychain, in: session)
        var table = Table([
            Table.Column(title: "FILE", least: 8), Table.Column(title: "CLASS"),
            Table.Column(title: "KEYCHAIN", yields: 1), Table.Column(title: "STATE"),
        ])
        var rows: [JSONValue] = []
        var failure: Failure?
        for file in opened {
            let place = try file.stanzas.flatMap(places.place(of:))
            let state = try state(of: file, place, in: session)
            var words = state.words
            if state == .elsewhere {
                do throws(Failure) {
                    try places.requireAll()
                } catch {
                    // The keychain with its key may be the one that cannot be looked at.
                    failure = error
                    words = "not known: a keychain does not open"
                }
            }
            table.append([
                file.path, place?.protection.description ?? "-", place?.keychain?.name ?? "-", words,
            ])
            rows.append(
                place?.json(path: file.path, state) ?? ["path": .text(file.path), "state": .text(state.rawValue)])
        }
        // In JSON, an error is an object of its own, and there is only one.
        if let failure, session.style.isJSON { throw failure }
        try session.result(["files": .list(rows)], table.lines(width: session.tableWidth))
        if let failure { throw failure }
        return .ok
    }

    private func state(
        of file: FileToProtect, _ place: FileKeyPlaces.Place?, in session: Session
    ) throws -> ProtectionState {
        guard let place else {
            return file.stanzas.map(ProtectionMark.isMarked) == true ? .elsewhere : .clear
        }
        if !file.hasEnding { return .unnamed }
        return try place.isOpen(in: session) ? .open : .locked
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
        case .clear: "not protected"
        case .protected, .wouldBeProtected, .unprotected, .wouldBeUnprotected: rawValue
        }
    }
}
