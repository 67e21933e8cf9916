internal import ArgumentParser
internal import KCItemSources
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

/// The kinds of what items are read from.
enum SubjectKind {
    case keychain, keyring, file

    /// The options that some kinds lack, and the kinds that have them.
    private static let kinds: [OptionName: [SubjectKind]] = [
        .escrow: [.keychain], .skipLocked: [.keyring], .unlock: [.keyring], .from: [.file], .password: [.file],
        .keyFile: [.file], .passcode: [.keychain, .keyring], .unencrypted: [.keychain, .keyring],
    ]

    /// Refuses options that this kind lacks.
    func check(_ given: [OptionName]) throws(UsageProblem) {
        for option in given {
            guard let kinds = Self.kinds[option], !kinds.contains(self) else { continue }
            switch (kinds, self) {
            case ([.file], _): throw .needsFile(option)
            case ([.keyring], _): throw .needsDesktop(option)
            case (_, .file):
                throw UsageProblem(
                    "'\(option.spelling)' needs a keychain, and 'file:…' names a file of items",
                    hint: "leave out '\(option.spelling)', or import the file first: 'kcbackup import'")
            case (_, .keyring), (_, .keychain): throw .notOfDesktop(option)
            }
        }
    }
}

/// The options about what items are read from, as far as a command has them.
struct SubjectOptions {
    var passcodeOption: PasscodeOption
    var unlocking: UnlockOptions
    var foreign: ForeignOptions
    var escrow: EscrowSource?
    /// True to leave out what is locked; nil for a command that cannot.
    var skipLocked: Bool?
    var unencrypted = false
    /// True if an archive is made.
    var isForArchive = false

    /// The options of a command that has only these.
    init(_ passcodeOption: PasscodeOption, _ unlocking: UnlockOptions) throws {
        self.passcodeOption = passcodeOption
        self.unlocking = unlocking
        foreign = try ForeignOptions.parse([])
    }

    /// The options that were given.
    var given: [OptionName] {
        let given: [(Bool, OptionName)] = [
            (escrow != nil, .escrow), (skipLocked == true, .skipLocked), (unlocking.unlock, .unlock),
            (foreign.from != nil, .from), (foreign.password != nil, .password), (foreign.keyFile != nil, .keyFile),
            (passcodeOption.passcode != nil, .passcode), (unencrypted, .unencrypted),
        ]
        return given.compactMap { $0 ? $1 : nil }
    }

    /// Makes the secrets of a keychain readable, with the escrow key, the session or the passcode.
    func unlocked(_ keychain: Keychain, in session: Session) throws -> any StoredItemSource {
        guard let escrow else {
            try passcodeOption.unlock(keychain, in: session)
            return keychain
        }
        if keychain.hasPasscode { return try escrow.open(keychain, in: session) }
        // Name the keychain, since one job may back up several.
        let name = session.subjects.keychain.map { " \(quoted($0))" } ?? ""
        session.note("keychain\(name) has no passcode, so '\(OptionName.escrow.spelling)' is not read")
        try keychain.unlock(passcode: nil, now: session.now)
        return keychain
    }
}
