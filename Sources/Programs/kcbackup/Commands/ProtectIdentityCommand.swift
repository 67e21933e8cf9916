internal import ArgumentParser
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCFileProtection
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup protect identity`.
struct ProtectIdentityCommand: Verb {
    static let mainOptions: [OptionName] = [.class, .output]

    static let configuration = CommandConfiguration(
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
    var `class` = FileProtection.none

    @OptionGroup
    var newFile: NewKeyOutput

    @OptionGroup
    var keychain: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    static func title(of option: OptionName) -> OptionTitle { option == .class ? .keys : option.title }

    func run(in session: Session) throws -> ExitStatus {
        let output = try newFile.path()
        if let output { try session.requireFolder(ofKeyFile: output) }
        let place = try `class`.place(keychain, in: session)
        let identity = try place.identity(keychain.passcode, in: session.context)
        let holder = place.keychain.map { "class \(`class`) of keychain \(quoted($0.name))" } ?? "this device"
        let text = identity.file(comments: ["key of \(holder)"])
        if let output {
            try PrivateFile.create(session.machine.resolve(output), text.utf8.span, anywhere: true)
            session.done = "\(displayed(output)): the identity of \(identity.recipient)"
        }
        try session.result(
            .members([
                ("identity", .text(identity.description)), ("recipient", .text(identity.recipient.description)),
                ("class", .text(`class`.description)), ("path", output.map { .text($0) }),
            ]), output == nil ? [text] : [])
        if !style.json, output != nil || !session.world.terminal.showsOutput {
            session.message("Public key: \(identity.recipient)\n")
        }
        return .ok
    }
}
