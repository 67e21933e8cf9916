internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCPasscodeStrength
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The options for the secret of a new item.
struct NewSecretOptions: ParsableArguments {
    @OptionGroup
    var given: SecretOptions

    @OptionGroup
    var making: GenerateOptions

    @Flag(name: OptionName.noSecret.name, help: "Add an item that has no secret.")
    var noSecret = false

    /// The chosen source of the secret.
    enum Choice {
        case none
        case generated(length: Int)
        case given
        /// The user types it twice.
        case asked
    }

    /// Returns the chosen source; the user is asked only for passwords, since certificates and keys are not typed.
    func choice(for itemClass: ItemClass, in session: Session) throws(UsageProblem) -> Choice {
        let options: [(OptionName, Bool)] = [
            (.secret, given.secret != nil), (.secretFile, given.secretFile != nil), (.generate, making.generate),
            (.noSecret, noSecret),
        ]
        let chosen = options.filter(\.1).map(\.0)
        if chosen.count > 1 { throw .together(chosen[0], chosen[1]) }
        let length = try making.wantedLength()
        if noSecret { return .none }
        if given.isGiven { return .given }
        if let length { return .generated(length: length) }
        let isPassword = itemClass == .genericPassword || itemClass == .internetPassword
        guard isPassword, session.world.terminal.isAttended else {
            throw UsageProblem(
                "no secret is given for the item",
                hint: "use '\(OptionName.secret.spelling) SOURCE', '\(OptionName.secretFile.spelling) FILE', "
                    + "'\(OptionName.generate.spelling)' or '\(OptionName.noSecret.spelling)'")
        }
        return .asked
    }

    /// Returns the secret; nil for none.
    ///
    /// - Throws: as `SecretOptions.read`, `CryptographyFailure`.
    func read(_ choice: Choice, isPublic: Bool, in session: Session) throws -> SecretBytes? {
        switch choice {
        case .none: return nil
        case .generated(let length): return try GeneratedPassword.make(length: length)
        case .given: return try given.read(isPublic: isPublic, in: session)
        case .asked: return try SecretOptions.read(from: .terminal, in: session)
        }
    }
}

/// The options for a made-up secret.
struct GenerateOptions: ParsableArguments {
    // Not an option with an optional value: given `--generate=64 --json`, the parser (1.8.2) silently drops the 64.
    @Flag(name: OptionName.generate.name, help: "Make up a random secret, and do not show it.")
    var generate = false

    @Option(
        name: OptionName.length.name,
        help: ArgumentHelp(
            "The characters of the made-up secret. (default: \(GeneratedPassword.defaultLength))", valueName: "number"))
    var length: String?

    /// Returns the number of characters; nil if no secret is to be made up.
    func wantedLength() throws(UsageProblem) -> Int? {
        if !generate {
            if length != nil { throw .needs(.length, .generate) }
            return nil
        }
        guard let length else { return GeneratedPassword.defaultLength }
        let range = GeneratedPassword.lengths
        guard let number = Int(length), range.contains(number) else {
            throw .malformed(.length, form: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// The options for the secret of one item.
struct SecretOptions: ParsableArguments {
    @Option(
        name: OptionName.secret.name,
        help: ArgumentHelp("Where the secret comes from: one line of text.", valueName: "source"))
    var secret: SecretSource?

    @Option(
        name: OptionName.secretFile.name,
        help: ArgumentHelp("A file that is the secret, byte for byte.", valueName: "file"),
        completion: .file())
    var secretFile: String?

    /// True if either option was given.
    var isGiven: Bool { secret != nil || secretFile != nil }

    /// Reads the secret; nil if none was given.
    ///
    /// - Parameter isPublic: true for certificates, whose files may be readable by others.
    /// - Throws: the errors of `SecretInput`, `FileFailure`, `UsageProblem` (`together`).
    func read(isPublic: Bool, in session: Session) throws -> SecretBytes? {
        if let secretFile {
            if secret != nil { throw UsageProblem.together(.secret, .secretFile) }
            let path = session.machine.resolve(secretFile)
            return try isPublic
                ? PrivateFile.readPublic(path, limit: ItemLimits.secretSize)
                : PrivateFile.read(path, limit: ItemLimits.secretSize)
        }
        guard let secret else { return nil }
        return try Self.read(from: secret, in: session)
    }

    /// Reads the secret from one source.
    ///
    /// - Throws: the errors of `SecretInput`.
    static func read(from source: SecretSource, in session: Session) throws -> SecretBytes? {
        try session.context.secrets.new(
            WantedSecret(.itemSecret, .secret, from: source))
    }
}
