internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain delete`.
struct KeychainDeleteCommand: Verb {
    static let mainOptions: [OptionName] = [.confirm]

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
        help: ArgumentHelp("The name again, to skip the question.", valueName: "name"))
    var confirm: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        session.warnJobsOfDeletion(of: local)
        let told: JSONValue
        if let (keychain, found) = try open(local, in: session) {
            if keychain.keybag.hasFileKeys {
                session.warn("files that were protected by a class of it ('kcbackup protect') will not open any more")
            }
            try requireName(local, "it and its \(counted(found.total, "item"))", in: session)
            try delete(keychain, local, in: session)
            told = .keychain(local, found)
        } else {
            try warnOfStates(local, in: session)
            try requireName(local, "it unopened", in: session)
            try delete(nil, local, in: session)
            told = ["name": .text(local.name), "path": .text(local.path)]
        }
        session.noteDone("keychain \(quoted(local.name)) deleted")
        if style.json { try session.result(["keychain": told], []) }
        return .ok
    }

    /// Opens the keychain; returns nil if it can never be opened here, since it must still be possible to delete it.
    ///
    /// A path can lead to any file, so the file is removed only if it is a keychain of this program.
    private func open(_ local: LocalKeychain, in session: Session) throws -> (Keychain, KeychainInformation)? {
        do {
            let keychain = try session.open(local)
            return (keychain, try local.naming { try keychain.information() })
        } catch let failure as KeychainFailure where !local.name.exact.contains("/") {
            switch failure.error {
            case .damaged, .notAKeychain, .severalNames, .foreignJournal, .otherDevice:
                session.warn(session.failure(of: failure).explanation.message)
                return nil
            default: throw failure
            }
        }
    }

    /// Warns that the kept states may be all that is left of the items in a keychain that cannot be opened.
    private func warnOfStates(_ local: LocalKeychain, in session: Session) throws {
        var count = 0
        for folder in try StateFolder.all(at: local, in: session.machine.dataFolder) {
            count += try folder.list().count
        }
        if count == 0 { return }
        session.warn(
            "\(counted(count, "state")) of it from before changes will be deleted as well; "
                + "'kcbackup undo' may bring the newest one back instead")
    }

    private func delete(_ keychain: Keychain?, _ local: LocalKeychain, in session: Session) throws {
        let machine = session.machine
        let remains = try local.delete(
            keychain, endingIn: machine.unlocked, lists: machine.dataFolder, now: session.now)
        for remains in remains {
            switch remains {
            case .kernelKeys: session.warn("its keys may stay in the memory of the kernel until they expire")
            case .file(let failure):
                session.warn("deleted, but a file beside it could not be removed: \(explainFile(failure).message)")
            case .states(let states): session.warn("deleted, but \(states.words)")
            case .lists(let failure):
                session.warn("deleted, but still on the lists: \(explainLocalKeychain(failure).message)")
            }
        }
    }

    private func requireName(_ local: LocalKeychain, _ what: String, in session: Session) throws {
        let question = "Type the name of the keychain to delete \(what):"
        if let confirm {
            guard confirm.exact == local.name.exact else { throw Refusal.otherName(keychain: local.name) }
            return
        }
        guard session.world.terminal.isAttended else { throw Refusal.unattended(question: question, .confirm) }
        guard try session.world.terminal.readAnswer(question + " ").exact == local.name.exact else {
            throw Refusal.otherName(keychain: local.name)
        }
    }
}
