internal import ArgumentParser
internal import ByteStreams
internal import KeychainModel
internal import KeychainStore

/// `kcbackup keychain delete`.
struct KeychainDeleteCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a keychain with all its items.",
        discussion: """
            Asks for the name to be typed. Archives are not touched.

            EXAMPLES:
              kcbackup keychain delete work
              kcbackup keychain delete work --confirm work
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Option(
        name: OptionName.confirm.name,
        help: ArgumentHelp("The name once more, so that nothing is asked.", valueName: "name"))
    var confirm: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        // Opened first: only what proves to be a keychain of ours is ever removed.
        let keychain = try local.open(in: session)
        let found = try keychain.information()
        try requireName(local, found, in: session)
        // Within a change, so that nobody else is writing to it.
        try keychain.importItems { _ in
            try removeFile(local.path)
            try removeFile(local.path + "-journal")
        }
        try removeFile(local.path + ".lock")
        try Path.synchronizeFolder(Path.split(local.path).folder)
        session.note("keychain \(quoted(local.name)) deleted")
        if style.json { try session.result(["keychain": .keychain(local, found)], []) }
        return .ok
    }

    private func requireName(_ local: LocalKeychain, _ found: KeychainInformation, in session: Session) throws {
        let question = "Type the name of the keychain to delete it and its \(counted(found.total, "item")):"
        if let confirm {
            guard confirm == local.name else { throw Refusal.otherName(keychain: local.name) }
            return
        }
        guard session.world.terminal.isAttended else { throw Refusal.unattended(question: question, .confirm) }
        guard try session.world.terminal.readAnswer(question + " ") == local.name else {
            throw Refusal.otherName(keychain: local.name)
        }
    }
}
