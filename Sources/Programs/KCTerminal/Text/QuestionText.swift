package import KCAgeEncryption
package import KCAgePlugins
package import KCAsking
package import KCByteStreams
package import KCConsole
internal import KCItemSources
internal import KCReportText

extension SecretQuestion {
    /// The secret for use in a sentence, such as "passcode of keychain 'login'".
    package var words: String {
        switch self {
        case .passcode(let keychain): passcodeWords(keychain)
        case .formerPasscode(let archive): "passcode that the keychain had when \(quoted(archive)) was made"
        case .collection(let label): "password of collection \(quoted(label))"
        case .passphraseOfNewArchive: "passphrase of the archive"
        case .passphraseOfNewFile: "passphrase of the file"
        case .passphrase(let file): "passphrase of \(quoted(file))"
        case .passphraseOfIdentities(let file): "passphrase of the identity file \(quoted(file))"
        case .passphraseOfRecipients(let file): "passphrase of the recipients file \(quoted(file))"
        case .passwordOfNewFile(let path): "password of \(quoted(path))"
        case .foreign(let password): password?.words ?? "password"
        case .escrowKey: "escrow key of the keychain"
        case .itemSecret: "secret of the item"
        }
    }

    /// A note for the prompt of a new secret, in parentheses.
    fileprivate var note: String {
        switch emptyAnswer {
        case .noSecret: " (empty for none)"
        case .generated: " (empty to generate one)"
        case nil: ""
        }
    }
}

extension SecretQuestion.Kind {
    package var words: String {
        switch self {
        case .passcode: "passcode"
        case .passphrase: "passphrase"
        case .password: "password"
        case .escrowKey: "escrow key"
        case .secret: "secret"
        }
    }
}

extension SecretField {
    /// The option that says where the secret comes from.
    package var option: OptionName {
        switch self {
        case .passcode: .passcode
        case .newPasscode: .newPasscode
        case .archivePasscode: .archivePasscode
        case .escrow: .escrow
        case .passphrase: .passphrase
        case .newPassphrase: .newPassphrase
        case .password: .password
        case .identityPassphrase: .identityPassphrase
        case .recipientsPassphrase: .recipientsPassphrase
        case .secret: .secret
        }
    }
}

extension SecretOddity {
    /// The warning, to follow the name of the secret.
    package var words: String {
        switch self {
        case .notText: "is not UTF-8 text, and may be impossible to type"
        case .invisible: "has invisible characters, and may be impossible to type"
        case .blank: "begins or ends with a blank, which is part of it"
        case .decomposed: "spells accented letters as letter and mark (NFD), as few keyboards do"
        }
    }
}

extension SecretDoubt {
    /// Returns advice, without showing the secret.
    package func words(_ kind: SecretQuestion.Kind) -> String {
        switch self {
        case .decomposed:
            "the \(kind.words) spells accented letters as letter and mark (NFD); was it set with whole letters (NFC)?"
        case .composed:
            "the \(kind.words) has accented letters (NFC); was it set where they are spelled as letter and mark (NFD)?"
        case .wait(let seconds): "the next try is possible in \(duration(seconds: seconds))"
        }
    }
}

