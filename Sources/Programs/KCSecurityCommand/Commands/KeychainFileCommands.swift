internal import KCByteStreams
internal import KCConsole
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

extension Command {
    static let createKeychain = Command(
        "create-keychain", "Make keychains.",
        flags: [
            Flag(
                "p", .secret("password"), "The password; an empty one makes a keychain that needs none on this device"),
            Flag("P", .none, "Ask for the password, as without -p"),
        ],
        operands: "[keychain...]",
        notes: [
            "Without a keychain, its name is asked for. New ones are searched.",
            "Other users can see a password on the command line: leave -p out, to be asked for it.",
        ]
    ) { words, session in
        try session.createKeychains(words)
    }

    static let deleteKeychain = Command(
        "delete-keychain", "Delete keychains with all their items, without a question.", operands: "keychain..."
    ) { words, session in
        if words.operands.isEmpty { throw UsageProblem() }
        for word in words.operands {
            try session.calling("SecKeychainDelete") { try session.deleteKeychain(session.named(word)) }
        }
        return .ok
    }
}

extension Session {
    fileprivate func createKeychains(_ words: Words) throws -> ExitStatus {
        if words.has("P"), words.has("p") { throw UsageProblem(reason: "-p and -P exclude each other") }
        let given = try password(words, "p")
        var names = words.operands
        if names.isEmpty {
            names = [
                try calling("SecKeychainCreate") {
                    guard world.terminal.isAttended else { throw SecurityStatus.interactionNotAllowed }
                    return try world.terminal.readAnswer("keychain to create: ")
                }
            ]
        }
        for name in names {
            try calling("SecKeychainCreate \(name)") {
                let local = try named(name)
                // Check before the user types a password; creating the keychain checks again.
                if try Path.exists(local.path) { throw SecurityStatus.duplicateKeychain }
                switch given {
                case .some(let password): try create(local, password.copy())
                case .none:
                    try quietly {
                        try create(
                            local,
                            askForNewPassword("password for new keychain: ", "retype password for new keychain: "))
                    }
                }
            }
        }
        return .ok
    }

    private func create(_ local: LocalKeychain, _ password: consuming SecretBytes) throws {
        // Read the lists first: a keychain that cannot be added to them must not be created.
        _ = try KeychainLists.load(from: world.dataFolder)
        var passcode: SecretBytes? = password
        if passcode?.isEmpty == true {
            passcode = nil
            warnOfNoPassword()
        }
        let new = NewKeychain(
            local, in: world.dataFolder, on: world.device, cost: world.cost, now: now, isSearched: true)
        // From here on the keychain exists, even if something fails.
        if let failure = try new.make(passcode: passcode).notListed {
            note(
                "\(shownInMessages(local.name)) was made, and is not searched: \(cause(failure).status.message)",
                evenIfQuiet: true
            )
        }
        // A new keychain is unlocked, as on macOS.
        do {
            let keychain = try open(local)
            try world.keychainSession.unlock(keychain, passcode: passcode, now: now)
        } catch {
            let reason = Cause(sorting: error).status.message
            note("\(shownInMessages(local.name)) was made, and is locked: \(reason)", evenIfQuiet: true)
        }
    }

    fileprivate func deleteKeychain(_ local: LocalKeychain) throws {
        guard try Path.exists(local.path) else { throw SecurityStatus.noSuchKeychain }
        let remains = try local.delete(
            openForDeletion(local), endingIn: world.keychainSession, lists: world.dataFolder, now: now)
        for remains in remains {
            switch remains {
            case .kernelKeys: note("its keys may stay in the memory of the kernel until they expire", evenIfQuiet: true)
            case .file(let failure):
                note(
                    "deleted, but a file beside it could not be removed: \(shownInMessages(failure.path))",
                    evenIfQuiet: true)
            case .states(let states):
                note("deleted, but \(wordsOfKept(states))", evenIfQuiet: true)
            case .lists(let failure):
                note("deleted, but still on the lists: \(cause(failure).status.message)", evenIfQuiet: true)
            }
        }
    }

    /// Which states were not removed, and where they are.
    func wordsOfKept(_ kept: KeptStates.Doubtful) -> String {
        "\(kept.count) of its earlier states may be of a copy, and stayed in \(shownInMessages(kept.folder))"
    }

    /// Opens the keychain; returns nil if it can never be opened here, since it must still be possible to delete it.
    ///
    /// A path can lead to any file, so the file is removed only if it is a keychain of this program.
    private func openForDeletion(_ local: LocalKeychain) throws -> Keychain? {
        do {
            return try open(local)
        } catch let error as KeychainStoreError where local.isNamed {
            switch error {
            case .damaged, .notAKeychain, .severalNames, .foreignJournal, .otherDevice: return nil
            default: throw error
            }
        }
    }
}
