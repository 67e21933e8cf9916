internal import AgeEncryption
internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import Console
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Everything that can end a run without success, each with what it happened to.
enum Failure: Error, Hashable, Sendable {
    /// The parser's objection, and the command whose help explains.
    case commandLine(message: String, command: String?)
    /// The system does not let the program see its own command line.
    case argumentsMissing
    case usage(UsageProblem)
    case refused(Refusal)
    case secret(SecretProblem)
    case terminal(TerminalFailure)
    case file(FileFailure)
    case stream(StreamFailure, path: String?)
    /// Standard output does not take the result; what the command does was done before.
    case output(StreamFailure)
    case local(LocalKeychainFailure)
    case keychain(KeychainStoreError, name: String?)
    case item(ItemProblem)
    /// A line of an import file.
    case importLine(Int, ImportProblem)
    case device(DeviceKeyFailure)
    case trust(TrustedDevicesFailure)
    case age(AgeFailure, path: String?)
    case archive(ArchiveFailure, path: String?)
    case restore(RestoreRefusal)
    case cryptography(CryptographyFailure)
    /// Nobody knows what this is; the text names a Swift type and nothing else.
    case unforeseen(type: String)

    /// Why a line of an import file ends the import.
    enum ImportProblem: Hashable, Sendable {
        case line(ImportLine.Problem)
        case store(KeychainStoreError)
        /// It has more bytes than this.
        case tooLong(limit: Int)
    }

    /// What a run was working on, for errors that do not say it themselves.
    struct Subjects: Hashable, Sendable {
        /// The keychain as the user named it.
        var keychain: String?
        /// The archive or key file as the user named it.
        var path: String?
    }

    /// Sorts any error of the layers below.
    init(_ error: any Error, _ subjects: Subjects) {
        self =
            switch error {
            case let failure as Failure: failure
            case let problem as UsageProblem: .usage(problem)
            case let refusal as Refusal: .refused(refusal)
            case let problem as SecretProblem: .secret(problem)
            case let failure as TerminalFailure: .terminal(failure)
            case let failure as FileFailure: .file(failure)
            case let failure as StreamFailure: .stream(failure, path: subjects.path)
            case let failure as LocalKeychainFailure: .local(failure)
            case let error as KeychainStoreError: .keychain(error, name: subjects.keychain)
            case let problem as ItemProblem: .item(problem)
            case let failure as DeviceKeyFailure: .device(failure)
            case let failure as TrustedDevicesFailure: .trust(failure)
            case let failure as AgeFailure: .age(failure, path: subjects.path)
            case let failure as ArchiveFailure: .archive(failure, path: subjects.path)
            case let refusal as RestoreRefusal: .restore(refusal)
            case let failure as CryptographyFailure: .cryptography(failure)
            default: .unforeseen(type: "\(type(of: error))")
            }
    }

    /// What the caller is told.
    var explanation: Explanation {
        switch self {
        case .commandLine(let message, let command): explainCommandLine(message, command)
        case .argumentsMissing: explainMissingArguments()
        case .usage(let problem): explain(problem)
        case .refused(let refusal): explain(refusal)
        case .secret(let problem): explain(problem)
        case .terminal(let failure): explain(failure)
        case .file(let failure): explain(failure)
        case .stream(let failure, let path): explain(failure, path)
        case .output(let failure): explain(failure, nil).prefixed("standard output does not take the result: ")
        case .local(let failure): explain(failure)
        case .keychain(let error, let name): explain(error, keychain: name)
        case .item(let problem): explain(problem)
        case .importLine(let number, let problem): explain(problem).prefixed("line \(number): ")
        case .device(let failure): explain(failure)
        case .trust(let failure): explain(failure)
        case .age(let failure, let path): explain(failure, path)
        case .archive(let failure, let path): explain(failure, path)
        case .restore(let refusal): explain(refusal)
        case .cryptography(let failure): explain(failure)
        case .unforeseen(let type): explainBug("an unforeseen error of type '\(type)'")
        }
    }
}

/// Foreign text made safe to show, in quotation marks.
func quoted(_ text: String) -> String {
    "'" + displayed(text, limit: 200) + "'"
}

/// How a bug is spoken of.
func explainBug(_ what: String) -> Explanation {
    Explanation(
        .internal, "\(what); nothing was changed",
        hint: "this is a bug; please report it with the command that led here")
}

/// A path made safe to show, without quotation marks.
func quotedPath(_ path: String) -> String {
    displayed(path, limit: 1_000)
}
