internal import KCBackupArchive
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

extension DesktopKeyring {
    /// The name for use in a sentence.
    var words: String { desktopWords(collection: label) }

    /// Connects to the service.
    ///
    /// - Throws: `SecretServiceFailure`.
    func connect(in session: Session) throws -> SecretServiceClient {
        session.subjects.keychain = name
        return try SecretServiceClient(session.world.sessionBus())
    }

    /// Connects to the service and unlocks locked collections, if requested.
    ///
    /// - Parameter mayBeMissing: true if a missing collection is created later.
    /// - Throws: `SecretServiceFailure`, `UsageProblem` (`needsTerminal`), and errors of reading the password.
    func connect(
        _ unlocking: UnlockOptions, passcode: SecretSource?, mayBeMissing: Bool = false, in session: Session
    ) throws -> SecretServiceClient {
        if passcode == .unknown { throw SecretProblem.notASource(.passcode) }
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
            try client.unlock(scope, password: password(of: locked[0], passcode, in: session))
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
        if passcode != nil { return .withPassword { try password(of: $0, passcode, isNew: true, in: session) } }
        return unlocking.unlock ? .byPrompt : .refused
    }

    /// Reads the password of a collection from its source: typed for each collection, otherwise the same for all.
    ///
    /// - Parameter isNew: true to have it typed twice.
    func password(
        of label: String, _ source: SecretSource?, isNew: Bool = false, in session: Session
    ) throws -> SecretBytes {
        let wanted = WantedSecret(
            what: "password of collection \(quoted(label))", flag: .passcode, source: source)
        guard source == .terminal else {
            if let kept = session.desktopPassword { return kept.password.copy() }
            let kept = KeptPassword(try session.secrets.existing(wanted))
            session.desktopPassword = kept
            return kept.password.copy()
        }
        guard isNew else { return try session.secrets.existing(wanted) }
        guard let password = try session.secrets.new(wanted) else { throw SecretProblem.empty(what: wanted.what) }
        return password
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
        for entry in source.unreadable { session.warn(entry.words(missing)) }
        return source
    }
}

/// A password that a run reads once.
final class KeptPassword {
    let password: SecretBytes

    init(_ password: consuming SecretBytes) { self.password = password }
}

extension World {
    /// Returns the user's session bus.
    func sessionBus() throws(SecretServiceFailure) -> SessionBus {
        try SessionBus(environment: environment, runtimeFolder: userRuntimeFolder)
    }

    /// True if a Secret Service is running and may have items.
    ///
    /// Starts and opens nothing, and reports no errors.
    ///
    /// - Returns: nil if that cannot be seen.
    func desktopKeyringHasItems() throws(SecretServiceFailure) -> Bool? {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch {
            return nil
        }
        return try SecretServiceClient.mayHaveItems(on: bus)
    }

    /// Looks whether a Secret Service is running; starts nothing and reports no errors.
    func desktopKeyring() throws(SecretServiceFailure) -> SecretServiceClient.Presence {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch .noBus {
            return .absent
        } catch {
            return .unreachable
        }
        return try SecretServiceClient.presence(on: bus)
    }
}
