internal import KCByteStreams
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

extension Command {
    static let lockKeychain = Command(
        "lock-keychain", "Lock keychains.", flags: [Flag("a", .none, "Lock all keychains of the search list")],
        operands: "[keychain...]", notes: ["Without a keychain, the default one is locked."]
    ) { words, session in
        if words.has("a") {
            if !words.operands.isEmpty { throw UsageProblem(reason: "-a means all keychains") }
            let keychains = try session.calling("SecKeychainLockAll") { try session.searched([]) }
            return session.lockEach(of: keychains, api: { "SecKeychainLockAll \($0.name)" }, { $0 })
        }
        let names = words.operands.isEmpty ? [nil] : words.operands.map(Optional.some)
        return session.lockEach(
            of: names, api: { "SecKeychainLock \($0 ?? "<NULL>")" }, { try session.namedOrDefault($0) })
    }

    static let unlockKeychain = Command(
        "unlock-keychain", "Unlock a keychain, for later commands too.",
        flags: [
            Flag("u", .none, "Ask for no password: succeed only if it is unlocked"),
            Flag("p", .secret("password"), "The password"),
        ],
        operands: "[keychain]",
        notes: [
            "Without a keychain, the default one is unlocked.",
            "Other users can see a password on the command line: leave -p out, to be asked for it.",
        ]
    ) { words, session in
        if words.operands.count > 1 { throw UsageProblem() }
        if words.has("u"), words.has("p") { throw UsageProblem(reason: "-u and -p exclude each other") }
        try session.calling("SecKeychainUnlock \(words.operands.first ?? "<NULL>")") {
            try session.unlockKeychain(words)
        }
        return .ok
    }

    static let setKeychainSettings = Command(
        "set-keychain-settings", "Set when a keychain locks by itself.",
        flags: [
            Flag("l", .none, "Lock it when the machine sleeps"),
            Flag("u", .none, "Lock it after the time without use that -t gives"),
            Flag("t", .value("seconds"), "The time in seconds (implies -u); without -t it never locks from disuse"),
        ],
        operands: "[keychain]"
    ) { words, session in
        if words.operands.count > 1 { throw UsageProblem() }
        var seconds: Int?
        if let word = words.value("t") {
            guard let number = Int(word), LockSettings.range.contains(number) else {
                throw UsageProblem(reason: "the value of -t is not a number of seconds between 1 and a year")
            }
            seconds = number
        }
        guard let settings = LockSettings(lockAfter: seconds, lockOnSuspend: words.has("l")) else {
            throw UsageProblem()
        }
        try session.calling("SecKeychainSetSettings \(words.operands.first ?? "<NULL>")") {
            let local = try session.namedOrDefault(words.operands.first)
            let keychain = try session.open(local)
            try session.unlock(keychain, local, for: .whenUnlocked)
            try session.world.keychainSession.setLockSettings(settings, of: keychain)
        }
        return .ok
    }

    static let showKeychainInfo = Command(
        "show-keychain-info", "Show when a keychain locks by itself, on standard error.", operands: "[keychain]",
        notes: ["As on macOS, the keychain has to be unlocked."]
    ) { words, session in
        if words.operands.count > 1 { throw UsageProblem() }
        let name = words.operands.first ?? "<NULL>"
        let settings = try session.calling("SecKeychainCopySettings \(name)") {
            let local = try session.namedOrDefault(words.operands.first)
            let keychain = try session.open(local)
            // Scripts use this failure to find out whether a keychain is locked.
            try session.unlock(keychain, local, for: .whenUnlocked)
            return keychain.lockSettings
        }
        let sleep = settings.lockOnSuspend ? " lock-on-sleep" : ""
        let timeout = settings.lockAfter.map { " timeout=\($0)s" } ?? " no-timeout"
        session.message("Keychain \"\(session.shownInMessages(name))\"\(sleep)\(timeout)\n")
        return .ok
    }
}

extension Session {
    /// Locks one keychain after the other; a failure is reported and does not keep the others from being locked.
    ///
    /// - Returns: `ok`, or the status of the first failure.
    fileprivate func lockEach<Word>(
        of words: [Word], api: (Word) -> String, _ find: (Word) throws -> LocalKeychain
    ) -> ExitStatus {
        var status = ExitStatus.ok
        for word in words {
            do {
                try lock(find(word))
            } catch {
                let failure = Failure(error, api: api(word))
                message(failure.lines(shownInMessages))
                if status == .ok { status = failure.exit }
            }
        }
        return status
    }

    private func lock(_ local: LocalKeychain) throws {
        let keychain = try open(local)
        guard keychain.hasPasscode else {
            return note("\(shownInMessages(local.name)) has no password, so it is never locked", evenIfQuiet: true)
        }
        try world.keychainSession.lock(keychain)
    }

    fileprivate func unlockKeychain(_ words: Words) throws {
        let given = try password(words, "p")
        let local = try namedOrDefault(words.operands.first)
        let keychain = try open(local)
        if words.has("u") {
            let state = try world.keychainSession.resume(keychain)
            if state != .unlocked { throw SecurityStatus.interactionNotAllowed }
            return
        }
        switch given {
        case .some(let password): try unlock(keychain, password: password.copy())
        case .none:
            if !keychain.hasPasscode { return }
            try askAndUnlock(keychain, local)
        }
        if keychain.hasPasscode { try noteRefusal(keychain) }
    }
}
