// Fence: returns an error through a pointer, as Apple's method does.
internal import Dispatch
public import Foundation
internal import KCByteStreams
// As on Apple's systems, where this module brings Foundation, and that the keychain.
@_exported public import KeychainSecurity
internal import Synchronization

/// Asks whether the owner of the device is there: on this system, for the passcode of the keychain.
///
/// The passcode source of the program is asked if it has set one (`KeychainClient.setPasscodeSource`), otherwise the
/// user at the terminal. Without either, authentication fails with `LAError.notInteractive`; nothing waits.
///
/// ```swift
/// let context = LAContext()
/// if try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "show your notes") {
///     let query =
///         [
///             kSecClass: kSecClassGenericPassword, kSecAttrService: "notes", kSecReturnData: true,
///             kSecUseAuthenticationContext: context,
///         ] as [CFString: Any] as CFDictionary
///     var result: CFTypeRef?
///     let status = SecItemCopyMatching(query, &result)
/// }
/// ```
///
/// Once evaluated, a context keeps the passcode and the key that was derived from it, in memory that is wiped when the
/// context is invalidated or deallocated, and items that ask for it are read with the context without another question.
/// A context that has not been evaluated asks when the first such item is read. Several threads may use a context.
open class LAContext: NSObject, AuthenticationContext, @unchecked Sendable {
    private let authority: PasscodeAuthority
    private let state = Mutex(State())
    private let question = NSLock()
    // Concurrent, so that a reply may wait for another evaluation.
    private let queue = DispatchQueue(label: "LocalAuthentication", qos: .userInitiated, attributes: .concurrent)

    /// A passcode, and the keychain that it opens.
    private struct Proof {
        let passcode: GivenPasscode
        let place: String
    }

    private struct State {
        var proof: Proof?
        var isValid = true
        var interactionNotAllowed = false
        var texts: [Text: String] = [:]
        var reuse: TimeInterval = 0
    }

    private enum Text: Hashable {
        case reason
        case fallback
        case cancel
    }

    /// Creates a context that has not been evaluated.
    public override init() {
        authority = .ofThisProgram
        super.init()
    }

    init(asking authority: PasscodeAuthority) {
        self.authority = authority
        super.init()
    }

    // MARK: Evaluation

