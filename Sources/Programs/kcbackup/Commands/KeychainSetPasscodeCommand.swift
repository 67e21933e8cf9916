internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCPasscodeStrength
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain set-passcode`.
struct KeychainSetPasscodeCommand: Verb {
    static let mainOptions: [OptionName] = [.newPasscode, .noPasscode, .suggest]

    static let configuration = CommandConfiguration(
        commandName: "set-passcode",
        abstract: "Set, change or remove the passcode of a keychain.",
        discussion: """
            All items are sealed again under new keys, so that the old passcode and an old copy of the keychain open \
            nothing that is added later. Existing archives still restore. Removing the passcode deletes \
            WhenPasscodeSetThisDeviceOnly items, after a question. The states kept for 'kcbackup undo' are removed, \
            also after a question, since the old passcode opens them. An escrow key keeps working until 'kcbackup \
            keychain escrow revoke', and security tokens until 'kcbackup keychain token remove'; without a passcode \
            there are none. Wrong passcodes are counted where they were before, in the file or by the TPM, unless \
            '--counted-by' says otherwise. If the TPM counts them, a thief of the whole machine cannot guess faster \
            than it allows; without the TPM, the passcode opens nothing.

            EXAMPLES:
              kcbackup keychain set-passcode
              kcbackup keychain set-passcode work \\
                --passcode file:old --new-passcode file:new
              kcbackup keychain set-passcode --counted-by tpm
              kcbackup keychain set-passcode scripts --no-passcode
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the present passcode comes from.", valueName: "source"))
    var passcode: SecretSource?

    @Option(
        name: OptionName.newPasscode.name,
        help: ArgumentHelp("Where the new passcode comes from.", valueName: "source"))
    var newPasscode: SecretSource?

    @Flag(name: OptionName.noPasscode.name, help: "Remove the passcode.")
    var noPasscode = false

    @Option(
        name: OptionName.countedBy.name,
        help: ArgumentHelp(
            "Who counts wrong passcodes: file, or tpm, which then refuses more of them.", valueName: "counter"))
    var countedBy: CounterName?

    @Flag(name: OptionName.suggest.name, help: "Suggest a strong passcode before asking for one.")
    var suggest = false

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if noPasscode, newPasscode != nil { throw UsageProblem.together(.newPasscode, .noPasscode) }
        if noPasscode, suggest { throw UsageProblem.together(.suggest, .noPasscode) }
        if noPasscode, countedBy != nil { throw UsageProblem.together(.countedBy, .noPasscode) }
        return try session.context.quietly(passcode, noPasscode ? passcode : newPasscode) { try change(in: session) }
    }

    private func change(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        let keychain = try PasscodeOption(passcode).open(local, in: session)
        let device = LocalDevice(session.machine)
        try countedBy?.require(heldBy: device.provider.status().holding.holder, device)
        let wanted = WantedSecret(.passcode(keychain: local.name), .newPasscode, from: newPasscode)
        if newPasscode != nil { try session.context.secrets.require(wanted) }
        // Check it before asking for the new one, so that a typing error is noticed right away.
        let current = try unlock(keychain, local.name, in: session)
        if noPasscode, case let asking = try keychain.constrainedProtections().values.reduce(0, +), asking > 0 {
            throw KeychainStoreError.itemsAskForPasscode(asking)
        }
        try requireNewPasscode(of: local.name, in: session)
        try StateKeeper.confirmRemoval(of: keychain, isGiven: yes, in: session)
        if suggest { try session.suggestPasscode() }
        var strength: PasscodeStrength?
        var new: SecretBytes?
        if !noPasscode {
            new = try session.context.secrets.new(
                wanted, judge: { strength = try session.context.judge($0, wanted, of: local.name) })
        }
        let (had, escrow, tokens) = (keychain.hasPasscode, keychain.keybag.escrow, keychain.keybag.tokens)
        if new == nil {
            if countedBy == .tpm { session.warn(CounterName.nothingToCount) }
            try confirmRemoval(keychain, in: session)
        }
        let progress = try Progress("sealing items again", in: session, itemsOf: keychain.itemCount)
        let change = try session.machine.unlocked.setPasscode(
            keychain, current: current, new: new, countedBy: countedBy?.counter, cost: session.machine.costs.passcode,
            now: session.now, step: { progress.step() })
        progress.finish()
        session.done = new == nil ? "passcode removed" : "passcode set"
        if change.droppedKeys > 0 {
            session.warn(
                "more than \(Keybag.retiredLimit) earlier passcodes: unencrypted archives from before them now take "
                    + "'\(OptionName.archivePasscode.spelling)' to be restored")
        }
        if keychain.keybag.counter == .chip { session.warnOfCounter(local.name) }
        StateKeeper.removeAll(of: keychain, in: session)
        session.warn(each: change.damaged.map { $0?.words ?? "an unreadable row" }) { _ in
            Remark("left as it was, since it cannot be opened")
        }
        if escrow != nil {
            session.note(
                keychain.hasPasscode
                    ? "its escrow key still opens it for backups; 'kcbackup keychain escrow revoke' ends that"
                    : "its escrow record is gone with the passcode")
        }
        session.warnJobs(of: local, keychain, hadPasscode: had, passcode: newPasscode)
        if !tokens.isEmpty, !keychain.hasPasscode {
            session.note("the records of its security tokens are gone with the passcode")
        }
        session.note(keychain.hasPasscode ? "passcode set" : "keychain \(quoted(local.name)) has no passcode now")
        if style.json {
            let found = try keychain.information()
            try session.result(.passcodeSet(.keychain(local, found), strength), [])
        }
        return change.damaged.isEmpty ? .ok : .incomplete
    }

    /// Checks that there is a new passcode to read, before anything is said to be removed with the old one.
    ///
    /// - Throws: `SecretProblem` (`noSource`) if none was given and nobody can be asked.
    private func requireNewPasscode(of name: String, in session: Session) throws(SecretProblem) {
        guard !noPasscode, newPasscode == nil, !session.world.terminal.isAttended else { return }
        throw .noSource(.passcode(keychain: name), .newPasscode)
    }

    /// Unlocks a keychain for this command only, and returns its passcode; nil if it has none.
    private func unlock(_ keychain: Keychain, _ name: String, in session: Session) throws -> SecretBytes? {
        let unlocked = session.machine.unlocked
        guard keychain.hasPasscode else {
            try unlocked.unlock(keychain, passcode: nil, now: session.now, keepsSession: false)
            return nil
        }
        let wanted = WantedSecret(.passcode(keychain: name), .passcode, from: passcode)
        return try session.context.trying(wanted, of: keychain) { secret in
            try unlocked.unlock(keychain, passcode: secret.copy(), now: session.machine.clock(), keepsSession: false)
            return secret.copy()
        }
    }

    /// Names what is deleted along with the passcode, and asks for confirmation.
    private func confirmRemoval(_ keychain: Keychain, in session: Session) throws {
        session.warn("without a passcode, anyone who can use your account on this device can read this keychain")
        let bound = try keychain.passcodeBoundItems()
        session.warn(each: bound.items.map(\.words)) { _ in Remark("will be deleted with the passcode") }
        let count = bound.items.count + bound.damaged
        let question =
            count == 0 ? "Remove the passcode?" : "Remove the passcode, and delete \(counted(count, "item"))?"
        try session.confirm(question, isGiven: yes || (noPasscode && count == 0))
    }
}
