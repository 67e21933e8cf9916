internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

/// A failed command: Apple's status code, and what Apple's message does not tell.
struct Failure: Error, Hashable, Sendable {
    /// The API that macOS's `security` would have called, with its object, if any.
    let api: String?
    /// The status, or nil if Apple has no code for it.
    let status: SecurityStatus?
    /// Additions to Apple's message: facts about this system, or advice; may contain foreign text.
    let notes: [String]
    /// The exit status.
    let exit: ExitStatus

    /// Creates a failure with a status.
    init(_ status: SecurityStatus, api: String?, note: String? = nil) {
        self.init(api: api, status: status, notes: note.map { [$0] } ?? [], exit: ExitStatus(code: status.exitStatus))
    }

    /// Creates a failure with exit status 1 and only a message of this program.
    init(saying words: String) {
        self.init(api: nil, status: nil, notes: [words], exit: .failed)
    }

    private init(api: String?, status: SecurityStatus?, notes: [String], exit: ExitStatus) {
        self.api = api
        self.status = status
        self.notes = notes
        self.exit = exit
    }

    /// A failure that was already reported; exit status 1.
    static let alreadyReported = Failure(api: nil, status: nil, notes: [], exit: .failed)

    /// Converts any error from the layers below.
    init(_ error: any Error, api: String?) {
        if let failure = error as? Failure {
            self = failure
            return
        }
        if let failure = error as? StreamFailure, failure.stage == .writing, failure.systemCode == brokenPipe {
            self.init(api: nil, status: nil, notes: [], exit: .brokenPipe)
            return
        }
        let cause = Cause(sorting: error)
        let exit = cause.isInterruption ? ExitStatus.interrupted : ExitStatus(code: cause.status.exitStatus)
        self.init(api: api, status: cause.status, notes: cause.note.map { [$0] } ?? [], exit: exit)
    }

    /// Returns the lines for standard error.
    ///
    /// - Parameter shown: makes foreign text safe for the output.
    func lines(_ shown: (String) -> String) -> String {
        guard let status else { return notes.map { "security: \(shown($0))\n" }.joined() }
        let call = api.map { shown($0) + ": " } ?? ""
        return "security: \(call)\(status.message)\n" + notes.map { "security: note: \(shown($0))\n" }.joined()
    }
}

// EPIPE in <errno.h>.
private let brokenPipe: Int32 = 32

/// Apple's equivalent of an error from the layers below.
struct Cause: Hashable, Sendable {
    let status: SecurityStatus
    /// Details that the status message does not tell.
    let note: String?
    /// True if a signal asked the process to stop.
    let isInterruption: Bool

    init(_ status: SecurityStatus, _ note: String? = nil, isInterruption: Bool = false) {
        self.status = status
        self.note = note
        self.isInterruption = isInterruption
    }

    static let interruption = Cause(.userCanceled, isInterruption: true)

    /// Converts any error; for an unknown error, only the type is shown, not its contents.
    init(sorting error: any Error) {
        self =
            switch error {
            case let status as SecurityStatus: Cause(status)
            case let error as KeychainStoreError: cause(error)
            case let problem as ItemProblem: cause(problem)
            case let failure as LocalKeychainFailure: cause(failure)
            case let failure as DeviceKeyFailure: cause(failure)
            case let failure as FileFailure: cause(failure)
            case let failure as StreamFailure: cause(failure)
            case let failure as TerminalFailure: cause(failure)
            case let failure as CryptographyFailure: cause(failure)
            case let failure as CertificateFailure: cause(failure)
            default: Cause(.internalError, "an unforeseen error of type '\(type(of: error))'; please report it")
            }
    }
}
