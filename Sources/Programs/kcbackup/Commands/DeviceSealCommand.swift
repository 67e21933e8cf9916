internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup device seal`: the key moves from the file to the TPM.
struct DeviceSealCommand: Verb {
    static let mainOptions: [OptionName] = [.withoutArchive, .yes]

    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Move the key of this device from its file to the TPM of this machine.",
        discussion: """
            A copy of the disk, or of the home folder, then opens nothing. The ID stays, and keychains and archives \
            open as before. If the TPM is lost or cleared, the key is gone: only an encrypted archive then brings \
            keychains back, without their ThisDeviceOnly items, so each keychain needs one first, made with '--to \
            FOLDER' within the last 30 days. Earlier copies of the key file still work.

            EXAMPLES:
              kcbackup create --all -r age1… --to ~/backups
              kcbackup device seal
            """)

    @Flag(name: OptionName.withoutArchive.name, help: "Go on although keychains have no encrypted archive.")
    var withoutArchive = false

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.machine)
        let id = try device.key().id
        if case .chip = try device.provider.status().holding {
            throw DeviceKeyFailure.heldByChip(path: device.provider.location, device: id)
        }
        // Without a TPM, there is nothing to ask.
        _ = try device.provider.chipFacts()
        let lacking = try EncryptedArchives.lacking(on: session.machine, at: session.now)
        if !lacking.isEmpty {
            let names = lacking.map(quoted).joined(separator: ", ")
            guard withoutArchive else {
                throw Refusal(
                    .refused,
                    "no encrypted archive of \(names) that is younger than \(EncryptedArchives.days) days is known here; "
                        + "without one, the items would be lost with the TPM",
                    hint: "'kcbackup create \(OptionName.all.spelling) \(OptionName.to.spelling) FOLDER' makes them",
                    "'\(OptionName.withoutArchive.spelling)' if you have others")
            }
            session.warn("if the TPM is lost, so is what is in \(names), unless you have other encrypted archives")
        }
        try session.confirm("Move the key of device \(id) to the TPM of this machine?", isGiven: yes)
        let key = try device.provider.seal(on: session.today)
        session.done = "the TPM holds the key of device \(key.id) now"
        session.warn(
            "earlier copies of the key file still work, in backups and snapshots, and perhaps on the "
                + "disk; a new key that was in no file: 'kcbackup device adopt \(OptionName.newKey.spelling) "
                + "\(OptionName.heldBy.spelling) \(KeyHolder.tpm.rawValue)'")
        session.note(
            "'kcbackup keychain set-passcode \(OptionName.countedBy.spelling) tpm' lets it count wrong passcodes")
        session.note(
            "units of the system that were installed before hide the TPM: 'kcbackup schedule install NAME "
                + "\(OptionName.system.spelling)' writes new ones")
        try printDevice(key, device, in: session)
        return .ok
    }
}

/// `kcbackup device unseal`: the key moves from the TPM to the file.
struct DeviceUnsealCommand: Verb {
    static let mainOptions: [OptionName] = [.confirm, .passcode]

    static let configuration = CommandConfiguration(
        commandName: "unseal",
        abstract: "Move the key of this device from the TPM to a file.",
        discussion: """
            Do this before the main board is replaced, the TPM is cleared or its firmware is changed; 'kcbackup device \
            seal' moves it back. Refused while the TPM counts the passcode of a keychain. Asks for the ID of the device to be typed, and for the passcode of a keychain, since a \
            copy of the file is the key.

            EXAMPLES:
              kcbackup device unseal
              kcbackup device unseal --passcode file:passcode
            """)

    @OptionGroup
    var consent: KeyCopyConsent

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.machine)
        let id = try device.key().id
        if case .file = try device.provider.status().holding {
            throw DeviceKeyFailure.heldByFile(path: device.provider.location, device: id)
        }
        let counted = try CountedKeychains(isHere: true, in: session.machine).names
        guard counted.isEmpty else {
            let names = counted.map(quoted).joined(separator: ", ")
            throw Refusal(
                .refused, "the TPM counts the passcode of \(names), which another board could not open",
                hint: "'kcbackup keychain set-passcode NAME \(OptionName.countedBy.spelling) file' ends that first")
        }
        try consent.require(for: id, to: "move its key to a file", in: session)
        let key = try device.provider.unseal()
        session.done = "a file holds the key of device \(key.id) now"
        session.note("a copy of \(quoted(device.provider.location)) is this device from now on")
        try printDevice(key, device, in: session)
        return .ok
    }
}

/// The proof that a user who takes the key out of the chip is the owner of the keychains, and means it.
struct KeyCopyConsent: ParsableArguments {
    @Option(
        name: OptionName.confirm.name,
        help: ArgumentHelp("The ID of this device, to skip the question.", valueName: "device-id"))
    var confirm: String?

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of a keychain of this device comes from.", valueName: "source"))
    var passcode: SecretSource?

    /// The first option that is given.
    var given: OptionName? { confirm != nil ? .confirm : passcode != nil ? .passcode : nil }

    /// Asks for the ID and a passcode, unless options give them.
    ///
    /// - Throws: `Refusal`, `TerminalFailure`, and the errors of opening a keychain.
    func require(for device: DeviceID, to purpose: String, in session: Session) throws {
        let question = "Type the ID of this device to \(purpose):"
        if confirm == nil, !session.world.terminal.isAttended {
            throw Refusal.unattended(question: question, .confirm)
        }
        let typed = try confirm ?? session.world.terminal.readAnswer(question + " ")
        guard DeviceID(typed) == device else {
            throw Refusal(
                .refused, "that is not the ID of this device; nothing was changed",
                hint: "'kcbackup device show' shows it")
        }
        guard let (local, keychain) = try keychain(in: session) else {
            if passcode != nil {
                throw Refusal(
                    .refused, "no keychain of this device has a passcode; nothing was changed",
                    hint: "leave out '\(OptionName.passcode.spelling)'")
            }
            return
        }
        let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcode)
        try local.naming {
            try session.context.trying(wanted, of: keychain) { secret in
                try session.machine.unlocked.unlock(
                    keychain, passcode: secret.copy(), now: session.machine.clock(), keepsSession: false)
            }
        }
    }

    /// A keychain with a passcode that works here: the default one, or else the first; nil if there is none.
    private func keychain(in session: Session) throws -> (LocalKeychain, Keychain)? {
        let standard = try LocalKeychain(nil, in: session.machine)
        let names = try LocalKeychain.names(in: session.machine.dataFolder)
        let keychains = try names.map { try LocalKeychain($0, in: session.machine) }
        for local in keychains.filter({ $0 == standard }) + keychains.filter({ $0 != standard }) {
            do {
                let keychain = try local.open(in: session.machine)
                if keychain.hasPasscode, try !local.naming({ try keychain.isCountedElsewhere() }) {
                    return (local, keychain)
                }
            } catch let failure as KeychainFailure where failure.isOfOtherDevice {
                // The keychain belongs to another device.
            } catch let failure as KeychainFailure where failure.isOfDamage {
                // Another one proves as much.
            }
        }
        return nil
    }
}

extension KeychainFailure {
    fileprivate var isOfDamage: Bool { if case .damaged = error { true } else { false } }
}
