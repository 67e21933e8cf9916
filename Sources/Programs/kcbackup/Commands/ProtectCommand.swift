internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAgePlugins
internal import KCBackupTasks
internal import KCByteStreams
internal import KCFileProtection
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup protect`: encrypts files to keys of this device.
struct ProtectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Encrypt files to a key that this device or a keychain has.",
        subcommands: [ProtectFilesCommand.self, ProtectStatusCommand.self, ProtectIdentityCommand.self],
        defaultSubcommand: ProtectFilesCommand.self)
}

/// `kcbackup protect files`, or without its name.
struct ProtectFilesCommand: Verb {
    static let mainOptions: [OptionName] = [.class, .alsoTo, .dryRun]

    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Encrypt files where they are; 'kcbackup protect FILE' does too.",
        discussion: """
            FILE becomes FILE.age, an age file that this device alone opens. Its class says when:
              complete            while the keychain is unlocked
              unless-open         the same, but it can be written while locked
              until-first-unlock  after the first unlock since the machine was started
              none                always
            If the device or the keychain is lost, so is the file, unless '--also-to' adds a key that you keep elsewhere, \
            such as that of a recovery kit. Backups made by kcbackup do not have the keys of files.

            EXAMPLES:
              kcbackup protect diary.txt --class complete
              kcbackup protect backup.env --class none --also-to age1…
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(name: OptionName.class.name, help: ArgumentHelp("When they can be opened.", valueName: "class"))
    var `class`: FileProtection

    @Option(
        name: OptionName.alsoTo.name,
        help: ArgumentHelp(
            "A public key (age1…) whose identity opens them too; may be repeated.", valueName: "recipient"))
    var alsoTo: [String] = []

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @OptionGroup
    var keychain: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    static func title(of option: OptionName) -> OptionTitle { option == .class ? .keys : option.title }

    func run(in session: Session) throws -> ExitStatus {
        let others = try others(in: session)
        let plan = try ProtectionPlan(files, keychain.keychain, in: session)
        let place = try `class`.place(keychain, in: session)
        try plan.requireKey(of: place, hasOthers: !others.isEmpty)
        if dryRun {
            try place.open(keychain.passcode, in: session.context)
        } else {
            let identity = try place.identity(keychain.passcode, in: session.context)
            try plan.run(for: [MarkedRecipient(identity)] + others, in: session)
        }
        let lines = plan.files.map { file, earlier, isDone in
            "\(isDone ? "was " : dryRun ? "would be " : "")protected: "
                + "\(displayedPath(isDone ? file.path : file.protectedPath)) (\((earlier ?? place).protection))"
        }
        if !dryRun { for line in lines { session.note(line) } }
        if others.isEmpty { session.note(loss) }
        if case .keychain(let local, let keychain, _) = place, !keychain.hasPasscode {
            session.note("keychain \(quoted(local.name)) has no passcode, so this device alone opens every class")
        }
        try session.result(
            [
                "files": .list(
                    plan.files.map { file, earlier, isDone in
                        (earlier ?? place).json(
                            path: isDone ? file.path : file.protectedPath,
                            dryRun && !isDone ? .wouldBeProtected : .protected)
                    })
            ], dryRun ? lines.map { $0 + "\n" } : [])
        return .ok
    }

    /// The further keys, each once, which can share a file with the key of a class.
    ///
    /// - Throws: `AgeFailure`, also for what would stop the encryption of the first file.
    private func others(in session: Session) throws -> [any Recipient] {
        let given = GivenRecipient.once(
            try alsoTo.map { try GivenRecipient.parse($0, plugins: session.context.plugins) })
        for case .plugin(let recipient) in given { _ = try session.context.plugins.path(of: recipient.plugin) }
        if given.contains(where: { $0.isPostQuantum == true }) { throw AgeFailure.incompatibleRecipients }
        return given.map(\.recipient)
    }

    private var loss: String {
        "if this device \(`class` == .none ? "" : "or the keychain ")is lost, so are these files: "
            + "'\(OptionName.alsoTo.spelling) RECIPIENT' adds a key that is kept elsewhere"
    }
}

/// The state of a file according to `protect status`, and what `protect` and `unprotect` did with it.
enum ProtectionState: String {
    /// The file can be opened now.
    case open
    /// Its key is in a keychain that is locked.
    case locked
    /// A run was killed before the file got its name.
    case unnamed
    /// Another device, or a keychain that is not here, has the key.
    case elsewhere
    /// No key was found, and a keychain that may have it does not open.
    case unknown
    /// The file is not protected.
    case clear
    case protected
    case wouldBeProtected = "would-be-protected"
    case unprotected
    case wouldBeUnprotected = "would-be-unprotected"
}

extension FileKeyPlaces.Place {
    /// The JSON object "protected file".
    func json(path: String, _ state: ProtectionState) -> JSONValue {
        .members([
            ("path", .text(path)), ("state", .text(state.rawValue)), ("class", .text(protection.description)),
            ("keychain", keychain.map { .text($0.name) }),
        ])
    }
}
