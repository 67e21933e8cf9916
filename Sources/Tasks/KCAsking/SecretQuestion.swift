package import KCItemSources
/// A secret that a task needs; what a person reads of it is made where the question is shown.
package enum SecretQuestion: Hashable, Sendable {
    /// The passcode of a keychain; nil if it has no name yet.
    case passcode(keychain: String?)
    /// The passcode that the keychain of an archive had when the archive was made.
    case formerPasscode(archive: String)
    /// The password of a collection of the desktop keyring.
    case collection(String)
    case passphraseOfNewArchive
    /// The passphrase of an encrypted key file that is made.
    case passphraseOfNewFile
    /// The passphrase of an archive or a key file, by its path.
    case passphrase(file: String)
    case passphraseOfIdentities(file: String)
    case passphraseOfRecipients(file: String)
    /// The password of an exported file.
    case passwordOfNewFile(String)
    /// The password of another program's file; the format says what it is called there, if it is known.
    case foreign(ForeignPassword?)
    /// The file of an escrow key.
    case escrowKey
    /// The secret of an item, any bytes.
    case itemSecret

    package enum Kind: Hashable, Sendable {
        case passcode, passphrase, password, escrowKey, secret
    }

    package var kind: Kind {
        switch self {
        case .passcode, .formerPasscode: .passcode
        case .collection, .passwordOfNewFile, .foreign: .password
        case .passphraseOfNewArchive, .passphraseOfNewFile, .passphrase, .passphraseOfIdentities,
            .passphraseOfRecipients:
            .passphrase
        case .escrowKey: .escrowKey
        case .itemSecret: .secret
        }
    }

    /// The meaning of an empty answer for a new secret; nil if it is a mistake.
    package enum EmptyAnswer: Hashable, Sendable {
        case noSecret
        /// The program makes one up.
        case generated
    }

    package var emptyAnswer: EmptyAnswer? {
        switch self {
        case .passcode: .noSecret
        case .passphraseOfNewArchive, .passphraseOfNewFile, .passwordOfNewFile: .generated
        default: nil
        }
    }

    /// True for a password that its program allows to be empty.
    var mayBeEmpty: Bool { if case .foreign = self { true } else { false } }

    /// True for the secret of an item, which may be empty, may contain any byte, and must be read completely.
    var isContent: Bool { self == .itemSecret }
}

/// The part of a request that says where a secret comes from.
package enum SecretField: Hashable, Sendable {
    case passcode, newPasscode, archivePasscode, escrow, passphrase, newPassphrase, password, identityPassphrase
    case recipientsPassphrase, secret
}

/// A secret that is wanted, and where it comes from.
package struct WantedSecret: Hashable, Sendable {
    package let question: SecretQuestion
    /// Where its source is given.
    package let field: SecretField
    /// Nil to ask a person, if there is one.
    package let source: SecretSource?

    package init(_ question: SecretQuestion, _ field: SecretField, from source: SecretSource?) {
        self.question = question
        self.field = field
        self.source = source
    }

    /// True if a person types the secret.
    package var isTyped: Bool { source == nil || source == .terminal }
}

/// Why a secret could not be read.
package enum SecretProblem: Error, Hashable, Sendable {
    /// No source is given, and no person can be asked.
    case noSource(SecretQuestion, SecretField)
    /// A file is needed, and a person cannot type it.
    case notTyped(SecretField)
    case empty(SecretQuestion)
    /// The source has no byte, but an empty secret is an empty line.
    case noLine(SecretQuestion)
    /// The secret contains a zero byte, which cannot be typed and would truncate it in C libraries.
    case holdsNUL(SecretQuestion)
    /// The secret is longer than this many bytes.
    case tooLong(SecretQuestion, limit: Int)
    /// There are several lines, but the secret must be a single line.
    case severalLines(SecretQuestion)
    /// The two typed secrets differ.
    case differ(SecretQuestion)
    /// The file that should hold it does not exist.
    case noFile(SecretQuestion, path: String)
    /// The descriptor is not open.
    case descriptorClosed(Int32)
    case noCredentialsFolder
    /// The command exited with this status; 128 and above indicate a signal.
    case commandFailed(status: Int32)
    /// The command could not be started, with this `errno`.
    case commandNotStarted(Int32)
}
