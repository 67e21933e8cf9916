package import ArgumentParser
package import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// The option for the keychain, of a verb that also works on the desktop keyring.
package struct StoreNameOption: ParsableArguments {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: see 'keychain default')",
            valueName: "name|path"),
        completion: KnownNames.readableStores)
    package var keychain: String?

    package init() {}
}

/// The options for the keychain and its passcode, of a verb that also works on the desktop keyring.
package struct KeychainOptions: ParsableArguments, KeychainChoice {
    @OptionGroup
    package var store: StoreNameOption

    @OptionGroup
    package var passcodeOption: PasscodeOption

    package init() {}

    package var keychain: String? {
        get { store.keychain }
        set { store.keychain = newValue }
    }
}

/// The options for the keychain and its passcode, of a verb that works on keychains alone.
package struct LocalKeychainOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.keychain.name,
        help: ArgumentHelp(
            "The keychain: a name, or a path with a '/'. (default: see 'keychain default')", valueName: "name|path"),
        completion: KnownNames.keychains)
    package var keychain: String?

    @OptionGroup
    package var passcodeOption: PasscodeOption

    package init() {}
}

/// The options for the store that an import goes to, and its passcode.
package struct ImportTargetOptions: ParsableArguments, KeychainChoice {
    @Option(
        name: OptionName.into.name,
        help: ArgumentHelp(
            "'secret-service:' for the desktop keyring, or a keychain: a name, or a path with a '/'. (default: the default keychain)",
            valueName: "name|path"),
        completion: KnownNames.keychainsAndKeyring)
    package var keychain: String?

    @OptionGroup
    package var passcodeOption: PasscodeOption

    package init() {}
}

/// A keychain that the user may have named, and its passcode.
package protocol KeychainChoice {
    /// The keychain as the user named it.
    var keychain: String? { get }
    var passcodeOption: PasscodeOption { get }
}

extension KeychainChoice {
    /// Where the passcode comes from, if it was given.
    package var passcode: SecretSource? { passcodeOption.passcode }

    /// Opens the keychain without its passcode.
    package func open(in session: Session) throws -> Keychain {
        try passcodeOption.open(LocalKeychain(keychain, in: session.machine), in: session)
    }
}

/// Where the passcode of a keychain comes from, and what it opens.
package struct PasscodeOption: ParsableArguments {
    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the passcode of the keychain comes from.", valueName: "source"))
    package var passcode: SecretSource?

    package init() {}

    package init(_ passcode: SecretSource?) { self.passcode = passcode }

    /// Opens a keychain without its passcode, which the run is about from then on; a passcode that it does not need is
    /// noted.
    package func open(_ local: LocalKeychain, in session: Session) throws -> Keychain {
        session.subject.store = local.name
        return try session.context.open(local, passcode: passcode)
    }
}
