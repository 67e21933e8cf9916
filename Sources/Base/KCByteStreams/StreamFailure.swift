/// Why a stream stopped: the stage, the kind of failure and the position.
///
/// All stages share this type so that typed throws stay exact; its texts must never be parsed.
package struct StreamFailure: Error, Hashable, Sendable {
    /// The stage that detected it, worded for a message ("… while decrypting").
    package enum Stage: String, Hashable, Sendable {
        case reading
        case writing
        case decrypting
        case encrypting
        case compressing
        case decompressing
        case readingContainer = "reading the container"
        case writingContainer = "writing the container"
        case decoding = "reading the records"
        case encoding = "writing the records"
    }

    /// The cases a caller can act on.
    package enum Kind: Hashable, Sendable {
        /// The input ends early.
        case truncated
        /// The input breaks a rule of its format; the text names the rule and never contains foreign text.
        case malformed(String)
        /// A tag, MAC or hash does not match.
        case authenticationFailed
        /// A limit is exceeded: its name, the value found (if known) and the largest value allowed.
        case limitExceeded(String, found: UInt64?, allowed: Int)
        /// A system call failed with this `errno`.
        case system(Int32)
        /// A library failed for a reason other than the data or want of memory (misuse).
        case library(String)
        /// This library is missing, or one without the functions that are needed is installed.
        case libraryMissing(String)
        /// A signal asked the process to stop.
        case interrupted
    }

    /// The stage that detected it.
    package let stage: Stage
    /// The kind of failure.
    package let kind: Kind
    /// The byte offset within the stage's input, if known.
    package let offset: UInt64?

    /// Creates a failure.
    package init(_ stage: Stage, _ kind: Kind, offset: UInt64? = nil) {
        self.stage = stage
        self.kind = kind
        self.offset = offset
    }

    /// Creates a failure from an `errno`; `EINTR` arrives here only if a signal asks the process to stop.
    init(_ stage: Stage, errno code: Int32, offset: UInt64? = nil) {
        self.init(stage, code == EINTR ? .interrupted : .system(code), offset: offset)
    }

    /// Creates a failure for want of memory.
    package static func outOfMemory(_ stage: Stage) -> StreamFailure { StreamFailure(stage, .system(ENOMEM)) }

    /// The `errno` behind the failure, if any.
    package var systemCode: Int32? {
        switch kind {
        case .system(let code): code
        case .interrupted: EINTR
        default: nil
        }
    }
}

internal import Glibc
