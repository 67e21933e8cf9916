/// The result of an evaluation.
///
/// A chain is trusted if the result is `unspecified` or `proceed`.
public enum SecTrustResultType: UInt32, Hashable, Sendable {
    /// There is no result, because the evaluation failed.
    case invalid = 0
    /// Trusted, because of exceptions that were set with `SecTrustSetExceptions`.
    case proceed = 1
    /// Never a result.
    case confirm = 2
    /// Not trusted: an anchor is marked as not to be trusted for this purpose.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Not trusted; exceptions can change that.
    case recoverableTrustFailure = 5
    /// Not trusted, and no exceptions change that.
    case fatalTrustFailure = 6
    /// Never a result.
    case otherError = 7
}

/// Receives the result of `SecTrustEvaluateAsync`.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void

/// Receives the result of `SecTrustEvaluateAsyncWithError`: whether the chain is trusted, and if not, why.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// A truth value that a function sets through a pointer.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Hashable, Sendable, CustomStringConvertible {
    /// The value.
    public let boolValue: Bool

    /// Creates a value.
    public init(_ value: Bool) { boolValue = value }

    /// Creates a value from a literal.
    public init(booleanLiteral value: Bool) { boolValue = value }

    /// `true` or `false`.
    public var description: String { boolValue.description }
}
