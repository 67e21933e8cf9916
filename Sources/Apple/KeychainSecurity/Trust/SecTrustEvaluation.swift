// Fence: returns results through pointers, as Apple's functions do.
public import Dispatch
public import Foundation

/// Verifies the certificate of a trust object.
///
/// Nothing is fetched from a network. Everything that cannot be decided is not trusted.
///
/// ```swift
/// func check(_ trust: SecTrust) throws {
///     var error: CFError?
///     if !SecTrustEvaluateWithError(trust, &error), let error { throw error }
/// }
/// ```
///
/// - Parameters:
///   - trust: the object.
///   - error: set to the most serious failure, with `NSOSStatusErrorDomain` and one of `errSec…`, and a sentence that
///     names the certificate; its underlying error lists all failures of all certificates. Nil if the result is true.
/// - Returns: true if the certificate is trusted.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let (isTrusted, reason) = outcome(of: trust)
    unsafe error?.pointee = reason
    return isTrusted
}

/// Verifies the certificate of a trust object.
///
/// - Parameters:
///   - trust: the object.
///   - result: set to the result; the certificate is trusted if that is `unspecified` or `proceed`.
/// - Returns: `errSecSuccess`, also if the certificate is not trusted; another status, with the result `invalid`, if the
///   chain could not be verified.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    do throws(CallFailure) {
        unsafe result.pointee = try trust.evaluate().result
        return errSecSuccess
    } catch {
        unsafe result.pointee = .invalid
        return error.status
    }
}

/// Verifies the certificate of a trust object on a queue.
///
/// - Parameters:
///   - trust: the object.
///   - queue: where the certificate is verified and the handler called.
///   - result: called once, with whether the certificate is trusted, and if not, why.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    // As on Apple's systems, the handler is the caller's concern: it is called on the caller's queue.
    nonisolated(unsafe) let handler = result
    queue.async {
        let (isTrusted, reason) = outcome(of: trust)
        unsafe handler(trust, isTrusted, reason)
    }
    return errSecSuccess
}

/// Verifies the certificate of a trust object on a queue.
///
/// - Parameters:
///   - trust: the object.
///   - queue: where the certificate is verified and the handler called; nil for a global queue.
///   - result: called once, with the result; `invalid` if the chain could not be verified.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
) -> OSStatus {
    nonisolated(unsafe) let handler = result
    (queue ?? .global()).async {
        var found = SecTrustResultType.invalid
        unsafe SecTrustEvaluate(trust, &found)
        unsafe handler(trust, found)
    }
    return errSecSuccess
}

/// Copies the result of the last evaluation since the settings changed; without one, the certificate is verified first.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    unsafe result.pointee = trust.evaluation?.result ?? .invalid
    return errSecSuccess
}

private func outcome(of trust: SecTrust) -> (isTrusted: Bool, reason: CFError?) {
    do throws(CallFailure) {
        let evaluation = try trust.evaluate()
        return (evaluation.isTrusted, evaluation.error)
    } catch {
        return (false, error.error)
    }
}
