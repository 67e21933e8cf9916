internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The option for the keychain, of a verb that also works on the desktop keyring.
struct StoreNameOption: ParsableArguments {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: see 'keychain default')",
            valueName: "name|path"),
        completion: KnownNames.readableStores)
    var keychain: String?
}

/// The options for the keychain and its passcode, of a verb that also works on the desktop keyring.
struct KeychainOptions: ParsableArguments, KeychainChoice {
    @OptionGroup
    var store: StoreNameOption

    @OptionGroup
    var passcodeOption: PasscodeOption

    var keychain: String? {
        get { store.keychain }
        set { store.keychain = newValue }
    }
}

/// The options for the keychain and its passcode, of a verb that works on keychains alone.
struct LocalKeychainOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: see 'keychain default')", valueName: "name|path"),
        completion: KnownNames.keychains)
    var keychain: String?

    @OptionGroup
    var passcodeOption: PasscodeOption
}

/// The options for the store that an import goes to, and its passcode.
struct ImportTargetOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.into.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: the default keychain)",
            valueName: "name|path"),
        completion: KnownNames.keychainsAndKeyring)
    var keychain: String?

    @OptionGroup
    var passcodeOption: PasscodeOption
}

/// A keychain that the user may have named, and its passcode.
protocol KeychainChoice {
    /// The keychain as the user named it.
    var keychain: String? { get }
    var passcodeOption: PasscodeOption { get }
}

extension KeychainChoice {
    /// Where the passcode comes from, if it was given.
    var passcode: SecretSource? { passcodeOption.passcode }

    /// Opens the keychain without its passcode.
    func open(in session: Session) throws -> Keychain {
        try passcodeOption.open(LocalKeychain(keychain, in: session.machine), in: session)
    }
}

/// Where the passcode of a keychain comes from, and what it opens.
struct PasscodeOption: ParsableArguments {
    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the keychain comes from.", valueName: "source"))
    var passcode: SecretSource?

    init() {}

    init(_ passcode: SecretSource?) { self.passcode = passcode }

    /// Opens a keychain without its passcode, which the run is about from then on; a passcode that it does not need is
    /// noted.
    func open(_ local: LocalKeychain, in session: Session) throws -> Keychain {
        session.subject.store = local.name
        return try session.context.open(local, passcode: passcode)
    }
}
