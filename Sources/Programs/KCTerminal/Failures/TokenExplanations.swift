package import KCKeychainKeys
internal import KCReportText
package import KCSecurityTokens

/// Explains why a security token cannot be used.
package func explainToken(_ failure: TokenFailure) -> Explanation {
    switch failure {
    case .libraryMissing(let name):
        Explanation(
            .notFound, "the library that talks to security tokens is missing: \(quoted(name))",
            hint: "install libfido2 1.12 or newer; on Debian: 'apt-get install libfido2-1'")
    case .noToken:
        Explanation(
            .notFound, "no security token is connected", hint: "connect a token that has FIDO2, and try again")
    case .noAccess(let path):
        Explanation(
            .refused, "this user may not use the security token at \(quoted(path))",
            hint: "udev allows it to users who are logged in at the machine, not through ssh")
    case .noAnswer:
        Explanation(
            .locked, "the security token does not answer", hint: "take it out, put it in again, and try again")
    case .busy: Explanation(.busy, "another program uses the security token", hint: "wait until it has ended")
    case .notTouched:
        Explanation(.refused, "the security token was not touched", hint: "touch it while it blinks")
    case .noSecrets:
        Explanation(
            .refused, "the security token has no secrets for programs ('hmac-secret')",
            hint: "most tokens with FIDO2 do; those of the older standard U2F do not")
    case .otherToken:
        Explanation(
            .wrongKey, "the security token is another one, or was reset since",
            hint: "'kcbackup keychain token remove' and 'kcbackup keychain token add' enroll it again")
    case .pinNeeded:
        Explanation(
            .refused, "the security token wants its PIN, where a touch should be enough",
            hint: "switch off that it always verifies its user, or use another token")
    case .pinNotSet: Explanation(.refused, "the security token has no PIN")
    case .wrongPIN(let left):
        Explanation(
            .wrongKey,
            "the PIN of the security token is wrong"
                + (left.map { "; \(counted($0, "more try", plural: "more tries")) before it blocks" } ?? ""))
    case .pinPaused:
        Explanation(
            .locked, "the security token takes no more PINs for now",
            hint: "take it out, put it in again, and try again")
    case .pinBlocked:
        Explanation(
            .locked, "the security token takes no more PINs, after too many wrong ones",
            hint: "only a reset ends that, after which it opens nothing that it opened before")
    case .otherPresence:
        Explanation(
            .refused, "the security token has verified its user in another way than when it was enrolled",
            hint: "'kcbackup keychain token remove' and 'kcbackup keychain token add' enroll it again")
    case .wrongAnswer:
        Explanation(
            .refused, "the answer of the security token proves nothing; it was not used", hint: "try another token")
    case .interrupted: explainInterruption()
    case .refused(let call, let code):
        Explanation(
            .refused, "the security token refuses what it is asked for: '\(call)' says \(code)",
            hint: "this is a code of CTAP, or a negative one of libfido2")
    }
}

/// Explains why a security token cannot be enrolled in a keychain, or why its record cannot be used.
package func explainTokenRecord(_ problem: TokenProblem, _ keychain: String) -> Explanation {
    switch problem {
    case .none(let name):
        Explanation(
            .notFound, "\(keychain) has no security token \(quoted(name.text))",
            hint: "'kcbackup keychain token list' shows those that it has")
    case .exists(let name):
        Explanation(
            .exists, "\(keychain) has a security token \(quoted(name.text)) already",
            hint: "choose another name, or remove that one with 'kcbackup keychain token remove'")
    case .noPasscode:
        Explanation(
            .refused, "\(keychain) has no passcode, so no item of it asks for a security token",
            hint: "'kcbackup keychain set-passcode' sets a passcode")
    case .full:
        Explanation(
            .limit, "\(keychain) has \(Keybag.tokenLimit) security tokens, and no place for another",
            hint: "'kcbackup keychain token remove' removes one")
    case .otherSecret(let name):
        Explanation(
            .wrongKey, "the security token \(quoted(name.text)) gives another secret than when it was enrolled",
            hint: "'kcbackup keychain token remove' and 'kcbackup keychain token add' enroll it again")
    case .forged(let name):
        Explanation(
            .damaged,
            "the record of the security token \(quoted(name.text)) in \(keychain) is not one that its passcode made",
            hint: "'kcbackup keychain token remove' removes it, 'kcbackup keychain token add' makes a new one")
    }
}
