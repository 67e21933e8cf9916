internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCPasscodeStrength
internal import KCReportText
internal import KCStoreTasks

extension Session {
    /// Rates a new passcode; a weak one is accepted with a warning.
    func judge(_ passcode: borrowing SecretBytes, of keychain: String) throws(CryptographyFailure) -> PasscodeStrength {
        try judge(passcode, "passcode", knowing: [keychain])
    }

    /// Rates the passphrase of a new archive, likewise.
    func judge(passphrase: borrowing SecretBytes, of keychain: String) throws(CryptographyFailure) {
        _ = try judge(passphrase, "passphrase", knowing: [keychain])
    }

    /// Rates the password of an exported file, likewise.
    func judge(password: borrowing SecretBytes, of path: String) throws(CryptographyFailure) {
        _ = try judge(password, "password", knowing: [path])
    }

    private func judge(
        _ secret: borrowing SecretBytes, _ kind: String, knowing names: [String]
    ) throws(CryptographyFailure) -> PasscodeStrength {
        let words = names + [machine.environment["USER"], machine.environment["LOGNAME"]].compactMap { $0 }
        let strength = try PasscodeStrength(judging: secret, knowing: words)
        let grade = "\(kind) strength \(strength.score) of 4"
        if strength.score < Self.strongEnough {
            warn("\(grade): \(strength.reason); guessing it takes about \(strength.crackTime)")
        } else {
            note(grade)
        }
        return strength
    }

    // With more than 10^8 guesses, zxcvbn's authors consider a password "safely unguessable" for moderate protection.
    private static let strongEnough = 3

    /// Suggests a passcode to users who do not want to make one up.
    ///
    /// - Throws: `UsageProblem` (`needsTerminal`), `CryptographyFailure`, `TerminalFailure`.
    func suggestPasscode() throws {
        guard world.terminal.isAttended else { throw UsageProblem.needsTerminal(.suggest) }
        var text = SecretBytes("A passcode that nobody would guess: ".utf8.span)
        try GeneratedPassphrase.make(groups: 4).withBytes { text.append($0) }
        text.append("\nIt is stored nowhere; write it down if you take it.\n".utf8.span)
        try world.terminal.show(text)
    }
}

extension Session {
    /// Generates a passphrase and shows it on the terminal.
    ///
    /// - Parameter kind: what the user calls it.
    /// - Throws: `CryptographyFailure`, `TerminalFailure`.
    func generatePassphrase(_ kind: String = "passphrase") throws -> SecretBytes {
        let secret = try GeneratedPassphrase.make()
        var text = SecretBytes("the \(kind), hyphens included, shown this once:\n".utf8.span)
        secret.withBytes { text.append($0) }
        text.append("\n".utf8.span)
        try world.terminal.show(text)
        return secret
    }
}

extension JSONValue {
    /// Returns the JSON for a keychain whose passcode was just set, with its strength; the strength is nil without a
    /// passcode.
    static func passcodeSet(_ keychain: JSONValue, _ strength: PasscodeStrength?) -> JSONValue {
        guard let strength else { return ["keychain": keychain] }
        return [
            "keychain": keychain,
            "strength": [
                "score": .number(strength.score), "reason": .text(strength.reason),
                "crackTime": .text(strength.crackTime),
            ],
        ]
    }
}
