package import KCItemSources
package import KCSandbox

/// Why a reader did not read a file: the reader itself, and not what it says of the file.
package struct ReaderFailure: Error, Hashable, Sendable {
    package let problem: Problem
    /// The format that it was reading; nil if it had not recognized one.
    package let kind: ForeignKind?

    package init(_ problem: Problem, reading kind: ForeignKind? = nil) {
        self.problem = problem
        self.kind = kind
    }

    package enum Problem: Hashable, Sendable {
        /// The program is not in this place.
        case missing(path: String)
        /// The program could not be started, with this `errno`.
        case notStarted(path: String, Int32)
        /// The program did not enter its sandbox, and read nothing.
        case noSandbox(SandboxFailure)
        /// The program tried what the sandbox refuses; nil if it is not known what.
        case stopped(RefusedCall?)
        /// A signal ended the program.
        case crashed(signal: Int32)
        /// The program ended before it was done, with this status.
        case ended(status: Int32)
        /// The program took longer than it was given.
        case overdue
        /// The program answered something else than its protocol allows.
        case misbehaved(String)
        /// The program met an unexpected error of this type.
        case unforeseen(type: String)
    }
}
