internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCPasscodeStrength
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
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