    /// True if the policy could be evaluated now; asks nothing.
    ///
    /// - Parameters:
    ///   - policy: only `deviceOwnerAuthentication` is possible here.
    ///   - error: set to an `LAError` if the result is false.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(LAError) {
            try requirePossible(policy)
            return true
        } catch let failure {
            unsafe error?.pointee = failure._nsError
            return false
        }
    }

    /// Asks for the passcode, on another thread, unless this context has it already.
    ///
    /// - Parameters:
    ///   - policy: only `deviceOwnerAuthentication` is possible here.
    ///   - localizedReason: why, for the user.
    ///   - reply: called on another thread with true, or with false and an `LAError`.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        queue.async {
            do throws(LAError) {
                try self.requirePossible(policy)
                try self.authenticate(localizedReason)
                reply(true, nil)
            } catch {
                reply(false, error)
            }
        }
    }

    /// Asks for the passcode, unless this context has it already.
    ///
    /// - Returns: always true.
    /// - Throws: `LAError`.
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { _, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: true) }
            }
        }
    }

    /// Asks for what an access control demands: for the passcode, or for nothing.
    ///
    /// - Parameters:
    ///   - accessControl: with `.userPresence`, `.devicePasscode` or no flag.
    ///   - operation: not distinguished here.
    ///   - localizedReason: why, for the user.
    ///   - reply: called on another thread with true, or with false and an `LAError`.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        if accessControl.asks {
            return evaluatePolicy(.deviceOwnerAuthentication, localizedReason: localizedReason, reply: reply)
        }
        queue.async {
            do throws(LAError) {
                try self.requireValid()
                reply(true, nil)
            } catch {
                reply(false, error)
            }
        }
    }

    /// Ends the context: the passcode is wiped, and evaluations fail with `LAError.invalidContext`.
    ///
    /// A question that is being asked is not taken back from the terminal, but its answer is not used.
    open func invalidate() {
        state.withLock { state in
            state.isValid = false
            state.proof = nil
        }
    }

    // MARK: Settings

    /// True if the user must not be asked: evaluation then succeeds only if the context has the passcode already.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.interactionNotAllowed } }
        set { state.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// The reason that is shown when a call with this context has to ask.
    open var localizedReason: String {
        get { state.withLock { $0.texts[.reason] } ?? "" }
        set { state.withLock { $0.texts[.reason] = newValue } }
    }

    /// Kept, but not shown: there is no fallback here.
    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.texts[.fallback] } }
        set { state.withLock { $0.texts[.fallback] = newValue } }
    }

    /// Kept, but not shown: a terminal has no button.
    open var localizedCancelTitle: String? {
        get { state.withLock { $0.texts[.cancel] } }
        set { state.withLock { $0.texts[.cancel] = newValue } }
    }

    /// Kept, but without effect: there is no Touch ID here.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuse } }
        set { state.withLock { $0.reuse = newValue } }
    }

    /// Always `none`.
    open var biometryType: LABiometryType { .none }

    /// Always nil: there is no biometry whose enrollment could change.
    open var evaluatedPolicyDomainState: Data? { nil }

    /// Sets a secret that the program supplies itself; not supported.
    ///
    /// - Returns: false.
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool { false }

    /// True if a secret of the program is set; never.
    open func isCredentialSet(_ type: LACredentialType) -> Bool { false }

    // MARK: Items

    package func passcode(mayAsk: Bool) throws(AuthenticationRefusal) -> GivenPasscode {
        do throws(LAError) {
            let reason = localizedReason
            return try authenticate(reason.isEmpty ? "use an item of the keychain" : reason, mayAsk: mayAsk)
        } catch {
            switch error.code {
            case .notInteractive, .passcodeNotSet, .systemCancel: throw .notInteractive
            case .userCancel, .appCancel: throw .canceled
            default: throw .failed
            }
        }
    }

    package func forget(_ passcode: GivenPasscode) {
        state.withLock { if $0.proof?.passcode === passcode { $0.proof = nil } }
    }

    /// Returns the passcode, and asks for it unless the context has it.
    @discardableResult
    private func authenticate(_ reason: String, mayAsk: Bool = true) throws(LAError) -> GivenPasscode {
        if let passcode = try given(mayAsk: mayAsk) { return passcode }
        // A single question serves everyone who waits for it.
        question.lock()
        defer { question.unlock() }
        if let passcode = try given(mayAsk: mayAsk) { return passcode }
        let place = try authority.place()
        let passcode = try authority.ask(reason)
        let isTaken = state.withLock { state in
            if state.isValid { state.proof = Proof(passcode: passcode, place: place) }
            return state.isValid
        }
        if !isTaken { throw LAError(reason: .appCancel) }
        return passcode
    }

    /// Returns the passcode of the keychain that is in use now; nil if it may be asked for.
    private func given(mayAsk: Bool = true) throws(LAError) -> GivenPasscode? {
        try requireValid()
        let (proof, isSilent) = state.withLock { ($0.proof, $0.interactionNotAllowed) }
        if let proof, try authority.place().exact == proof.place.exact { return proof.passcode }
        if isSilent || !mayAsk { throw LAError(reason: .notInteractive) }
        return nil
    }

    private func requireValid() throws(LAError) {
        if !state.withLock({ $0.isValid }) { throw LAError(reason: .invalidContext) }
    }

    private func requirePossible(_ policy: LAPolicy) throws(LAError) {
        switch policy {
        case .deviceOwnerAuthentication: break
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrWatch:
            throw LAError(reason: .biometryNotAvailable)
        case .deviceOwnerAuthenticationWithWatch: throw LAError(reason: .watchNotAvailable)
        }
        if try given() == nil { try authority.requireSomebody() }
    }
}
