/// Why bytes stopped moving: which stage, what kind of trouble, and where.
///
/// One type travels through every stage so that typed throws stay exact; nobody parses its texts.
package struct StreamFailure: Error, Hashable, Sendable {
    /// The stage that noticed, in the words of a message ("… while decrypting").
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

    /// What one would act on.
    package enum Kind: Hashable, Sendable {
        /// The bytes end before they should.
        case truncated
        /// The bytes break a rule of their format; the text names the rule and never holds foreign text.
        case malformed(String)
        /// A tag, a MAC or a hash does not fit.
        case authenticationFailed
        /// Something is larger than allowed: the limit's name, what was found (where known), what is allowed.
        case limitExceeded(String, found: UInt64?, allowed: Int)
        /// The operating system refused, with this `errno`.
        case system(Int32)
        /// A library refused for a reason that is not in the data (memory, misuse).
        case library(String)
        /// A signal asked the process to stop.
        case interrupted
    }

    /// The stage that noticed.
    package let stage: Stage
    /// What kind of trouble it is.
    package let kind: Kind
    /// The byte offset within the stage's input, where one is known.
    package let offset: UInt64?

    /// Makes a failure; equal when stage, kind and offset are.
    package init(_ stage: Stage, _ kind: Kind, offset: UInt64? = nil) {
        self.stage = stage
        self.kind = kind
        self.offset = offset
    }

    /// Names what the operating system refused; `EINTR` comes this far only when a signal asks the process to stop.
    init(_ stage: Stage, errno code: Int32, offset: UInt64? = nil) {
        self.init(stage, code == EINTR ? .interrupted : .system(code), offset: offset)
    }

    /// The `errno` behind the failure, where there is one.
    package var systemCode: Int32? {
        switch kind {
        case .system(let code): code
        case .interrupted: EINTR
        default: nil
        }
    }
}

internal import Glibc
