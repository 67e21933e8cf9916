internal import ArgumentParser
internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup device export`.
struct DeviceExportCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .recipient, .passphrase]

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an encrypted copy of the key of this device.",
        discussion: """
            Without the device key, this device's keychains, unencrypted archives and ThisDeviceOnly items are lost. \
            Keep the copy away from this machine. It is an age file; anyone who can decrypt it has the key. If the TPM \
            holds the key, you are asked for the ID of the device and the passcode of a keychain.

            EXAMPLES:
              kcbackup device export -o device-key.age
              kcbackup device export -o device-key.age -r age1…
            """)

    @Option(
        name: OptionName.output.name, help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var output: String

    @Option(
        name: OptionName.passphrase.name,
        help: ArgumentHelp("Where the passphrase of the file comes from.", valueName: "source"))
    var passphrase: SecretSource?

    @OptionGroup
    var recipients: RecipientOptions

    @OptionGroup
    var consent: KeyCopyConsent

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if output.isEmpty { throw UsageProblem.empty(.output) }
        if output == "-" { throw UsageProblem.malformed(.output, form: "the path of a new file") }
        // An age file has either one passphrase or public keys.
        if passphrase != nil, let other = recipients.firstGiven { throw UsageProblem.together(.passphrase, other) }
        let device = LocalDevice(session.machine)
        let status = try device.provider.status()
        let id = status.device
        let path = session.machine.resolve(output)
        if try Path.exists(path) { throw FileFailure(output, .exists) }
        try session.requireFolder(ofKeyFile: output)
        if passphrase != nil { try session.context.secrets.require(wanted) }
        switch status.holding {
        case .chip:
            try consent.require(for: id, to: "copy its key from the TPM", in: session)
            for name in try session.countedKeychains() {
                session.warn(
                    "the passcode of \(quoted(name)) works with the TPM alone that counts it, also with this copy")
            }
        case .file: if let option = consent.given { throw UsageProblem.onlyForChip(option) }
        }
        let encrypted = try encrypt(device.provider.exported(on: session.today), in: session)
        session.subject.file = output
        try session.makingKeyFile { () throws(FileFailure) in
            try PrivateFile.create(path, encrypted.span, anywhere: true)
        }
        session.noteDone("\(displayed(output)): the key of device \(id)")
        if style.json { try session.result(["path": .text(output), "id": .text(id.description)], []) }
        return .ok
    }

    private var wanted: WantedSecret {
        WantedSecret(.passphraseOfNewFile, .passphrase, from: passphrase)
    }

    private func encrypt(_ text: borrowing SecretBytes, in session: Session) throws -> [UInt8] {
        let given = try recipients.request.recipients(passphrase, in: session.context)
        guard given.isEmpty, let cost = session.machine.costs.passphrase else {
            return try encrypt(text, to: given.map(\.recipient))
        }
        return try session.context.quietly(passphrase) {
            let secret = try session.context.secrets.new(
                wanted, judge: { try session.context.judge($0, wanted, of: LocalKeychain.defaultName) })
            return try encrypt(
                text,
                to: [
                    ScryptRecipient(passphrase: secret ?? session.context.generatedPassphrase(.passphrase), cost: cost)
                ])
        }
    }

    private func encrypt(_ text: borrowing SecretBytes, to recipients: [any Recipient]) throws -> [UInt8] {
        var encryptor = try AgeEncryptor(recipients: recipients, to: MemorySink())
        try text.withBytes { bytes in try encryptor.write(bytes) }
        return try encryptor.finish()
    }
}

/// `kcbackup device import`.
struct DeviceImportCommand: Verb {
    static let mainOptions: [OptionName] = [.identity, .passphrase, .passcode]

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a copied key the key of this device.",
        discussion: """
            Use this after reinstalling a system: keychains of a copied home folder, unencrypted archives and \
            ThisDeviceOnly items open again. Two machines must not share a key. If this device has another key, that \
            is kept as 'device.key.retired-…', which can be imported too; its keychains are moved to the imported key, \
            and you are asked for their passcodes.

            EXAMPLES:
              kcbackup device import device-key.age
              kcbackup device import device-key.age -i restore-key.txt
            """)

    @Argument(help: "The file that 'kcbackup device export' wrote.", completion: .file())
    var file: String

    @OptionGroup
    var opening: ArchiveOptions

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the keychain to be moved comes from.", valueName: "source"))
    var passcode: SecretSource?

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        // An age file has either one passphrase or public keys.
        if opening.passphrase != nil, !opening.identity.isEmpty { throw UsageProblem.together(.passphrase, .identity) }
        let path = session.machine.resolve(file)
        if ArchiveFile.isArchive(at: path) {
            throw Refusal(
                .damaged, "\(quoted(file)) is an archive, not the key of a device",
                hint: "'kcbackup restore \(shellWord(file))' restores it",
                "'kcbackup device export' writes the key of a device")
        }
        let device = LocalDevice(session.machine)
        let provider = device.provider
        session.subject.file = file
        var text = try PrivateFile.readPublic(path)
        if let encrypted = try EncryptedKeyFile(text) {
            text = try opening.decrypt(encrypted, at: file, in: session)
        } else {
            if opening.hasKey { session.warn("\(quoted(file)) is not encrypted and needs no key") }
            // An unencrypted key must be readable by its owner only.
            text = try PrivateFile.read(path)
        }
        let imported = try provider.key(exportedAs: text, from: file)
        let id = imported.id
        let question = "Use the key of device \(id) on this machine, and on no other?"
        let key: DeviceKey
        switch try PresentKey(provider) {
        case .damaged(let failure):
            session.warn(session.failure(of: failure).explanation.message)
            try session.confirm(question, isGiven: yes)
            let replacement = try provider.replaceDamaged(by: text, from: file)
            session.note("the damaged file is kept as \(quoted(replacement.retiredPath))")
            key = replacement.device
        case .of(let present) where present != id:
            key = try replace(present, by: text, of: imported, question, device, in: session)
        case .of, .none:
            try session.confirm(question, isGiven: yes)
            let wasInChip = try session.machine.isHeldByChip
            key = try provider.install(text, from: file)
            if try wasInChip && !session.machine.isHeldByChip {
                session.warn(
                    "the TPM did not open the key, and a file holds it from now on; 'kcbackup device seal' moves it back"
                )
                for name in try session.countedKeychains() {
                    session.warn("the passcode of \(quoted(name)) works with the TPM alone that counts it")
                }
            }
        }
        session.done = "this device is \(key.id) now"
        try printDevice(key, device, in: session)
        return .ok
    }

    /// Moves keychains from the key of another device to the imported one, which then takes its place.
    private func replace(
        _ present: DeviceID, by text: borrowing SecretBytes, of imported: DeviceKey, _ question: String,
        _ device: LocalDevice, in session: Session
    ) throws -> DeviceKey {
        let move = try KeychainMove(passcode: passcode, in: session)
        session.warn(
            "unencrypted archives and ThisDeviceOnly items made with the present key, that of device \(present), will not "
                + "open with the new one")
        try KeyHoldings(of: present, butNot: imported, in: session).warn(session, keepsKeychains: true)
        move.announce(session)
        try session.confirm(question, isGiven: yes)
        try move.run(to: imported, in: session)
        let replacement = try device.provider.replace(by: text, from: file)
        session.note("the key of device \(replacement.retired) is kept as \(quoted(replacement.retiredPath))")
        if try RecoveryKits.exist(besideKeyAt: device.keyPath, of: replacement.retired) {
            session.warn(
                "no backups are made for the recovery kits of the old device: 'kcbackup recovery make' makes a new kit")
        }
        return replacement.device
    }

    /// The key that this device has before the import.
    private enum PresentKey {
        case none
        case of(DeviceID)
        /// A damaged key opens nothing, so it is not in the way.
        case damaged(DeviceKeyFailure)

        init(_ provider: any DeviceKeyProvider) throws(DeviceKeyFailure) {
            guard try provider.holdsKey else {
                self = .none
                return
            }
            do throws(DeviceKeyFailure) {
                self = .of(try provider.status().device)
            } catch {
                guard case .damaged = error else { throw error }
                self = .damaged(error)
            }
        }
    }
}
