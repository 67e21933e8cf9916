internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// The option for the keychain, of a verb that also works on the desktop keyring.
struct StoreNameOption: ParsableArguments {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: see 'keychain default')",
            valueName: "name|path"),
        completion: KnownNames.readableStores)
    var keychain: String?
}

/// The options for the keychain and its passcode, of a verb that also works on the desktop keyring.
struct KeychainOptions: ParsableArguments, KeychainChoice {
    @OptionGroup
    var store: StoreNameOption

    @OptionGroup
    var passcodeOption: PasscodeOption

    var keychain: String? {
        get { store.keychain }
        set { store.keychain = newValue }
    }
}

/// The options for the keychain and its passcode, of a verb that works on keychains alone.
struct LocalKeychainOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: see 'keychain default')", valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    @OptionGroup
    var passcodeOption: PasscodeOption
}

/// The options for the store that an import goes to, and its passcode.
struct ImportTargetOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.into.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: the default keychain)",
            valueName: "name|path"),
        completion: KnownNames.keychainsAndKeyring)
    var keychain: String?

    @OptionGroup
    var passcodeOption: PasscodeOption
}

/// A keychain that the user may have named, and its passcode.
protocol KeychainChoice {
    /// What the user named.
    var keychain: String? { get }
    var passcodeOption: PasscodeOption { get }
}

extension KeychainChoice {
    /// Where the passcode comes from, if it was given.
    var passcode: SecretSource? { passcodeOption.passcode }

    /// Opens the keychain without its passcode.
    func open(in session: Session) throws -> Keychain {
        try passcodeOption.open(LocalKeychain(keychain, in: session.machine), in: session)
    }

    /// Opens the keychain and makes all its class keys available.
    func openUnlocked(in session: Session) throws -> Keychain {
        let keychain = try open(in: session)
        try unlock(keychain, in: session)
        return keychain
    }

    /// Makes all keys available, as `PasscodeOption.unlock(_:for:in:)` does.
    func unlock(_ keychain: Keychain, in session: Session) throws {
        try passcodeOption.unlock(keychain, for: .all, in: session)
    }
}

/// Where the passcode of a keychain comes from, and what it opens.
struct PasscodeOption: ParsableArguments {
    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the keychain comes from.", valueName: "source"))
    var passcode: SecretSource?

    init() {}

    init(_ passcode: SecretSource?) { self.passcode = passcode }

    /// Opens a keychain without its passcode; a passcode that it does not need is noted.
    func open(_ local: LocalKeychain, in session: Session) throws -> Keychain {
        let keychain = try session.open(local)
        session.notePasscode(passcode, isUseless: !keychain.hasPasscode, for: local.name)
        return keychain
    }

    /// Makes keys available, from the session or, failing that, with the passcode.
    ///
    /// A given passcode is always used, and for this command only. A typed one also unlocks the keychain for later
    /// commands, except for items that ask for it each time; for those with `user-presence`, a security token that is
    /// connected takes its place.
    ///
    /// - Parameter isMeant: false if a passcode that is given would be for another keychain, so that none helps here.
    func unlock(
        _ keychain: Keychain, for needed: NeededSecrets, isMeant: Bool = true, in session: Session
    ) throws {
        guard keychain.hasPasscode else { return try keychain.unlock(passcode: nil, now: session.now) }
        let unlocked = session.machine.unlocked
        // A given passcode is used in any case; whether a typed one unlocks the keychain depends on what it is now.
        if wantsTyping { try unlocked.resume(keychain) }
        if passcode == nil {
            if try keychain.protections(needed).allSatisfy(keychain.canOpen) { return }
            guard session.world.terminal.isAttended else {
                throw Self.unattended(keychain.isUnlocked, isMeant: isMeant, in: session)
            }
            if try opensWithToken(keychain, for: needed, in: session) { return }
        }
        let isUnlocked = keychain.isUnlocked
        let wanted = WantedSecret(.passcode(keychain: session.subject.store), .passcode, from: passcode)
        if isUnlocked, wanted.isTyped { session.note("the passcode is needed for items that ask for it each time") }
        do {
            try session.trying(wanted, of: keychain) { secret in
                try unlocked.unlock(
                    keychain, passcode: secret.copy(), now: session.machine.clock(),
                    keepsSession: wanted.isTyped && !isUnlocked)
            }
            if wanted.isTyped, !isUnlocked { try session.noteUnlocked(keychain) }
        } catch let error as KeychainStoreError {
            guard case .kernelKeys(let failure) = error, keychain.isUnlocked else { throw error }
            // The passcode was correct, so this command can continue.
            session.warn("the keychain does not stay unlocked for later commands: \(failure.reason)")
        }
    }

