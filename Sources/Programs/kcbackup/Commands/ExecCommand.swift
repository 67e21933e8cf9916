internal import ArgumentParser
internal import Glibc
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup exec`.
struct ExecCommand: Verb {
    static let mainOptions: [OptionName] = [.with, .withFile, .keychain]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command with secrets in its environment.",
        discussion: """
            The command takes the place of kcbackup, so that signals, terminal and exit status are its own. All secrets \
            are read before it starts; if one cannot be read, nothing is started.

            ITEM is the whole label, service or server of an item, or conditions with commas between them, as in \
            'service=db,account=app'. Exactly one item must match.

            EXAMPLES:
              kcbackup exec --with API_TOKEN=forge -- ./release.sh
              kcbackup exec --with PGPASSWORD=service=db,account=app -- psql -h db
              kcbackup exec --with-file KEY=label=deploy -- sh -c 'ssh-add "$KEY"'
            """)

    @Option(
        name: OptionName.with.name,
        help: ArgumentHelp("The variable NAME is the secret of an item.", valueName: "name=item"))
    var with: [String] = []

    @Option(
        name: OptionName.withFile.name,
        help: ArgumentHelp("The variable NAME is the path of a file with the secret.", valueName: "name=item"))
    var withFile: [String] = []

    @Argument(parsing: .postTerminator, help: "The command, after '--', with its arguments.")
    var command: [String]

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var fileKey: FileKeyOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let wanted = try wanted()
        let open = try location.open(fileKey, in: session)
        let items = try find(wanted, in: open, session)
        try open.items.open(.of(Set(items.map(\.protection))))
        let broken = try open.items.brokenSeals(among: items)
        let variables = try zip(wanted, items).map { wanted, item in
            if broken.contains(item.uuid) {
                throw Refusal(
                    .damaged,
                    "the seal of the item for '\(wanted.name)' does not fit: another program changed it, or the "
                        + "keychain is damaged; nothing was started",
                    hint: "'kcbackup restore ARCHIVE \(OptionName.onConflict.spelling) overwrite' brings back what a "
                        + "backup has")
            }
            guard let secret = try open.items.secret(of: item) else {
                throw Refusal(.notFound, "the item for '\(wanted.name)' has no secret; nothing was started")
            }
            if !wanted.isFile { try Self.requireNoZero(secret, for: wanted) }
            return Successor.Variable(wanted.name, secret, isFile: wanted.isFile)
        }
        var withheld: [Int32] = []
        if case .descriptor(let number)? = location.keychain.passcode { withheld.append(number) }
        do {
            try session.world.takeOver(Successor(command, variables: variables, withheld: withheld))
        } catch let failure as Successor.Failure {
            let isPath = command[0].utf8.contains(UInt8(ascii: "/"))
            if failure == .notStarted(EACCES), isPath, Path.isFolder(session.machine.resolve(command[0])) {
                throw Refusal(.notRun, "\(quoted(command[0])) is a folder, not a program")
            }
            throw Self.refusal(failure, of: command[0])
        }
        return .ok
    }

    /// The variables, in the order of the options.
    ///
    /// - Throws: `UsageProblem`, `ItemProblem`.
    private func wanted() throws -> [VariableItem] {
        let wanted =
            try with.map { try VariableItem($0, of: .with) } + withFile.map { try VariableItem($0, of: .withFile) }
        if wanted.isEmpty {
            throw UsageProblem(
                "no item is named",
                hint: "'\(OptionName.with.spelling) NAME=ITEM' gives the variable NAME the secret of an item")
        }
        var names: Set<ExactText> = []
        for variable in wanted where !names.insert(variable.name.exact).inserted {
            throw UsageProblem("the variable '\(variable.name)' is given twice")
        }
        return wanted
    }

    /// Finds the one item for each variable, and says what of the store could not be read.
    private func find(_ wanted: [VariableItem], in store: OpenStore, _ session: Session) throws -> [Item] {
        var isTold = false
        return try wanted.map { variable in
            let found = try store.items.find(variable.filter)
            if !isTold { _ = session.tell(found.shortfall) }
            isTold = true
            let items = found.items.filter(variable.means)
            if items.count > 1 {
                throw UsageProblem(
                    "\(items.count) items match for '\(variable.name)', and one is needed; nothing was started",
                    hint: "conditions choose one: '\(variable.name)=service=…,account=…', or "
                        + "'\(variable.name)=uuid=…'; 'kcbackup item find' shows what items have")
            }
            guard let item = items.first else {
                throw Refusal(
                    .notFound, "no item matches for '\(variable.name)'; nothing was started",
                    hint: "a name is the whole label, service or server, as 'kcbackup item list' shows them",
                    "conditions have the form '\(variable.name)=service=…,account=…'")
            }
            return item
        }
    }

    /// Refuses a secret that a variable cannot hold.
    private static func requireNoZero(_ secret: borrowing SecretBytes, for variable: VariableItem) throws(Refusal) {
        guard secret.withBytes({ bytes in bytes.indices.contains { bytes[$0] == 0 } }) else { return }
        throw Refusal(
            .refused,
            "the secret for '\(variable.name)' has a zero byte, which a variable cannot hold; nothing was started",
            hint: "'\(OptionName.withFile.spelling) \(variable.name)=ITEM' gives it in a file")
    }

    private static func refusal(_ failure: Successor.Failure, of command: String) -> Refusal {
        switch failure {
        case .notStarted(ENOENT) where !command.utf8.contains(UInt8(ascii: "/")):
            Refusal(
                .noCommand, "there is no command \(quoted(command)) in PATH",
                hint: "a path with a '/' names a program in another folder")
        case .notStarted(ENOENT):
            Refusal(
                .noCommand, "\(quoted(command)) does not exist, or the interpreter that its first line names does not")
        case .notStarted(E2BIG):
            Refusal(
                .notRun, "the arguments and variables of \(quoted(command)) are more than the system passes on",
                hint: "'\(OptionName.withFile.spelling) NAME=ITEM' gives a long secret in a file")
        case .notStarted(let code):
            Refusal(.notRun, "\(quoted(command)) cannot be run: \(words(ofSystemError: code))")
        case .noFile(let code):
            Refusal(
                .io, "no file in memory can be made for a secret: \(words(ofSystemError: code)); nothing was started")
        }
    }
}
