internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Moves the keychains that the present device key opens to another key, which is about to replace it.
///
/// After a reinstallation, such keychains were made by a restore that came before `device import`.
struct KeychainMove {
    private let keychains: [(local: LocalKeychain, keychain: Keychain)]
    /// The names of those that no passcode opens any more: the chip will not open the present key at another time either,
    /// or another one counted the passcode.
    private let lost: [String]
    /// Where a passcode comes from, if it was given.
    private let passcode: SecretSource?

    /// Finds the keychains.
    ///
    /// - Throws: `Refusal` if one cannot be opened, since it could not be moved either; `KeychainFailure`
    ///   if the chip that holds the present key does not open it now; `UsageProblem.passcodeOfOne`, and the
    ///   `Failure` of that name if several passcodes are needed and there is no terminal.
    init(passcode: SecretSource?, in session: Session) throws {
        var keychains: [(LocalKeychain, Keychain)] = []
        var (stuck, lost): ([String], [String]) = ([], [])
        for name in try LocalKeychain.names(in: session.machine.dataFolder) {
            let local = try LocalKeychain(name, in: session.machine)
            do {
                let keychain = try local.open(in: session.machine)
                if try local.naming({ try keychain.isCountedElsewhere() }) {
                    lost.append(name)
                } else {
                    keychains.append((local, keychain))
                }
            } catch let failure as KeychainFailure where failure.isOfOtherDevice {
                // The keychain needs another key already, perhaps the imported one.
            } catch let failure as KeychainFailure where failure.chip != nil {
                guard failure.chip?.isLasting == true else { throw failure }
                lost.append(name)
            } catch {
                session.warn(session.failure(of: error).explanation.message)
                stuck.append(name)
            }
        }
        guard stuck.isEmpty else {
            let names = stuck.map(quoted).joined(separator: ", ")
            throw Refusal(
                .exists,
                "this device has another key, which \(stuck.count == 1 ? "keychain" : "keychains") \(names) may need, and "
                    + "cannot be opened to be moved",
                hint: "mend it, or delete it: 'kcbackup keychain info' says what is wrong, 'kcbackup keychain delete'",
                "in another data folder ('XDG_DATA_HOME=~/other kcbackup …') the other key can be used")
        }
        // The passcode is tried on no keychain that it was not given for, which would count it as a wrong one.
        let asking = keychains.filter { $0.1.hasPasscode }.map { $0.0.name }
        if asking.count > 1 {
            if let passcode, passcode != .terminal { throw UsageProblem.passcodeOfOne(of: asking, for: .move) }
            if passcode == nil, !session.world.terminal.isAttended {
                let missing = Failure.secret(.noSource(.passcode(keychain: asking[0]), .passcode))
                throw Failure.passcodeOfOne(missing, .move)
            }
        }
        self.keychains = keychains
        self.lost = lost
        self.passcode = passcode
    }

    /// Says which keychains will be moved, without their states, and which cannot be.
    func announce(_ session: Session) {
        for name in lost {
            session.warn(
                "keychain \(quoted(name)) stays with the present key, since no TPM here opens it")
        }
        for (local, keychain) in keychains {
            session.warn("keychain \(quoted(local.name)), made with the present key, will be moved to the new one")
            StateKeeper.warnOfRemoval(of: keychain, named: local.name, in: session)
        }
    }

    /// Moves the keychains; all passcodes are checked before the first one is moved.
    ///
    /// If it fails in between, importing the same key again moves the others.
    func run(to key: DeviceKey, in session: Session) throws {
        let unlocked = session.machine.unlocked
        let passcodes = try keychains.map { local, keychain -> KeptPasscode in
            session.subject.store = local.name
            guard keychain.hasPasscode else { return KeptPasscode(nil) }
            let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: passcode)
            return try session.context.trying(wanted, of: keychain) { secret in
                try unlocked.unlock(
                    keychain, passcode: secret.copy(), now: session.machine.clock(), keepsSession: false)
                return KeptPasscode(secret.copy())
            }
        }
        for ((local, keychain), passcode) in zip(keychains, passcodes) {
            session.subject.store = local.name
            try keychain.move(to: key, passcode: passcode.copy(), now: session.now)
            StateKeeper.removeAll(of: keychain, after: .deviceKey, in: session)
            session.note("keychain \(quoted(local.name)) belongs to device \(key.id) now")
        }
    }

    /// A passcode that has been checked, or none.
    private final class KeptPasscode {
        private let secret: SecretBytes?

        init(_ secret: consuming SecretBytes?) { self.secret = secret }

        func copy() -> SecretBytes? {
            switch secret {
            case .some(let secret): secret.copy()
            case .none: nil
            }
        }
    }
}

extension KeychainFailure {
    /// The failure of the chip that holds the key of the device; nil if the chip is not the cause.
    fileprivate var chip: ChipFailure? {
        if case .cryptography(.chip(let failure)) = error { failure } else { nil }
    }
}