    /// True if the passcode is typed, if it is needed.
    private var wantsTyping: Bool { passcode == nil || passcode == .terminal }

    /// Opens what only misses the presence key `user-presence`, with a security token; false if the passcode is needed,
    /// as it always is while the keychain is locked.
    private func opensWithToken(
        _ keychain: Keychain, for needed: NeededSecrets, in session: Session
    ) throws -> Bool {
        guard keychain.isUnlocked else { return false }
        let missing = try keychain.protections(needed).filter { !keychain.canOpen($0) }
        guard missing.allSatisfy({ $0.constraint == .userPresence && keychain.canOpen(Protection($0.accessibility)) })
        else { return false }
        try session.openWithToken(keychain)
        return missing.allSatisfy(keychain.canOpen)
    }

    /// Says that a passcode is needed and nobody can be asked.
    ///
    /// - Parameters:
    ///   - isUnlocked: true if only items that ask for it each time need it.
    ///   - isMeant: false if giving it is no way to open this keychain.
    private static func unattended(_ isUnlocked: Bool, isMeant: Bool, in session: Session) -> Refusal {
        let name = session.subject.store ?? LocalKeychain.defaultName
        if let job = session.job {
            return .jobWithoutPasscode(job: job, keychain: name, isUnlocked ? .itemsAsk : .locked)
        }
        if isUnlocked {
            return Refusal(
                .locked,
                "keychain \(quoted(name)) has items that ask for the passcode each time, and there is no terminal to ask "
                    + "for it on",
                remedies: [
                    .passcode(
                        "'\(OptionName.passcode.spelling) SOURCE' gives it, where SOURCE is \(SecretSource.forms)")
                ])
        }
        guard isMeant else {
            return Refusal(
                .locked, "keychain \(quoted(name)) is locked, and there is no terminal to ask for its passcode on",
                hint: "'kcbackup keychain unlock \(shellWord(name))' opens it for later commands")
        }
        return Refusal(
            .locked, "keychain \(quoted(name)) is locked, and there is no terminal to ask for its passcode on",
            remedies: [
                Remedy("'kcbackup keychain unlock \(shellWord(name))' opens it for later commands"),
                .passcode(
                    "'\(OptionName.passcode.spelling) SOURCE' opens it for this one, where SOURCE is \(SecretSource.forms)"
                ),
            ])
    }
}

extension Keychain {
    /// The protections of the secrets that a command needs.
    fileprivate func protections(_ needed: NeededSecrets) throws(KeychainStoreError) -> Set<Protection> {
        switch needed {
        case .withoutQuestion: []
        case .of(let protections): protections
        case .all: Protection.unconstrained.union(try constrainedProtections().keys)
        }
    }
}

extension Session {
    /// Notes that a given passcode is not needed because the keychain has none.
    ///
    /// This is not an error, since one nightly script may handle several keychains. It is not a warning either, since
    /// that would be mailed every night.
    func notePasscode(_ source: SecretSource?, isUseless: Bool, for keychain: String) {
        guard source != nil, isUseless else { return }
        note(
            "keychain \(quoted(keychain)) has no passcode, so '\(OptionName.passcode.spelling)' is not read; "
                + "'kcbackup keychain set-passcode' sets one")
    }
}

/// Returns the name of a passcode for use in a sentence.
func passcodeWords(_ keychain: String?) -> String {
    keychain.map { "passcode of keychain \(quoted($0))" } ?? "passcode"
}