/// The user's terminal as who answers questions.
package struct TerminalAsking: Asking {
    package let session: Session

    private var terminal: any Terminal { session.world.terminal }

    // A user who waits longer wonders whether anything happens.
    private static let patience = Duration.milliseconds(300)

    package var isAttended: Bool { terminal.isAttended }

    package func secret(_ question: SecretQuestion, after wrong: WrongAnswer?) throws(TerminalFailure) -> SecretBytes {
        var remark = ""
        if let wrong {
            remark =
                "Wrong \(wrong.kind.words); \(counted(wrong.triesLeft, "more try", plural: "more tries")).\n"
            if let doubt = wrong.doubt { remark += "(\(doubt.words(wrong.kind)))\n" }
        }
        return try terminal.readSecret("\(remark)Enter the \(question.words): ")
    }

    package func newSecret(_ question: SecretQuestion, differed: Int) throws(TerminalFailure) -> SecretBytes {
        let remark =
            switch differed {
            case 0: ""
            case 1: "They differ; try again.\n"
            default: "They differ again; one more try.\n"
            }
        return try terminal.readSecret("\(remark)Enter the new \(question.words)\(question.note): ")
    }

    package func newSecretAgain() throws(TerminalFailure) -> SecretBytes {
        try terminal.readSecretAgain("Enter it again: ")
    }

    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result { try terminal.quietly(body) }

    package func checking<Result: ~Copyable>(_ check: () throws -> Result) rethrows -> Result {
        if session.showsProgress { session.notice.begin("checking…", after: Self.patience) }
        defer { session.notice.end() }
        return try check()
    }

    package func touch(_ request: TouchRequest) throws(TerminalFailure) {
        guard isAttended else { return session.note(request.words) }
        try terminal.show(SecretBytes(copying: "\(request.words)\n".utf8))
    }

    package func recoveryKit() throws -> [NativeIdentity] { try session.typeKit() }

    package func show(generated secret: borrowing SecretBytes, _ kind: SecretQuestion.Kind) throws(TerminalFailure) {
        var text = SecretBytes("the \(kind.words), hyphens included, shown this once:\n".utf8.span)
        secret.withBytes { text.append($0) }
        text.append("\n".utf8.span)
        try terminal.show(text)
    }

    package func confirms(_ question: TaskQuestion) throws(TerminalFailure) -> Bool {
        switch question {
        case .noPasscode: try terminal.confirms("Make it without a passcode?")
        }
    }

    package func storeToBackUp(keychain: String, _ doubt: StoreDoubt) throws -> StoreAnswer {
        session.message(doubt.words(keychain: keychain) + "\n")
        while true {
            let answer = try terminal.readAnswer(
                "Back up the desktop keyring (d) or keychain \(quoted(keychain)) (k)? ")
            switch answer.lowercased() {
            case "d", "desktop": return .desktop
            case "k", "keychain": return .keychain
            case "": throw Refusal.declined
            default: session.message("type d or k, or nothing to stop\n")
            }
        }
    }

    package var pluginUser: any PluginUser { PluginPrompts(terminal: terminal, notice: session.notice) }

    package func follow(
        _ work: TaskWork, total: () throws -> UInt64?, done: (() -> UInt64)?
    ) rethrows -> any TaskProgress {
        let words =
            switch work {
            case .readingItems: "reading items"
            case .decryptingFiles: "decrypting files"
            case .archivingItems: "archiving items"
            case .checkingArchive: "checking the archive"
            case .verifyingItems: "verifying items"
            case .restoringForTrial: "restoring for a trial"
            }
        let total = try session.showsProgress ? total() : nil
        return Progress(words, of: total, in: session, done: total == nil ? nil : done)
    }
}

extension TouchRequest {
    fileprivate var words: String {
        switch self {
        case .named(let name): "Touch the security token \(quoted(name))."
        case .blinking: "Touch the security token when it blinks."
        case .again: "Touch it once more."
        }
    }
}

/// Returns the name of a passcode for use in a sentence.
package func passcodeWords(_ keychain: String?) -> String {
    keychain.map { "passcode of keychain \(quoted($0))" } ?? "passcode"
}

extension ForeignPassword {
    /// The name of the password.
    fileprivate var words: String {
        switch self {
        case .file(let kind): kind.passwordWords
        case .keyrings: "password of the keyrings"
        case .keyFile(let kind): "\(kind.passwordWords) that is the key file"
        }
    }
}

extension ForeignKind {
    fileprivate var passwordWords: String {
        switch self {
        case .gnomeKeyring: "password of the keyring"
        case .kwallet: "password of the wallet"
        case .macKeychain: "password of the keychain"
        case .bitwarden: "password of the Bitwarden export"
        case .opVault: "password of the vault"
        case .passage: "passphrase of the identities"
        case .keePass, .keePass1: "password of the KeePass database"
        case .passwordSafe: "password of the database"
        case .appleBackup: "password of the backup"
        case .firefox: "primary password of the profile"
        case .chromium: "'\(KeyringItems.browserEnding)' password of the browser"
        case .aegis: "password of the Aegis vault"
        case .twoFAS: "password of the 2FAS backup"
        case .andOTP: "password of the andOTP backup"
        case .stratum: "password of the Stratum backup"
        case .ente: "password of the Ente Auth export"
        case .protonAuthenticator: "password of the Proton Authenticator export"
        default: "password of the file"
        }
    }
}
