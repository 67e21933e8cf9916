internal import ArgumentParser
internal import KCAsking
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

/// The kinds of stores.
enum StoreKind {
    case keychain, keyring, file, home

    /// The options that some kinds lack, and the kinds that have them.
    private static let kinds: [OptionName: [StoreKind]] = [
        .escrow: [.keychain], .skipLocked: [.keyring], .unlock: [.keyring], .from: [.file], .password: [.file],
        .keyFile: [.file], .passcode: [.keychain, .keyring], .unencrypted: [.keychain, .keyring, .home],
        .acceptMissing: [.home], .replace: [.keychain, .keyring, .file], .replaceUnarchived: [.keychain],
        .giveUpDeviceBinding: [.keyring], .noPasscode: [.keychain], .removeFromFile: [.keychain],
    ]

    /// What wins where an item is there already, unless the user says it.
    ///
    /// The date of a file says when it was copied or touched, and not which one is right.
    var conflictPolicy: ConflictPolicy { self == .home ? .keep : .newer }

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
    var passcodeOption: PasscodeOption
    var unlocking: UnlockOptions
    /// What opens a file; nil for a command that has no options for that, whose passcode is the password of the file.
    var file: FileAccess?
    var escrow: SecretSource?
    /// True to leave out what is locked; nil for a command that cannot.
    var skipLocked: Bool?
    /// What may be missing in an archive of a home, as the user named it.
    var acceptMissing: [String] = []
    /// The key file of another program's file, for a command without `file`.
    var keyFile: String?
    /// True if another file needs what opens a file, so that this one need not.
    var isOneOfTwo = false
    var unencrypted = false
    var replace = false
    var replaceUnarchived = false
    var giveUpDeviceBinding = false
    /// True to make a keychain that does not exist without a passcode.
    var noPasscode = false
    /// True if an archive is made.
    var isForArchive = false

    /// The options of a command that has only these.
    init(_ passcodeOption: PasscodeOption, _ unlocking: UnlockOptions) {
        self.passcodeOption = passcodeOption
        self.unlocking = unlocking
    }

    /// The options of a backup.
    init(_ request: BackupRequest, _ unlocking: UnlockOptions) {
        self.init(PasscodeOption(request.access.key.passcode), unlocking)
        file = request.access.file
        escrow = request.access.key.escrow
        skipLocked = request.access.skipsLocked
        acceptMissing = request.access.acceptMissing
        unencrypted = request.isUnencrypted
        isForArchive = true
    }

    /// The options that were given.
    var given: [OptionName] {
        let given: [(Bool, OptionName)] = [
            (escrow != nil, .escrow), (skipLocked == true, .skipLocked), (unlocking.unlock, .unlock),
            (file?.format != nil, .from), (file?.password != nil, .password),
            ((file?.keyFile ?? keyFile) != nil, .keyFile), (!acceptMissing.isEmpty, .acceptMissing),
            (file != nil && passcodeOption.passcode != nil, .passcode), (unencrypted, .unencrypted),
            (replace, .replace), (replaceUnarchived, .replaceUnarchived), (giveUpDeviceBinding, .giveUpDeviceBinding),
            (noPasscode, .noPasscode),
        ]
        return given.compactMap { $0 ? $1 : nil }
    }

    /// How a file is opened, and the option that says where its password comes from.
    var ofFile: (access: FileAccess, passwordField: SecretField) {
        if let file { return (file, .password) }
        return (FileAccess(password: passcodeOption.passcode, keyFile: keyFile), .passcode)
    }

    /// Makes secrets readable, with the escrow key, the session or the passcode.
    func unlocked(
        _ keychain: Keychain, for needed: NeededSecrets, in session: Session
    ) throws -> any StoredItemSource {
        guard let escrow else {
            try passcodeOption.unlock(keychain, for: needed, in: session)
            return keychain
        }
        if keychain.hasPasscode { return try session.open(keychain, withEscrowKey: escrow) }
        // Name the keychain, since one job may back up several.
        let name = session.subject.store.map { " \(quoted($0))" } ?? ""
        session.note("keychain\(name) has no passcode, so '\(OptionName.escrow.spelling)' is not read")
        try keychain.unlock(passcode: nil, now: session.now)
        return keychain
    }
}
