internal import ByteStreams
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains
internal import SecurityStatus

extension Command {
    static let lockKeychain = Command(
        "lock-keychain", "Lock keychains.", flags: [Flag("a", .none, "Lock all keychains of the search list")],
        operands: "[keychain...]", notes: ["Without a keychain, the default one is locked."]
    ) { words, session in
        if words.has("a") {
            if !words.operands.isEmpty { throw UsageProblem(reason: "-a means all keychains") }
            let keychains = try session.calling("SecKeychainLockAll") { try session.searched([]) }
            for keychain in keychains {
                try session.calling("SecKeychainLockAll \(keychain.name)") { try session.lock(keychain) }
            }
            return .ok
        }
        let names = words.operands.isEmpty ? [nil] : words.operands.map(Optional.some)
        for name in names {
            try session.calling("SecKeychainLock \(name ?? "<NULL>")") {
                try session.lock(session.namedOrDefault(name))
            }
        }
        return .ok
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
            Flag("u", .none, "Lock it after a time without use, which -t gives"),
            Flag("t", .value("seconds"), "That time (implies -u); it never locks so where none is given"),
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
            // Scripts look at whether this fails, to see whether a keychain is locked.
            try session.unlock(keychain, local, for: .whenUnlocked)
            return keychain.lockSettings
        }
        let sleep = settings.lockOnSuspend ? " lock-on-sleep" : ""
        let timeout = settings.lockAfter.map { " timeout=\($0)s" } ?? " no-timeout"
        session.message("Keychain \"\(session.told(name))\"\(sleep)\(timeout)\n")
        return .ok
    }
}

extension Session {
    fileprivate func lock(_ local: LocalKeychain) throws {
        let keychain = try open(local)
        try world.keychainSession.lock(keychain)
        if !keychain.hasPasscode { note("\(told(local.name)) has no password, so it is never locked") }
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
            try unlock(keychain, password: askForPassword("password to unlock \(promptName(local)): "))
        }
        if keychain.hasPasscode { try noteRefusal(keychain) }
    }
}
