internal import ArgumentParser
internal import KCAgeEncryption
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup recovery`: sheets of paper that open backups.
struct RecoveryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Make and check recovery kits: sheets of paper that open backups.",
        subcommands: [
            RecoveryMakeCommand.self, RecoveryCheckCommand.self, RecoveryListCommand.self, RecoveryRetireCommand.self,
        ])
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
        let local = LocalDevice(session.machine)
        let kits = try local.keyIfAny().map { try LocalKits(of: $0, at: local).list() } ?? []
        var table = Table([
            Table.Column(title: "KIT"), Table.Column(title: "MADE"), Table.Column(title: "CHECKED"),
            Table.Column(title: "SHARES"),
            Table.Column(title: "COMMENT", least: 8, isWhole: true, yields: 2),
            Table.Column(title: "PUBLIC KEY", yields: 1),
        ])
        for kit in kits {
            table.append([
                kit.fingerprint, session.calendar.day(kit.made), kit.checkedWords(session),
                kit.shares.map { "\($0.needed) of \($0.count)" } ?? "-",
                kit.comment,
                kit.recipient.abbreviation,
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
            Its sheet still opens the backups that were made for it: keep it as long as you keep them. To make it stop \
            opening them, run 'kcbackup rekey'.

            EXAMPLES:
              kcbackup recovery retire 3f9a-01bc
            """)

    @Argument(help: ArgumentHelp("The fingerprint, as 'kcbackup recovery list' prints it.", valueName: "fingerprint"))
    var fingerprint: String

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = LocalDevice(session.machine)
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
        session.noteDone(
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
            (
                "shares",
                shares.map { .members([("needed", .number($0.needed)), ("count", .number($0.count))]) }
            ),
            ("untried", shares == nil ? nil : .list(untriedShares.map { .number($0) })),
        ])
    }

    /// When it was last checked, for a table.
    func checkedWords(_ session: Session) -> String {
        if retired != nil { return "retired" }
        if !isPrinted { return "not printed" }
        let day = checked.map { session.calendar.day($0) }
        return switch rehearsal(at: session.now) {
        case .never where untriedShares.count < shares?.count ?? 0:
            "\(untriedShares.count) of \(shares?.count ?? 0) untried"
        case .never: "never"
        case .old: "\(day ?? ""), due"
        case .recent: day ?? ""
        }
    }
}
