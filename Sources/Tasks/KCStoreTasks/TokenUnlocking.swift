internal import KCAsking
package import KCByteStreams
internal import KCItemStores
package import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityTokens

extension TaskContext {
    /// Opens what only misses the presence key `user-presence`, with a security token; false if the passcode is needed, as
    /// is always so while the keychain is locked.
    func opensWithToken(_ keychain: Keychain, of local: LocalKeychain, for missing: Set<Protection>) throws -> Bool {
        guard keychain.isUnlocked,
            missing.allSatisfy({ $0.constraint == .userPresence && keychain.canOpen(Protection($0.accessibility)) })
        else { return false }
        try openWithToken(keychain, of: local)
        return missing.allSatisfy(keychain.canOpen)
    }

    /// Opens items with `user-presence` with a security token, if one that is enrolled is connected; otherwise nothing
    /// changes, and an event says why if a token was there.
    ///
    /// Waits for a touch of the token, so call it only if a user is present.
    private func openWithToken(_ keychain: Keychain, of local: LocalKeychain) throws {
        let tokens = keychain.keybag.tokens
        if tokens.isEmpty { return }
        do {
            let held = try machine.tokens.firstHeld(among: tokens.map(\.handle.tokenCredential))
            guard let token = tokens.first(where: { $0.handle.tokenCredential == held }) else { return }
            try asking.touch(.named(token.name.text))
            try keychain.openPresence(ofToken: token.name, secret: secret(of: token.handle))
        } catch let failure as TokenFailure {
            switch failure {
            case .interrupted: throw failure
            // A library that is not installed is not wanted.
            case .libraryMissing: break
            default: tell(KeychainEvent.tokenUnused(failure))
            }
        } catch KeychainStoreError.token(let problem) {
            tell(KeychainEvent.tokenRecordUnused(problem, keychain: local.name))
        }
    }

    /// The secret of a token, which is touched for that; what is typed meanwhile, also by the token, is not shown.
    ///
    /// - Throws: `TokenFailure`, `TerminalFailure`.
    package func secret(of handle: TokenHandle) throws -> SecretBytes {
        try quietly(nil) {
            try machine.tokens.secret(of: handle.tokenCredential, salt: handle.salt) { _ in throw TokenFailure.pinNeeded
            }
        }
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
