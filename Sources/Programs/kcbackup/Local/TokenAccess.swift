internal import KCByteStreams
internal import KCConsole
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCReportText
internal import KCSecurityTokens
internal import KCStoreTasks

extension Session {
    /// Opens items with `user-presence` with a security token, if one that is enrolled is connected; otherwise nothing
    /// changes, and a note says why if a token was there.
    ///
    /// Waits for a touch of the token, so call it only if a user is present.
    func openWithToken(_ keychain: Keychain) throws {
        let tokens = keychain.keybag.tokens
        if tokens.isEmpty { return }
        do {
            let held = try machine.tokens.firstHeld(among: tokens.map(\.handle.tokenCredential))
            guard let token = tokens.first(where: { $0.handle.tokenCredential == held }) else { return }
            try askTouch("Touch the security token \(quoted(token.name.text)).")
            let secret = try secret(of: token.handle)
            try keychain.openPresence(ofToken: token.name, secret: secret)
        } catch let failure as TokenFailure {
            switch failure {
            case .interrupted: throw failure
            // What is not installed is not wanted.
            case .libraryMissing: break
            default: note("no security token is used: \(explainToken(failure).message)")
            }
        } catch KeychainStoreError.token(let problem) {
            let keychain = subject.store.map(storeWords) ?? "the keychain"
            note("no security token is used: \(explainTokenRecord(problem, keychain).message)")
        }
    }

    /// The secret of a token, which is touched for that; what is typed meanwhile, also by the token, is not shown.
    func secret(of handle: TokenHandle) throws -> SecretBytes {
        try quietly(nil) {
            try machine.tokens.secret(of: handle.tokenCredential, salt: handle.salt) { _ in throw TokenFailure.pinNeeded
            }
        }
    }

    /// Asks for a touch where a passcode would be asked for: on the terminal itself, if there is one.
    func askTouch(_ request: String) throws(TerminalFailure) {
        guard world.terminal.isAttended else { return note(request) }
        try world.terminal.show(SecretBytes(copying: "\(request)\n".utf8))
    }
}

extension TokenHandle {
    /// The credential: a touch is all that is asked for.
    var tokenCredential: TokenCredential {
        guard let credential = TokenCredential(id: credential, publicKey: publicKey, presence: .touch) else {
            preconditionFailure("a record has a credential that no token can have made")
        }
        return credential
    }
}
