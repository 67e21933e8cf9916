internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCPasscodeStrength
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain create`.
struct KeychainCreateCommand: Verb {
    static let mainOptions: [OptionName] = [.passcode, .noPasscode, .suggest]

    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a keychain, and with the first one the key of this device.",
        discussion: """
            The passcode opens the keychain; it is never part of a backup. Without a passcode, anyone who can use your \
            account on this device can read every secret, and WhenPasscodeSetThisDeviceOnly items are refused. A typed \
            passcode leaves the keychain unlocked; one given with --passcode does not.

            EXAMPLES:
              kcbackup keychain create
              kcbackup keychain create work --passcode file:work.passcode
              kcbackup keychain create scripts --no-passcode
              kcbackup keychain create --held-by tpm --counted-by tpm
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the new keychain comes from.", valueName: "source"))
    var passcode: SecretSource?

    @Flag(name: OptionName.noPasscode.name, help: "Make a keychain that opens only on this device.")
    var noPasscode = false

    @Option(
        name: OptionName.heldBy.name,
        help: ArgumentHelp(
            "Who holds the key of this device, made with the first keychain: file (the default) or tpm.",
            valueName: "holder"))
    var heldBy: KeyHolder?

    @Option(
        name: OptionName.countedBy.name,
        help: ArgumentHelp(
            "Who counts wrong passcodes: file (the default), or tpm, which then refuses more of them.",
            valueName: "counter"))
    var countedBy: CounterName?

    @Flag(name: OptionName.suggest.name, help: "Suggest a strong passcode before asking for one.")
    var suggest = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if noPasscode, passcode != nil { throw UsageProblem.together(.passcode, .noPasscode) }
        if noPasscode, suggest { throw UsageProblem.together(.suggest, .noPasscode) }
        if noPasscode, countedBy != nil { throw UsageProblem.together(.countedBy, .noPasscode) }
        return try noPasscode ? make(in: session) : session.context.quietly(passcode) { try make(in: session) }
    }

    private func make(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        session.subject.store = local.name
        // Check before the user types a passcode; creating the keychain checks again.
        if try Path.exists(local.path) { throw KeychainStoreError.exists(local.path) }
        try local.requireNoOther()
        try local.requireFolder()
        let device = LocalDevice(session.machine)
        try device.requireKeyOrNone()
        try requireHolder(device, in: session)
        if suggest { try session.suggestPasscode() }
        var strength: PasscodeStrength?
        let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcode)
        let secret =
            noPasscode
            ? nil
            : try session.context.newPasscode(wanted) {
                strength = try session.context.judge($0, wanted, of: local.name)
            }
        if secret == nil {
            if countedBy == .tpm { session.warn(CounterName.nothingToCount) }
            session.warn(
                "without a passcode, anyone who can use your account on this device can read this keychain; "
                    + "WhenPasscodeSetThisDeviceOnly items are refused")
        }

        let holder = (heldBy ?? .file).new(in: session)
        let counter = (countedBy ?? .file).counter
        let made = try NewKeychain(local, heldBy: holder, in: session.context).make(
            passcode: secret, countedBy: counter)
        session.tell(KeychainMakingEvent.made(keychain: local.name, made))
        if secret != nil {
            if counter == .chip { session.warnOfCounter(local.name) }
            if passcode == nil || passcode == .terminal {
                try session.context.keepUnlocked(local, secret)
            } else {
                session.note(
                    "it is locked: 'kcbackup keychain unlock \(shellWord(local.name))' opens it for later commands")
            }
            session.warnJobs(ofNew: local, passcode: passcode)
        }
        // A user who loses the device key or the passcode before the first backup loses everything.
        let isDefault = (try? LocalKeychain(nil, in: session.machine)) == local
        let option = isDefault ? "" : " \(OptionName.keychain.spelling) \(shellWord(local.name))"
        session.note("make its first backup soon: 'kcbackup create\(option) FILE.kcb'")
        if style.json {
            try session.result(.passcodeSet(describe(local, in: session), strength), [])
        }
        return .ok
    }

    /// Checks that what holds the key, or will hold it, and what is to count passcodes, are what was asked for.
    private func requireHolder(_ device: LocalDevice, in session: Session) throws {
        if try device.provider.holdsKey {
            let present = try device.provider.status().holding.holder
            guard let heldBy, present != heldBy else {
                try countedBy?.require(heldBy: present, device)
                return
            }
            if present == .file {
                throw Refusal(
                    .exists, "the key of this device exists already, in a file",
                    hint: "'kcbackup device seal' moves it to the TPM")
            }
            throw Refusal(
                .exists, "the key of this device exists already, in the TPM",
                hint: "'kcbackup device unseal' moves it to a file")
        }
        // Before the user types a passcode.
        if heldBy == .tpm { _ = try device.provider.chipFacts() }
        try countedBy?.require(heldBy: heldBy ?? .file, device)
    }

    /// Returns the new keychain as JSON; the keychain exists even if it cannot be opened again.
    private func describe(_ local: LocalKeychain, in session: Session) -> JSONValue {
        do {
            return .keychain(local, try session.open(local).information())
        } catch {
            session.warn("created, but cannot be opened: " + session.failure(of: error).explanation.message)
            return ["name": .text(local.name), "path": .text(local.path)]
        }
    }
}
