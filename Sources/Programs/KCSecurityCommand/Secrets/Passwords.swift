internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCSecurityStatus

/// Passwords from the command line, as on macOS, or from a user at a terminal.
extension Session {
    // The number of attempts before giving up.
    private static let tries = 3
    // In bytes.
    private static let longestLine = 65_536

    /// Returns the password given with one of the flags; nil if there is none.
    ///
    /// A password in an argument causes a warning, because other users can read the arguments of a process, and they
    /// cannot be wiped.
    ///
    /// - Throws: `UsageProblem` if two passwords are given.
    func password(_ words: Words, _ flags: Character...) throws(UsageProblem) -> SecretBytes? {
        let given = flags.filter { words.value($0) != nil }
        if given.count > 1 { throw UsageProblem(reason: "there are two passwords") }
        guard let flag = given.first, let value = words.value(flag) else { return nil }
        warnOfArguments()
        if flag != "X" { return SecretBytes(value.utf8.span) }
        guard let bytes = value.utf8.span.bytes(ofHexadecimal: 0..<value.utf8.count) else {
            throw UsageProblem(reason: "the value of -X is not an even number of hexadecimal digits")
        }
        return bytes
    }

    /// Prompts for a new password, twice; without a terminal, both are lines of standard input, as on macOS.
    ///
    /// - Parameter mismatch: the message if the two passwords differ.
    /// - Throws: `errSecInteractionNotAllowed` if there is no terminal and no two lines, `TerminalFailure`,
    ///   `StreamFailure`, `Failure` if the two passwords differ three times.
    func askForNewPassword(
        _ first: String, _ second: String, mismatch: String = "passwords don't match"
    ) throws -> SecretBytes {
        guard world.terminal.isAttended else { return try readNewPassword(mismatch) }
        return try world.terminal.quietly {
            for _ in 0..<Self.tries {
                let password = try world.terminal.readSecret(first)
                let again = try world.terminal.readSecretAgain(second)
                if constantTimeEqual(password, again) { return password }
                message(mismatch + "\n")
            }
            throw Failure(saying: "the passwords differ; nothing was changed")
        }
    }

    /// Reads a new password and the same again; nothing after these lines is read.
    private func readNewPassword(_ mismatch: String) throws -> SecretBytes {
        // These lines are commands.
        if isInteractive { throw SecurityStatus.interactionNotAllowed }
        for _ in 0..<Self.tries {
            guard let password = try readLine(), let again = try readLine() else {
                throw SecurityStatus.interactionNotAllowed
            }
            if constantTimeEqual(password, again) { return password }
            message(mismatch + "\n")
        }
        throw Failure(saying: "the passwords differ; nothing was changed")
    }

    /// Reads a line of standard input, byte by byte; nil at its end.
    private func readLine() throws -> SecretBytes? {
        var line = SecretBytes(capacity: 256)
        var hasByte = false
        while true {
            var piece = SecretBytes(capacity: 1)
            try piece.append(upTo: 1) { output throws(StreamFailure) in try world.input.read(into: &output) }
            if piece.isEmpty {
                if hasByte { return line }
                return nil
            }
            hasByte = true
            let byte = piece.withBytes { $0[0] }
            if byte == UInt8(ascii: "\n") { return line }
            if line.count == Self.longestLine {
                throw Failure(saying: "the password has more than \(Self.longestLine) bytes")
            }
            line.append(byte)
        }
    }

    /// Prompts for an existing password.
    ///
    /// - Throws: `errSecInteractionNotAllowed` if there is no terminal, `TerminalFailure`.
    func askForPassword(_ prompt: String) throws -> SecretBytes {
        guard world.terminal.isAttended else { throw SecurityStatus.interactionNotAllowed }
        return try world.terminal.readSecret(prompt)
    }
}
