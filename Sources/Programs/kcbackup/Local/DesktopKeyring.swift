internal import KCAsking
internal import KCBackupArchive
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks

extension DesktopKeyring {
    /// The name for use in a sentence.
    var words: String { desktopWords(collection: label) }

    /// Connects to the service.
    ///
    /// - Throws: `SecretServiceFailure`.
    func connect(in session: Session) throws -> SecretServiceClient {
        session.subject.store = name
        return try SecretServiceClient(session.machine.sessionBus())
    }

    /// Connects to the service and unlocks locked collections, if requested.
    ///
    /// - Parameter mayBeMissing: true if a missing collection is created later.
    /// - Throws: `SecretServiceFailure`, `UsageProblem` (`needsTerminal`), and errors of reading the password.
    func connect(
        _ unlocking: UnlockOptions, passcode: SecretSource?, mayBeMissing: Bool = false, in session: Session
    ) throws -> SecretServiceClient {
        if unlocking.unlock, !session.world.terminal.isAttended { throw UsageProblem.needsTerminal(.unlock) }
        let client = try connect(in: session)
        let locked: [String]
        do {
            locked = try client.locked(in: scope)
        } catch SecretServiceFailure.noCollection where mayBeMissing {
            return client
        }
        if passcode != nil {
            if locked.isEmpty { return client }
            let wanted = wanted(locked[0], passcode)
            let unlock = { (password: borrowing SecretBytes) in try client.unlock(scope, password: password) }
            if passcode == .terminal {
                try session.trying(wanted, unlock)
            } else {
                try session.desktopPassword.use(wanted, in: session, unlock)
            }
        } else if unlocking.unlock {
            if !locked.isEmpty {
                session.note(
                    "the desktop asks for the password of \(locked.map { quoted($0) }.joined(separator: ", "))")
            }
            try client.unlockByPrompt(scope)
        }
        return client
    }

    /// Returns how to create collections that do not exist.
    func making(
        _ unlocking: UnlockOptions, passcode: SecretSource?, in session: Session
    ) -> ServiceTarget.Making {
        guard let passcode else { return unlocking.unlock ? .byPrompt : .refused }
        return .withPassword { label in
            let wanted = wanted(label, passcode)
            // Typed for each collection, otherwise the same for all.
            guard passcode == .terminal else { return try session.desktopPassword.chosen(wanted, in: session) }
            guard let password = try session.secrets.new(wanted) else { throw SecretProblem.empty(wanted.question) }
            return password
        }
    }

    /// The password of a collection.
    private func wanted(_ label: String, _ source: SecretSource?) -> WantedSecret {
        WantedSecret(.collection(label), .passcode, from: source)
    }

    /// Reads all selected items.
    ///
    /// - Parameters:
    ///   - needsAll: false to leave out locked items, with a warning.
    ///   - missing: what warnings say of items that are left out.
    /// - Throws: `SecretServiceFailure`.
    func read(
        _ client: SecretServiceClient, needsAll: Bool = true, missing: LeftOut, in session: Session
    ) throws -> ServiceSource {
        let contents = try client.read(scope, needsAll: needsAll)
        if contents.ofSession > 0 {
            session.note("left out: \(counted(contents.ofSession, "item")) that end with the session of the desktop")
        }
        let source = ServiceSource(contents)
        let told = source.unreadable.map { $0.told(missing) }
        for entry in told where entry.name == nil { session.warn(entry.what) }
        let items = told.compactMap { entry in entry.name.map { (said: Remark(entry.what), name: $0) } }
        session.warn(each: items.map(\.name)) { items[$0].said }
        return source
    }
}
