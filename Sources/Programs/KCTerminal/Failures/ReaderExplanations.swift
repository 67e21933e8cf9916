internal import KCByteStreams
package import KCForeignReader
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText
package import KCSandbox

/// Explains why the reader of another program's file did not read it.
package func explainReader(_ failure: ReaderFailure, _ path: String?) -> Explanation {
    let file = path.map { quotedInput($0) } ?? "the file"
    let what = failure.kind.map { "\(file), \(withArticle($0.title))," } ?? file
    switch failure.problem {
    case .missing(let program):
        return Explanation(
            .notFound, "\(file) was not read: there is no \(quoted(program)), which reads files of other programs",
            hint: "the program belongs to kcbackup: install kcbackup again")
    case .noSandbox:
        return Explanation(
            .refused, "\(file) was not read: \(failure.words)",
            hint: "'\(OptionName.withoutSandbox.spelling)' reads the file without one: only for a file that you trust")
    case .notStarted: return Explanation(.io, "\(file) was not read: \(failure.words)")
    case .crashed(signal: Signal.kill):
        return Explanation(.limit, "\(what) was not read: \(failure.words)", hint: "is there enough memory?")
    case .unforeseen: return Explanation(.internal, "\(what) was not read: \(failure.words)")
    case .stopped, .crashed, .ended, .misbehaved, .overdue:
        return Explanation(
            .damaged, "\(what) was not read: \(failure.words)",
            hint: "nothing was imported; the file may have been made to attack programs that read it")
    }
}

/// Why a file is not read, as a clause.
package func whyUnread(_ error: any Error) -> String {
    (error as? ReaderFailure)?.words ?? Failure(error).explanation.message
}

private enum Signal {
    static let kill: Int32 = 9
}

extension ReaderFailure {
    /// The failure as a clause.
    fileprivate var words: String {
        switch problem {
        case .missing(let path): "there is no \(quoted(path)), which reads files of other programs"
        case .notStarted(let path, let code):
            "\(quoted(path)) cannot be started: \(KCTerminal.words(ofSystemError: code))"
        case .noSandbox(let failure): "files of other programs are read in a sandbox, and \(failure.reason)"
        case .stopped(let call): "its reader was stopped: it wanted \(call?.words ?? "what no reader needs")"
        case .crashed(signal: Signal.kill): "its reader was killed"
        case .crashed(let signal): "its reader crashed (signal \(signal))"
        case .ended(let status): "its reader ended with status \(status) before it was done"
        case .overdue: "its reader took too long"
        case .misbehaved(let rule): "its reader broke the protocol: \(displayed(rule, limit: 200))"
        case .unforeseen(let type): "its reader met an unknown error (\(displayed(type, limit: 100)))"
        }
    }
}

extension RefusedCall {
    /// The purpose of the call, to follow "wanted ".
    fileprivate var words: String {
        switch self {
        case .socket: "to open a socket"
        case .openFile: "to open or change a file"
        case .startProgram: "to start a program"
        case .trace: "to look into another process"
        case .signal: "to send a signal"
        case .memory: "to make memory executable, or to share memory"
        case .other(let number): "the system call \(number)"
        }
    }
}

extension SandboxSupport {
    /// The reason why there is no sandbox, as a clause.
    package var lack: String { (landlockVersion == nil ? SandboxFailure.noLandlock : .noSeccomp).reason }
}
