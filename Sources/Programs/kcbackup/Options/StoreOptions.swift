internal import KCAsking
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText
internal import KCStoreTasks

extension StoreKind {
    /// The options that some kinds lack, and the kinds that have them.
    private static let kinds: [OptionName: [StoreKind]] = [
        .escrow: [.keychain], .skipLocked: [.keyring], .unlock: [.keyring], .from: [.file], .password: [.file],
        .keyFile: [.file], .passcode: [.keychain, .keyring], .unencrypted: [.keychain, .keyring, .home],
        .acceptMissing: [.home], .replace: [.keychain, .keyring, .file], .replaceUnarchived: [.keychain],
        .giveUpDeviceBinding: [.keyring], .noPasscode: [.keychain], .removeFromFile: [.keychain],
    ]

    /// Refuses options that this kind lacks.
    func check(_ given: [OptionName]) throws(UsageProblem) {
        for option in given {
            guard let kinds = Self.kinds[option], !kinds.contains(self) else { continue }
            switch (kinds, self) {
            case ([.file], _): throw .needsFile(option)
            case ([.home], _): throw .needsHome(option)
            case ([.keyring], _): throw .needsDesktop(option)
            case (_, .file):
                throw UsageProblem(
                    "'\(option.spelling)' needs a keychain, and 'file:…' names a file of items",
                    hint: "leave out '\(option.spelling)', or import the file first: 'kcbackup import'")
            case (_, .home): throw .notOfHome(option)
            case (_, .keyring), (_, .keychain): throw .notOfDesktop(option)
            }
        }
    }
}

/// The options about a store, as far as a command has them.
struct StoreOptions {
    var access: StoreAccess
    var use = StoreUse.reading
    /// True if a file is opened by the options of its own; false for a command that has none, whose passcode is the
    /// password of the file.
    private var hasFileOptions = false
    var unencrypted = false
    var replace = false
    var replaceUnarchived = false
    var giveUpDeviceBinding = false
    /// True to make a keychain that does not exist without a passcode.
    var noPasscode = false

    /// The options of a command that has only these.
    ///
    /// - Parameter keyFile: the key file of another program's file.
    init(_ passcode: SecretSource?, _ unlocking: UnlockOptions, keyFile: String? = nil) {
        access = StoreAccess()
        access.key = .passcode(passcode)
        access.asksDesktop = unlocking.unlock
        access.file = FileAccess(password: passcode, keyFile: keyFile)
        access.file.passwordField = .passcode
    }

    /// The options of a backup.
    init(_ request: BackupRequest) {
        access = request.access
        use = .archiving
        hasFileOptions = true
        unencrypted = request.isUnencrypted
    }

    /// Opens a file with options of its own.
    mutating func useFileOptions(_ file: FileAccess) {
        access.file = file
        hasFileOptions = true
    }

    /// The options that were given.
    var given: [OptionName] {
        let passcode = access.key.passcode != nil
        let given: [(Bool, OptionName)] = [
            (access.key.escrow != nil, .escrow), (access.skipsLocked, .skipLocked), (access.asksDesktop, .unlock),
            (access.file.format != nil, .from), (hasFileOptions && access.file.password != nil, .password),
            (access.file.keyFile != nil, .keyFile), (!access.acceptMissing.isEmpty, .acceptMissing),
            (hasFileOptions && passcode, .passcode), (unencrypted, .unencrypted),
            (replace, .replace), (replaceUnarchived, .replaceUnarchived), (giveUpDeviceBinding, .giveUpDeviceBinding),
            (noPasscode, .noPasscode),
        ]
        return given.compactMap { $0 ? $1 : nil }
    }
}
