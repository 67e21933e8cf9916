internal import Foundation
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KeychainSecurity

/// Who is asked for the passcode of the keychain, and who checks it.
struct PasscodeAuthority: Sendable {
    /// The keychain that the program's calls use, and whether it has a passcode.
    var keychain: @Sendable () throws(KeychainClientFailure) -> (path: String, hasPasscode: Bool)
    /// The program's own answer; nil if it has set no passcode source.
    var source: @Sendable () -> KeychainClient.PasscodeSource?
    /// Where the user is asked if the program has no source.
    var terminal: any SecretTerminal
    /// Checks a passcode.
    var check: @Sendable (GivenPasscode) throws(KeychainClientFailure) -> Void

    /// The passcode of the keychain that this program's calls use, asked for at its terminal.
    static var ofThisProgram: PasscodeAuthority {
        PasscodeAuthority(
            keychain: { () throws(KeychainClientFailure) in try KeychainClient.keychainForContexts() },
            source: { KeychainClient.passcodeSource },
            terminal: SharedTerminal(),
            check: { (passcode) throws(KeychainClientFailure) in try KeychainClient.check(passcode: passcode) })
    }

    // As often as Apple's systems ask before they give up.
    private static let tries = 3

    /// The path of the keychain that the program's calls use now.
    func place() throws(LAError) -> String { try found().path }

    /// Checks that there is a way to ask for the passcode.
    func requireSomebody() throws(LAError) {
        if try !found().hasPasscode { throw LAError(reason: .passcodeNotSet) }
        if source() == nil, !terminal.isAttended { throw LAError(reason: .notInteractive) }
    }

    private func found() throws(LAError) -> (path: String, hasPasscode: Bool) {
        do throws(KeychainClientFailure) {
            return try keychain()
        } catch {
            throw LAError(cause: error)
        }
    }

    /// Asks for the passcode until it is right, at most three times.
    ///
    /// - Parameter reason: the program's reason, shown to the user.
    func ask(_ reason: String) throws(LAError) -> GivenPasscode {
        try requireSomebody()
        if let source = source() {
            guard let given = source() else { throw LAError(reason: .userCancel) }
            let passcode = GivenPasscode(SecretBytes(copying: given))
            guard try isRight(passcode) else { throw LAError(reason: .authenticationFailed) }
            return passcode
        }
        let prompt =
            "\(displayed(ProcessInfo.processInfo.processName)): \(displayed(reason))\nPasscode of the keychain: "
        do {
            return try terminal.askSecrets { ask in
                for _ in 0..<Self.tries {
                    let given = try ask(prompt)
                    if given.isEmpty { throw LAError(reason: .userCancel) }
                    let passcode = GivenPasscode(given)
                    if try isRight(passcode) { return passcode }
                }
                throw LAError(reason: .authenticationFailed)
            }
        } catch let error as LAError {
            throw error
        } catch TerminalFailure.closed, TerminalFailure.interrupted {
            throw LAError(reason: .userCancel)
        } catch TerminalFailure.lineTooLong {
            throw LAError(reason: .authenticationFailed)
        } catch {
            throw LAError(reason: .notInteractive)
        }
    }

    private func isRight(_ passcode: GivenPasscode) throws(LAError) -> Bool {
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
