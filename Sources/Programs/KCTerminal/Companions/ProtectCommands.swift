package import ArgumentParser
package import KCFileProtection

/// The commands of `kcbackup-protect`.
package protocol ProtectVerbs: Sendable {
    func run(_ verb: ProtectFilesCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: ProtectStatusCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: ProtectIdentityCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: UnprotectCommand, in session: Session) throws -> ExitStatus
}

/// `kcbackup protect`: encrypts files to keys of this device.
package struct ProtectCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Encrypt files to a key that this device or a keychain has.",
        subcommands: [ProtectFilesCommand.self, ProtectStatusCommand.self, ProtectIdentityCommand.self],
        defaultSubcommand: ProtectFilesCommand.self)

    package init() {}
}

/// `kcbackup protect files`, or without its name.
package struct ProtectFilesCommand: Verb {
    package static let companion: Companion? = .protect
    package static let mainOptions: [OptionName] = [.class, .alsoTo, .dryRun]

    package static let configuration = CommandConfiguration(
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
    package var files: [String]

    @Option(name: OptionName.class.name, help: ArgumentHelp("When they can be opened.", valueName: "class"))
    package var `class`: FileProtection

    @Option(
        name: OptionName.alsoTo.name,
        help: ArgumentHelp(
            "A public key (age1…) whose identity opens them too; may be repeated.", valueName: "recipient"))
    package var alsoTo: [String] = []

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    package var dryRun = false

    @OptionGroup
    package var keychain: LocalKeychainOptions

    @OptionGroup
    package var style: StyleOptions

    package static func title(of option: OptionName) -> OptionTitle { option == .class ? .keys : option.title }

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.protect?.run(self, in: session) ?? session.handOver(to: .protect)
    }
}

/// `kcbackup protect status`.
package struct ProtectStatusCommand: Verb {
    package static let companion: Companion? = .protect
    package static let mainOptions: [OptionName] = [.keychain]

    package static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say which key files are protected by, and whether they can be opened.",
        discussion: """
            No passcode is needed: a protected file has a mark that this device recognizes.

            EXAMPLES:
              kcbackup protect status *.age
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    package var files: [String]

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "A keychain to look at besides those that are searched: a path with a '/'.", valueName: "name|path"),
        completion: KnownNames.keychains)
    package var keychain: String?

    @OptionGroup
    package var style: StyleOptions

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.protect?.run(self, in: session) ?? session.handOver(to: .protect)
    }
}

/// `kcbackup protect identity`.
package struct ProtectIdentityCommand: Verb {
    package static let companion: Companion? = .protect
    package static let mainOptions: [OptionName] = [.class, .output]

    package static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Print an age identity that names a key of this device or of a keychain.",
        discussion: """
            age, and programs that use it such as sops and passage, open files with such an identity through \
            age-plugin-kcbackup. The identity is no secret: it says where the key is. Anybody can encrypt to its \
            public key (age1…), without the plugin. After a change of the passcode, the identity still opens \
            everything that is encrypted to it, before or after.

            EXAMPLES:
              kcbackup protect identity -o here.txt
              kcbackup protect identity --class complete -o key.txt
            """)

    @Option(
        name: OptionName.class.name,
        help: ArgumentHelp("When the key can be used, as in 'kcbackup protect'.", valueName: "class"))
    package var `class` = FileProtection.none

    @OptionGroup
    package var newFile: NewKeyOutput

    @OptionGroup
    package var keychain: LocalKeychainOptions

    @OptionGroup
    package var style: StyleOptions

    package static func title(of option: OptionName) -> OptionTitle { option == .class ? .keys : option.title }

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.protect?.run(self, in: session) ?? session.handOver(to: .protect)
    }
}

/// `kcbackup unprotect`.
package struct UnprotectCommand: Verb {
    package static let companion: Companion? = .protect
    package static let mainOptions: [OptionName] = [.dryRun, .passcode, .keychain]

    package static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Decrypt files that 'kcbackup protect' encrypted.",
        discussion: """
            FILE.age becomes FILE again, as it was before, in the clear.

            EXAMPLES:
              kcbackup unprotect diary.txt.age
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file(extensions: ["age"]))
    package var files: [String]

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    package var dryRun = false

    @OptionGroup
    package var keychain: LocalKeychainOptions

    @OptionGroup
    package var style: StyleOptions

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.protect?.run(self, in: session) ?? session.handOver(to: .protect)
    }
}

extension FileProtection: ExpressibleByArgument {
    /// Parses the name of a class of files: `complete`, `unless-open`, `until-first-unlock`, `none`.
    package init?(argument: String) {
        self.init(argument)
    }

    /// The names, for help and completion.
    package static var allValueStrings: [String] { allCases.map(\.description) }
}
