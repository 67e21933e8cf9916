internal import ByteStreams
internal import Console
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains
internal import SecurityStatus

/// What ends a command without success: a status code of Apple's, and what its message cannot tell.
struct Failure: Error, Hashable, Sendable {
    /// What `security` of macOS would have called, with its object where it names one.
    let api: String?
    /// The status, or nil for what Apple has no code for.
    let status: SecurityStatus?
    /// What Apple's message does not say: a fact about this system, or what to do; may hold foreign text.
    let notes: [String]
    /// How the run ends.
    let exit: ExitStatus

    /// Names a status.
    init(_ status: SecurityStatus, api: String?, note: String? = nil) {
        self.init(api: api, status: status, notes: note.map { [$0] } ?? [], exit: ExitStatus(code: status.exitStatus))
    }

    /// Says something in words of ours alone, and ends with 1.
    init(saying words: String) {
        self.init(api: nil, status: nil, notes: [words], exit: .failed)
    }

    private init(api: String?, status: SecurityStatus?, notes: [String], exit: ExitStatus) {
        self.api = api
        self.status = status
        self.notes = notes
        self.exit = exit
    }

    /// Everything was said already; ends with 1.
    static let told = Failure(api: nil, status: nil, notes: [], exit: .failed)

    /// Sorts any error of the layers below.
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

    /// The lines for standard error.
    ///
    /// - Parameter shown: makes foreign text fit for where it goes.
    func lines(_ shown: (String) -> String) -> String {
        guard let status else { return notes.map { "security: \(shown($0))\n" }.joined() }
        let call = api.map { shown($0) + ": " } ?? ""
        return "security: \(call)\(status.message)\n" + notes.map { "security: note: \(shown($0))\n" }.joined()
    }
}

// EPIPE of <errno.h>.
private let brokenPipe: Int32 = 32

/// What an error of the layers below means in Apple's terms.
struct Cause: Hashable, Sendable {
    let status: SecurityStatus
    /// What the message of the status does not say.
    let note: String?
    /// A signal asked the process to stop.
    let isInterruption: Bool

    init(_ status: SecurityStatus, _ note: String? = nil, isInterruption: Bool = false) {
        self.status = status
        self.note = note
        self.isInterruption = isInterruption
    }

    static let interruption = Cause(.userCanceled, isInterruption: true)

    /// Sorts any error; one that nobody foresaw shows its type and nothing of its contents.
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
