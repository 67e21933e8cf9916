internal import ArgumentParser
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup device`: shows this device, and manages trusted ones.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Show this device, and manage the devices whose archives you trust.",
        subcommands: [
            DeviceShowCommand.self, DeviceListCommand.self, DeviceTrustCommand.self, DeviceUntrustCommand.self,
            DeviceAdoptCommand.self, DeviceExportCommand.self, DeviceImportCommand.self, DeviceSealCommand.self,
            DeviceUnsealCommand.self,
        ])
}

/// `kcbackup device show`.
struct DeviceShowCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the ID of this device, and the line by which ssh-keygen recognizes its signatures.",
        discussion: """
            EXAMPLES:
              kcbackup device show
              kcbackup device show --json | jq -r .device.signer > allowed_signers
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.machine)
        let status = try device.status()
        // A key from another machine identifies its device, but cannot be used until the user has said what this is.
        let key = status.machine == .different ? nil : try device.key()
        var (proof, facts) = (HolderProof.proved, ChipFacts?.none)
        if case .chip = status.holding {
            do throws(DeviceKeyFailure) {
                try device.provider.checkHolder()
            } catch {
                proof = HolderProof(error)
                session.warn(session.failure(of: error).explanation.message)
            }
            do throws(CryptographyFailure) {
                facts = try device.provider.chipFacts()
            } catch {
                // A chip that does not answer has been named.
                if proof != .unasked { session.warn(explainCryptography(error).message) }
            }
        }
        try printDevice(key, status, proof, facts, device, in: session)
        if status.machine == .different {
            throw DeviceKeyFailure.otherMachine(path: device.provider.location, device: status.device)
        }
        return .ok
    }
}

/// The state of the proof that the chip named in a file holds the key.
private enum HolderProof {
    /// The chip of this machine opens the key, and this device wrote the file.
    case proved
    /// Another chip holds it, or this one did before it was cleared.
    case otherChip
    /// The file was altered.
    case altered
    /// The chip could not be asked.
    case unasked

    init(_ failure: DeviceKeyFailure) {
        self =
            switch failure {
            case .cryptography(.chip(.otherChip)): .otherChip
            case .cryptography(.chip(.damaged)): .altered
            default: .unasked
            }
    }
}

/// Prints the facts about this device after a change; its key can be used.
func printDevice(_ key: DeviceKey, _ device: LocalDevice, in session: Session) throws {
    try printDevice(key, device.status(), .proved, nil, device, in: session)
}

/// Prints the facts about this device.
private func printDevice(
    _ key: DeviceKey?, _ status: DeviceKeyStatus, _ proof: HolderProof, _ chip: ChipFacts?, _ device: LocalDevice,
    in session: Session
) throws {
    // With --json, a run prints one object; if there is an error, that object is the error.
    if key == nil, session.style.isJSON { return }
    let path = device.provider.location
    let words =
        switch status.machine {
        case .same: "same"
        case .different: "different"
        case .unknown: "unknown"
        }
    let lines = [
        "device   \(status.device)\n",
        "machine  \(status.machine == .same ? "the one that the key was made on" : words)\n",
        "key      \(displayedPath(path))\n", "holder   \(status.holding.words(proof))\n",
    ]
    try session.result(
        [
            "device": JSONValue.members([
                ("id", .text(status.device.description)), ("machine", .text(words)), ("path", .text(path)),
                ("signer", key.map { .text($0.allowedSignersLine) }),
            ]).adding(status.holding.json(proof)).adding([("chip", chip?.json)])
        ],
        session.prose(lines + (chip.map { ["chip     \($0.words)\n"] } ?? []))
            + (key.map { ["signer   \($0.allowedSignersLine)\n"] } ?? []))
}

extension DeviceKeyHolding {
    /// Who holds the key, in words.
    fileprivate func words(_ proof: HolderProof) -> String {
        switch (self, proof) {
        case (.file, _): "the file: a copy of it is this device"
        case (.chip(let history), .proved):
            "the TPM of this machine, since \(history.sealed); "
                + (history.origin == .tpm ? "it was made there" : "until then a file")
                + (history.copied.map { ", and copied on \($0)" } ?? "")
        case (.chip, .otherChip):
            "another TPM, or that of this machine before it was cleared: the key does not open here"
        case (.chip, .altered): "a TPM, and the file was altered since: the key does not open here"
        case (.chip, .unasked): "a TPM, as the file says; that of this machine could not be asked"
        }
    }

    fileprivate func json(_ proof: HolderProof) -> [(String, JSONValue?)] {
        guard case .chip(let history) = self else { return [("holder", .text("file"))] }
        let holder: [(String, JSONValue?)] = [
            ("holder", .text("tpm")), ("opens", proof == .unasked ? nil : .flag(proof == .proved)),
        ]
        // An unproved history could be anybody's.
        guard proof == .proved else { return holder }
        return holder + [
            ("born", .text(history.origin.rawValue)), ("sealed", .text(history.sealed.description)),
            ("copied", history.copied.map { .text($0.description) }),
        ]
    }
}

extension ChipFacts {
    /// The chip's statements about itself, in words.
    fileprivate var words: String {
        let count = "\(wrongGuesses) of \(guessLimit) wrong guesses at keys with a password"
        let reset = hasLockoutPassword ? "its lockout password resets them" : "anybody who may use it resets them"
        return "\(displayed(manufacturer)), \(count)\(isLockedOut ? " (locked)" : ""); \(reset)"
    }

    fileprivate var json: JSONValue {
        [
            "manufacturer": .text(manufacturer), "wrongGuesses": .number(wrongGuesses),
            "guessLimit": .number(guessLimit), "lockoutPassword": .flag(hasLockoutPassword),
            "lockedOut": .flag(isLockedOut),
        ]
    }
}
