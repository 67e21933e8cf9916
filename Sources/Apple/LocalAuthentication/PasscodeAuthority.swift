internal import Foundation
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KeychainSecurity

/// Who is asked for the passcode of the keychain, and who checks it.
struct PasscodeAuthority: Sendable {
    /// True if the keychain has a passcode.
    var hasPasscode: @Sendable () throws(KeychainClientFailure) -> Bool
    /// The program's own answer; nil if it has set no passcode source.
    var source: @Sendable () -> KeychainClient.PasscodeSource?
    /// Where the user is asked if the program has no source.
    var terminal: any Terminal
    /// Checks a passcode.
    var check: @Sendable (Data) throws(KeychainClientFailure) -> Void

    /// The passcode of the keychain that this program's calls use, asked for at its terminal.
    static var ofThisProgram: PasscodeAuthority {
        PasscodeAuthority(
            hasPasscode: { () throws(KeychainClientFailure) in try KeychainClient.hasPasscode() },
            source: { KeychainClient.passcodeSource },
            terminal: ControllingTerminal(),
            check: { (passcode) throws(KeychainClientFailure) in try KeychainClient.check(passcode: passcode) })
    }

    // As often as Apple's systems ask before they give up.
    private static let tries = 3

    /// Checks that somebody could be asked.
    func requireSomebody() throws(LAError) {
        let hasPasscode: Bool
        do throws(KeychainClientFailure) {
            hasPasscode = try self.hasPasscode()
        } catch {
            throw LAError(cause: error)
        }
        if !hasPasscode { throw LAError(reason: .passcodeNotSet) }
        if source() == nil, !terminal.isAttended { throw LAError(reason: .notInteractive) }
    }

    /// Asks for the passcode until it is right, at most three times.
    ///
    /// - Parameter reason: the program's reason, shown to the user.
    func ask(_ reason: String) throws(LAError) -> SecretBytes {
        try requireSomebody()
        if let source = source() {
            guard let given = source() else { throw LAError(reason: .userCancel) }
            guard try isRight(given) else { throw LAError(reason: .authenticationFailed) }
            return SecretBytes(copying: given)
        }
        for _ in 0..<Self.tries {
            let given = try answer(to: reason)
            if try isRight(given.data) { return given }
        }
        throw LAError(reason: .authenticationFailed)
    }

    private func answer(to reason: String) throws(LAError) -> SecretBytes {
        let name = displayed(ProcessInfo.processInfo.processName)
        let prompt = "\(name): \(displayed(reason))\nPasscode of the keychain: "
        let given: SecretBytes
        do throws(TerminalFailure) {
            given = try terminal.readSecret(prompt)
        } catch {
            switch error {
            case .unavailable: throw LAError(reason: .notInteractive)
            case .closed, .interrupted: throw LAError(reason: .userCancel)
            case .lineTooLong: throw LAError(reason: .authenticationFailed)
            }
        }
        if given.isEmpty { throw LAError(reason: .userCancel) }
        return given
    }

    private func isRight(_ passcode: Data) throws(LAError) -> Bool {
        do throws(KeychainClientFailure) {
            try check(passcode)
            return true
        } catch {
            if error == .failed(errSecAuthFailed) { return false }
            throw LAError(cause: error)
        }
    }
}

extension LAError {
    /// The keychain cannot be used at all.
    fileprivate init(cause: KeychainClientFailure) {
        var text = "the entitlements of this program cannot be read"
        if case .failed(let status) = cause {
            text = SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)"
        }
        self.init(reason: .systemCancel, because: text)
    }
}
