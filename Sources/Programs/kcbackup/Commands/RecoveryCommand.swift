internal import ArgumentParser
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText

/// `kcbackup recovery`: sheets of paper that open backups.
struct RecoveryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Make and check recovery kits: sheets of paper that open backups.",
        subcommands: [
            RecoveryMakeCommand.self, RecoveryCheckCommand.self, RecoveryListCommand.self, RecoveryRetireCommand.self,
        ])
}

/// `kcbackup recovery make`.
struct RecoveryMakeCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .comment]

    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make a key that opens backups, and a sheet to print with it.",
        discussion: """
            The sheet has the key in lines that can be typed, and says what it opens, and how, also without kcbackup. The \
            key is kept nowhere else. Without -o the sheet goes to standard output, as to a printer.

            Print it, and type it in once with 'kcbackup recovery check'. From now on, each encrypted archive of this \
            device, also of its jobs, opens with it too; 'kcbackup rekey' adds it to older ones.

            EXAMPLES:
              kcbackup recovery make | lp
              kcbackup recovery make -o /dev/shm/kit.txt --comment "in the safe"
            """)

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new file; standard output for '-' or without it.", valueName: "file"),
        completion: .file(extensions: ["txt"]))
    var output: String?

    @Option(
        name: OptionName.comment.name,
        help: ArgumentHelp("What to remember about it, such as where it lies; it is printed too.", valueName: "text"))
    var comment = ""

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        // `-` means standard output, as in `create`.
        let output = output == "-" ? nil : output
        if style.json, output == nil { throw UsageProblem.needs(.json, .output) }
        if output == "" { throw UsageProblem.empty(.output) }
        guard RecoveryKit.isComment(comment) else { throw KitProblem.comment }
        let local = LocalDevice(session.world)
        let device = try local.keyOrFirst().key
        let kits = LocalKits(of: device, at: local)
        try Self.requireRoom(in: kits.list())
        let identity = try X25519Identity.generate()
        let kit = RecoveryKit(identity.recipient, made: session.now, comment: comment)
        let sheet = KitSheet(
            kit, by: device, on: session.calendar.day(session.now), version: CommandLineTool.version
        ).text(identity)
        // Archives are made for what is in the list, so a kit gets there only when its sheet is written.
        if let output {
            try PrivateFile.create(session.world.resolve(output), sheet)
        } else {
            try session.write(sheet)
        }
        do {
            try kits.change { list in
                try Self.requireRoom(in: list)
                list.append(kit)
            }
        } catch {
            if let output { try Path.remove(session.world.resolve(output)) }
            throw KitProblem.notEntered(Failure(error, session.subjects), path: output)
        }
        session.done = "recovery kit \(kit.fingerprint) is made"
        if let output {
            try session.result(["kit": kit.json(at: session.now), "path": .text(output)], [])
        }
        session.message("Recovery kit: \(kit.fingerprint)\nPublic key: \(kit.recipient)\n")
        if output == nil, session.world.terminal.showsOutput {
            session.note("the key is in the history of this terminal now: clear it")
        }
        session.note(
            output.map { "print \(quoted($0)), remove it, and try the sheet: 'kcbackup recovery check'" }
                ?? "try the sheet: 'kcbackup recovery check'")
        return .ok
    }

    private static func requireRoom(in kits: [RecoveryKit]) throws(KitProblem) {
        guard kits.count < RecoveryKits.countLimit else { throw .tooMany(limit: RecoveryKits.countLimit) }
    }
}

/// `kcbackup recovery list`.
struct RecoveryListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the recovery kits of this device, and when each was last checked.",
        discussion: """
            EXAMPLES:
              kcbackup recovery list
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = LocalDevice(session.world)
        let kits = try local.keyIfAny().map { try LocalKits(of: $0, at: local).list() } ?? []
        var table = Table([
            Table.Column(title: "KIT"), Table.Column(title: "MADE"), Table.Column(title: "CHECKED"),
            Table.Column(title: "COMMENT", least: 8, yields: 2), Table.Column(title: "PUBLIC KEY", yields: 1),
        ])
        for kit in kits {
            table.append([
                kit.fingerprint, session.calendar.day(kit.made), kit.checkedWords(session), kit.comment,
                kit.recipient.description,
            ])
        }
        try session.result(
            ["kits": .list(kits.map { $0.json(at: session.now) })],
            table.isEmpty ? [] : table.lines(width: session.tableWidth))
        if kits.isEmpty { session.note("there are no recovery kits: 'kcbackup recovery make' makes one") }
        return .ok
    }
}

/// `kcbackup recovery retire`.
struct RecoveryRetireCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Make no more backups for a recovery kit.",
        discussion: """
            Its sheet keeps opening the backups that were made for it: keep it as long as you keep them. 'kcbackup rekey' \
            takes them from it.

            EXAMPLES:
              kcbackup recovery retire 3f9a-01bc
            """)

    @Argument(help: ArgumentHelp("The fingerprint, as 'kcbackup recovery list' prints it.", valueName: "fingerprint"))
    var fingerprint: String

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = LocalDevice(session.world)
        guard let device = try local.keyIfAny() else { throw KitProblem.unknown }
        let wanted = fingerprint.lowercased()
        let kit = try LocalKits(of: device, at: local).change { kits in
            guard let index = kits.firstIndex(where: { $0.fingerprint.exact == wanted.exact }) else {
                throw KitProblem.unknown
            }
            if kits[index].retired != nil {
                throw KitProblem.alreadyRetired(fingerprint: kits[index].fingerprint)
            }
            kits[index].retired = session.now
            return kits[index]
        }
        session.did(
            "recovery kit \(kit.fingerprint) is retired; its sheet still opens the backups that were made for it")
        if style.json { try session.result(["kit": kit.json(at: session.now)], []) }
        return .ok
    }
}

extension RecoveryKit {
    /// The JSON object of a kit.
    func json(at now: Timestamp) -> JSONValue {
        .members([
            ("fingerprint", .text(fingerprint)), ("recipient", .text(recipient.description)),
            ("made", .text(made.description)), ("comment", comment.isEmpty ? nil : .text(comment)),
            ("checked", checked.map { .text($0.description) }),
            ("checkIsDue", .flag(retired == nil && rehearsal(at: now) != .recent)),
            ("retired", retired.map { .text($0.description) }),
        ])
    }

    /// When it was last checked, for a table.
    fileprivate func checkedWords(_ session: Session) -> String {
        if retired != nil { return "retired" }
        let day = checked.map { session.calendar.day($0) }
        return switch rehearsal(at: session.now) {
        case .never: "never"
        case .old: "\(day ?? ""), due"
        case .recent: day ?? ""
        }
    }
}
