internal import ArgumentParser
internal import KCAsking
internal import KCByteStreams
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain escrow`: manages the key for unattended backups.
struct KeychainEscrowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "escrow",
        abstract: "Let a job back up a keychain without its passcode.",
        subcommands: [KeychainEscrowEnableCommand.self, KeychainEscrowRevokeCommand.self])
}

/// `kcbackup keychain escrow enable`.
struct KeychainEscrowEnableCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .passcode]

    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Make an escrow key, so that backups need no passcode.",
        discussion: """
            The key opens the keychain for 'kcbackup create --escrow', on this device, and for nothing else: it \
            unlocks nothing, changes nothing, and opens no WhenPasscodeSetThisDeviceOnly items. It stays valid when \
            the passcode is changed. Keep it where only the job can read it, in a file or as a systemd credential. One \
            file may hold the keys of several keychains.

            EXAMPLES:
              kcbackup keychain escrow enable -o ~/.escrow
              kcbackup keychain escrow enable work -o work.escrow --passcode file:passcode
              kcbackup keychain escrow enable -o - | \\
                systemd-creds encrypt --name=escrow - escrow.cred
              kcbackup create -r age1… --to ~/backups --escrow ~/.escrow
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new file for the key; '-' for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if output.isEmpty { throw UsageProblem.empty(.output) }
        if style.json, output == "-" { throw UsageProblem.needs(.json, .output) }
        let local = try operand.local(in: session)
        let keychain = try session.open(local)
        guard keychain.hasPasscode else { throw KeychainStoreError.escrow(.noPasscode) }
        if keychain.keybag.escrow != nil { throw KeychainStoreError.escrow(.exists) }
        if output != "-" { try session.requireFolder(ofKeyFile: output) }
        let unlocked = session.machine.unlocked
        let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcodeOption.passcode)
        let secret = try session.context.trying(wanted, of: keychain) { secret in
            try unlocked.unlock(keychain, passcode: secret.copy(), now: session.machine.clock(), keepsSession: false)
            return secret.copy()
        }
        let key = try EscrowKey.generate()
        let text = key.text(comments: [
            "kcbackup escrow key of keychain \(quoted(local.name)), created: \(session.now)",
            "With the device key beside it, it opens the keychain for backups: show it to nobody.",
        ])
        // Write the key first: a record without its key is useless, and a key without a record opens nothing.
        if output == "-" {
            try session.write(text)
            try keychain.enableEscrow(for: key.publicKey, passcode: secret, now: session.now)
        } else {
            let path = session.machine.resolve(output)
            let note = try UnfinishedEscrow(
                of: key.publicKey.description, text, in: path, of: keychain.path, in: session.machine.dataFolder)
            do {
                try session.makingKeyFile { () throws(FileFailure) in try PrivateFile.create(path, text) }
            } catch {
                note.end()
                throw error
            }
            do {
                try keychain.enableEscrow(for: key.publicKey, passcode: secret, now: session.now)
            } catch {
                removeUseless(path, in: session)
                note.end()
                throw error
            }
            note.end()
            session.noteDone("escrow key written to \(displayed(output)); use it with '\(OptionName.escrow.spelling)'")
        }
        if style.json {
            let found = try keychain.information()
            try session.result(["keychain": .keychain(local, found), "path": .text(output)], [])
        }
        return .ok
    }

    /// Removes a key file that opens nothing; if that fails, only warns, since the original error matters more.
    private func removeUseless(_ path: String, in session: Session) {
        do throws(FileFailure) {
            try Path.remove(path)
        } catch {
            session.warn("an unused escrow key could not be removed: \(explainFile(error).message)")
        }
    }
}

/// `kcbackup keychain escrow revoke`.
struct KeychainEscrowRevokeCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the escrow key of a keychain.",
        discussion: """
            Needs no passcode. An earlier copy of the keychain still opens with the key on this device: if both may \
            have been copied, also set a new passcode, which makes new class keys for everything added later.

            EXAMPLES:
              kcbackup keychain escrow revoke
              kcbackup keychain escrow revoke work
              kcbackup keychain set-passcode work
            """)

    @OptionGroup
    var operand: KeychainOperand

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        let keychain = try session.open(local)
        do throws(KeychainStoreError) {
            try keychain.revokeEscrow()
        } catch {
            if case .escrow(.none) = error { throw Refusal.noEscrowRecord(keychain: local.name) }
            throw error
        }
        session.noteDone("the escrow key of keychain \(quoted(local.name)) no longer opens it")
        session.warnJobsOfEscrow(of: local)
        session.note("if it was copied together with the keychain, also run 'kcbackup keychain set-passcode'")
        if style.json {
            let found = try keychain.information()
            try session.result(["keychain": .keychain(local, found)], [])
        }
        return .ok
    }
}
