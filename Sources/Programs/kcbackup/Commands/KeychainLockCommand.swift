internal import ArgumentParser
internal import KCAsking
internal import KCByteStreams
internal import KCKernelKeyring
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain lock`.
struct KeychainLockCommand: Verb {
    static let mainOptions: [OptionName] = [.all, .untilFirstUnlock]

    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock a keychain.",
        discussion: """
            Items that are readable after the first unlock stay readable until the machine restarts, unless \
            '--until-first-unlock' locks them as well. Always items are always readable.

            EXAMPLES:
              kcbackup keychain lock
              kcbackup keychain lock --all --until-first-unlock
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Flag(name: OptionName.all.name, help: "Lock every keychain of this device.")
    var all = false

    @Flag(name: OptionName.untilFirstUnlock.name, help: "Lock as a restart of the machine does.")
    var untilFirstUnlock = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if all {
            if operand.name != nil {
                throw UsageProblem("'\(OptionName.all.spelling)' means every keychain, and one is named as well")
            }
            if operand.keychain != nil { throw UsageProblem.together(.all, .keychain) }
            return try lockAll(in: session)
        }
        let local = try operand.local(in: session)
        let keychain = try session.open(local)
        guard keychain.hasPasscode else { throw Refusal.nothingToLock(keychain: local.name) }
        let state = try lock(keychain, local, in: session)
        try session.result(["states": [state]], [])
        return .ok
    }

    /// Locks all keychains; a failure for one does not leave the others unlocked.
    private func lockAll(in session: Session) throws -> ExitStatus {
        var status = ExitStatus.ok
        var json: [JSONValue] = []
        for name in try LocalKeychain.names(in: session.machine.dataFolder) {
            let local = try LocalKeychain(name, in: session.machine)
            do {
                let keychain = try local.open(in: session.machine)
                guard keychain.hasPasscode else { continue }
                json.append(try local.naming { try lock(keychain, local, in: session) })
            } catch {
                session.warn(session.failure(of: error).explanation.message)
                status = .incomplete
            }
        }
        try session.result(["states": .list(json)], [])
        return status
    }

    private func lock(_ keychain: Keychain, _ local: LocalKeychain, in session: Session) throws -> JSONValue {
        try session.machine.unlocked.lock(keychain, untilFirstUnlock: untilFirstUnlock)
        session.noteDone("keychain \(quoted(local.name)) locked")
        return .status(local, try session.machine.unlocked.status(keychain, now: session.now))
    }
}

/// `kcbackup keychain unlock`.
struct KeychainUnlockCommand: Verb {
    static let mainOptions: [OptionName] = [.passcode]

    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock a keychain for later commands and programs.",
        discussion: """
            The keys are kept in kernel memory, never in a file, until the keychain locks automatically ('kcbackup \
            keychain set-settings') or is locked. If it is unlocked already, nothing is asked.

            EXAMPLES:
              kcbackup keychain unlock
              kcbackup keychain unlock work --passcode cred:work
            """)

    @OptionGroup
    var operand: KeychainOperand

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        let keychain = try passcodeOption.open(local, in: session)
        let unlocked = session.machine.unlocked
        if keychain.hasPasscode {
            // Check before the user types a passcode in vain.
            let before = try unlocked.status(keychain, now: session.now)
            if let refusal = before.refusal {
                throw Refusal(
                    .locked, "nothing can stay unlocked between commands: \(refusal.reason)",
                    remedies: [.passcode("give '\(OptionName.passcode.spelling) SOURCE' to each command")])
            }
            if before.state == .unlocked, passcodeOption.passcode == nil {
                try unlocked.resume(keychain)
            } else {
                let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcodeOption.passcode)
                try session.context.trying(wanted, of: keychain) { secret in
                    try unlocked.unlock(keychain, passcode: secret.copy(), now: session.machine.clock())
                }
            }
            session.done = "keychain \(quoted(local.name)) is unlocked"
            try session.context.tellUnlocked(keychain, of: local)
        } else {
            session.note("keychain \(quoted(local.name)) has no passcode, and is always unlocked")
        }
        let status = try unlocked.status(keychain, now: session.now)
        try session.result(["states": [.status(local, status)]], [])
        return .ok
    }
}
