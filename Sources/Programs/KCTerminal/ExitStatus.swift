/// The exit status of a run: stable numbers that never change their meaning (README, "Exit codes").
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case ok = 0
    /// A bug; nothing changed.
    case `internal` = 1
    /// Done, but some items could not be read or written.
    case incomplete = 3
    /// A rule forbids it.
    case refused = 4
    /// A keychain, archive, item or key file is missing.
    case notFound = 10
    /// Another process holds the lock.
    case busy = 11
    /// A passphrase or passcode is wrong, or no identity fits.
    case wrongKey = 12
    /// Something is not what it claims to be, or was truncated or altered.
    case damaged = 13
    /// The keychain is locked or unreachable.
    case locked = 14
    /// Far fewer items than in the last good backup.
    case shrunk = 15
    /// The output exists, or a conflict policy ended the run.
    case exists = 16
    /// The last good backup is too old.
    case stale = 17
    /// A limit is exceeded, or the format is newer.
    case limit = 18
    /// The backup is good, and a copy of it on a remote failed.
    case notCopied = 19
    /// The command line is invalid.
    case usage = 64
    /// An I/O error, such as a full disk; nothing is half-written.
    case io = 74
    /// The command of `exec` cannot be run, as in env(1).
    case notRun = 126
    /// The command of `exec` does not exist, as in env(1).
    case noCommand = 127
    case interrupted = 130
    /// Standard output was closed; the process ends as if by SIGPIPE.
    case brokenPipe = 141
    case terminated = 143

    /// The number.
    package var code: Int32 { rawValue }

    /// The stable name in JSON and documents.
    package var name: String {
        switch self {
        case .ok: "ok"
        case .internal: "internal"
        case .incomplete: "incomplete"
        case .refused: "refused"
        case .notFound: "not-found"
        case .busy: "busy"
        case .wrongKey: "wrong-key"
        case .damaged: "damaged"
        case .locked: "locked"
        case .shrunk: "shrunk"
        case .exists: "exists"
        case .stale: "stale"
        case .limit: "limit"
        case .notCopied: "not-copied"
        case .usage: "usage"
        case .io: "io"
        case .notRun: "not-run"
        case .noCommand: "no-command"
        case .interrupted, .brokenPipe, .terminated: "signal"
        }
    }
}
