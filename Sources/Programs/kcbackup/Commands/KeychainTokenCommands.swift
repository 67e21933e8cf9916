internal import ArgumentParser
internal import KCAsking
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecurityTokens
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain token`: manages the security tokens of a keychain.
struct KeychainTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Let security tokens open items that ask each time.",
        subcommands: [
            KeychainTokenAddCommand.self, KeychainTokenListCommand.self, KeychainTokenRemoveCommand.self,
        ])
}

/// `kcbackup keychain token add`.
struct KeychainTokenAddCommand: Verb {
    static let mainOptions: [OptionName] = [.passcode]

    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Enroll a security token, which opens 'user-presence' items.",
        discussion: """
            While the keychain is unlocked, a touch of the token then takes the place of the passcode for items with \
            '--access user-presence', where there is a terminal. The passcode still opens them too, and it alone opens \
            items with '--access device-passcode' and a keychain that is locked. The token must have FIDO2 with \
            'hmac-secret', and be the only one that is connected now; it is touched twice. It stays valid when the \
            passcode is changed.

            EXAMPLES:
              kcbackup keychain token add blue
              kcbackup keychain token add spare --keychain work \\
                --passcode file:passcode
            """)

    @Argument(help: ArgumentHelp("What to call the token.", valueName: "token"))
    var token: String

    @OptionGroup
    var options: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let name = try TokenName.given(token)
        let local = try LocalKeychain(options.keychain, in: session.machine)
        let keychain = try session.open(local)
        do throws(KeybagFailure) {
            try keychain.keybag.requirePlace(forToken: name)
        } catch {
            throw KeychainStoreError(error)
        }
        let connected = try session.machine.tokens.connected()
        guard let device = connected.first else { throw TokenFailure.noToken }
        if connected.count > 1 {
            throw Refusal(
                .refused, "several security tokens are connected, and one of them is meant",
                hint: "take out the others, and try again")
        }
        let unlocked = session.machine.unlocked
        let wanted = WantedSecret(.passcode(keychain: local.name), .passcode, from: options.passcode)
        let passcode = try session.context.trying(wanted, of: keychain) { secret in
            try unlocked.unlock(keychain, passcode: secret.copy(), now: session.machine.clock(), keepsSession: false)
            return secret.copy()
        }
        let handle = try handle(of: device, in: session)
        try session.context.asking.touch(.again)
        let secret = try session.context.secret(of: handle)
        try keychain.enrollToken(name, handle, secret: secret, passcode: passcode, now: session.now)
        session.noteDone(
            "the security token \(quoted(name.text)) opens 'user-presence' items of keychain \(quoted(local.name))")
        if style.json {
            let found = try keychain.information()
            try session.result(["keychain": .keychain(local, found)], [])
        }
        return .ok
    }

    /// Makes a credential on the token.
    private func handle(of device: SecurityToken, in session: Session) throws -> TokenHandle {
        try session.context.asking.touch(.blinking)
        let salt = try RandomBytes.bytes(count: TokenHandle.saltSize)
        let credential = try session.context.quietly(nil) {
            try session.machine.tokens.enrol(device, .touch) { left in
                guard session.world.terminal.isAttended else { throw TokenFailure.pinNeeded }
                let tries = left.map { " (\(counted($0, "try", plural: "tries")))" } ?? ""
                return try session.world.terminal.readSecret("Enter the PIN of the security token\(tries): ")
            }
        }
        guard let handle = TokenHandle(credential: credential.id, publicKey: credential.publicKey, salt: salt) else {
            throw TokenFailure.wrongAnswer
        }
        return handle
    }
}

/// `kcbackup keychain token list`.
struct KeychainTokenListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the security tokens of a keychain.",
        discussion: """
            EXAMPLES:
              kcbackup keychain token list
              kcbackup keychain token list work
            """)

    @OptionGroup
    var operand: KeychainOperand

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let tokens = try session.open(operand.local(in: session)).keybag.tokens
        var table = Table([Table.Column(title: "TOKEN", least: 8), Table.Column(title: "SINCE")])
        for token in tokens { table.append([token.name.text, session.calendar.moment(token.since)]) }
        try session.result(
            ["tokens": .tokens(tokens)], table.isEmpty ? [] : table.lines(width: session.tableWidth))
        return .ok
    }
}

/// `kcbackup keychain token remove`.
struct KeychainTokenRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a security token from a keychain.",
        discussion: """
            Needs neither the token nor the passcode. An earlier copy of the keychain still opens with the token on \
            this device: if both may have been copied or stolen, also set a new passcode, which makes new keys for \
            everything added later.

            EXAMPLES:
              kcbackup keychain token remove blue
              kcbackup keychain token remove spare --keychain work
            """)

    @Argument(help: ArgumentHelp("The token, as 'keychain token list' shows it.", valueName: "token"))
    var token: String

    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: see 'keychain default')", valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let name = try TokenName.given(token)
        let local = try LocalKeychain(keychain, in: session.machine)
        let keychain = try session.open(local)
        try keychain.removeToken(name)
        session.noteDone("the security token \(quoted(name.text)) opens nothing of keychain \(quoted(local.name)) now")
        session.note("if it was stolen together with the keychain, also run 'kcbackup keychain set-passcode'")
        if style.json {
            let found = try keychain.information()
            try session.result(["keychain": .keychain(local, found)], [])
        }
        return .ok
    }
}

extension TokenName {
    /// The name that was given on the command line.
    fileprivate static func given(_ text: String) throws(UsageProblem) -> TokenName {
        guard let name = TokenName(text) else {
            throw UsageProblem(
                "the name of a security token has 1 to 64 bytes: letters, digits, '.', '_', '-' and blanks, and begins with a "
                    + "letter, a digit or '_'")
        }
        return name
    }
}

extension JSONValue {
    /// Returns the list of token objects described in docs/json.md ("Parts").
    static func tokens(_ tokens: [TokenRecord]) -> JSONValue {
        .list(tokens.map { ["name": .text($0.name.text), "since": .text($0.since.description)] })
    }
}
