internal import LocalKeychains
internal import ArgumentParser
internal import ByteStreams
internal import KeychainStore

/// Which keychain, and what opens it.
struct KeychainOptions: ParsableArguments {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: login, unless 'security default-keychain' set another)",
            valueName: "name|path"))
    var keychain: String?

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the keychain comes from.", valueName: "source"))
    var passcode: SecretSource?

    /// Opens the keychain without its passcode.
    func open(in session: Session) throws -> Keychain {
        try LocalKeychain(keychain, in: session.world).open(in: session)
    }

    /// Opens the keychain and all its class keys.
    func openUnlocked(in session: Session) throws -> Keychain {
        let keychain = try open(in: session)
        try unlock(keychain, in: session)
        return keychain
    }

    /// Opens all class keys of a keychain, asking for the passcode if there is one.
    func unlock(_ keychain: Keychain, in session: Session) throws {
        if let passcode, passcode == .unknown { throw SecretProblem.notASource(.passcode) }
        guard keychain.hasPasscode else { return try keychain.unlock(passcode: nil, now: session.now) }
        let secret: SecretBytes? = try session.secrets.existing(
            WantedSecret(what: passcodeWords(session.subjects.keychain), flag: .passcode, source: passcode))
        try keychain.unlock(passcode: secret, now: session.now)
    }

    /// Opens all class keys only if that takes no question: with a source, or without a passcode.
    func unlockIfGiven(_ keychain: Keychain, in session: Session) throws {
        if passcode != nil || !keychain.hasPasscode { try unlock(keychain, in: session) }
    }
}

/// The name of a passcode in a sentence.
func passcodeWords(_ keychain: String?) -> String {
    keychain.map { "passcode of keychain \(quoted($0))" } ?? "passcode"
}
