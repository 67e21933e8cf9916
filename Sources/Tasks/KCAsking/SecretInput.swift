package import KCByteStreams
internal import KCConsole
internal import KCCryptography

/// Reads passphrases, passcodes and secrets of items, from the sources that a request names.
package struct SecretInput {
    private let asking: any Asking
    private let places: SecretPlaces
    private let tell: (any TaskEvent) -> Void

    /// The maximum size of a passphrase or passcode in bytes: far more than anyone types.
    package static let limit = PrivateFile.sizeLimit

    /// - Parameter tell: receives events of `SecretEvent`.
    package init(asking: any Asking, places: SecretPlaces, tell: @escaping (any TaskEvent) -> Void) {
        self.asking = asking
        self.places = places
        self.tell = tell
    }

    /// Checks that a secret that is read later can be, as far as that can be known without reading it: before another is
    /// asked for in vain.
    ///
    /// - Throws: as `existing`.
    package func require(_ wanted: WantedSecret) throws {
        if try asksPerson(wanted) { return }
        switch wanted.source {
        case .file(let path): if try !Path.exists(places.resolve(path)) { throw noFile(path, wanted) }
        case .descriptor(let number):
            if !Descriptor(number: number).isInherited { throw SecretProblem.descriptorClosed(number) }
        case .credential(let name):
            let path = try pathOfCredential(name)
            if try !Path.exists(path) { throw FileFailure(path, .notFound) }
        case .command, .terminal, nil: break
        }
    }

    /// Reads a secret that was set earlier.
    ///
    /// - Throws: `SecretProblem`, `TerminalFailure`, `FileFailure`, `StreamFailure`.
    package func existing(_ wanted: WantedSecret, after wrong: WrongAnswer? = nil) throws -> SecretReadings {
        guard try asksPerson(wanted) else { return try SecretReadings(sourced(wanted), wanted) }
        return try SecretReadings(asking.secret(wanted.question, after: wrong), wanted)
    }

    /// Reads a key file, byte for byte.
    ///
    /// - Throws: as `existing`.
    package func keyFile(_ wanted: WantedSecret) throws -> SecretBytes {
        if try asksPerson(wanted) { throw SecretProblem.notTyped(wanted.field) }
        return try sourced(wanted)
    }

    /// Returns what a secret that was read becomes where it is set: text that can be typed, as far as possible.
    package func chosen(_ readings: SecretReadings, _ wanted: WantedSecret) throws(SecretProblem) -> SecretBytes {
        let secret = try readings.chosen()
        warnOfOddities(secret, wanted)
        return secret
    }

    /// Reads a new secret, twice if typed; nil if the user typed nothing.
    ///
    /// If the two entries differ, both are typed again, three times in total. The secret of an item is what was given, byte
    /// for byte; any other is without what Windows adds to lines and files.
    ///
    /// - Parameter judge: called with each secret before it is typed again, unless it is the one that was judged last.
    /// - Throws: `SecretProblem`, `TerminalFailure`, `FileFailure`, `StreamFailure`, what `judge` throws.
    package func new(_ wanted: WantedSecret, judge: (borrowing SecretBytes) throws -> Void = { _ in }) throws
        -> SecretBytes?
    {
        guard try asksPerson(wanted) else {
            if wanted.question.isContent { return try sourced(wanted) }
            let secret = try chosen(existing(wanted), wanted)
            try judge(secret)
            return secret
        }
        return try asking.quietly { try typedTwice(wanted, judge: judge) }
    }

    private func typedTwice(
        _ wanted: WantedSecret, judge: (borrowing SecretBytes) throws -> Void
    ) throws -> SecretBytes? {
        var judged = SecretBytes(capacity: 0)
        for differed in 0..<3 {
            var secret = try asking.newSecret(wanted.question, differed: differed)
            if !wanted.question.isContent {
                secret.removeLineMarks()
                if secret.isEmpty { return nil }
                if !constantTimeEqual(secret, judged) {
                    warnOfOddities(secret, wanted)
                    try judge(secret)
                }
            }
            var again = try asking.newSecretAgain()
            if !wanted.question.isContent { again.removeLineMarks() }
            if constantTimeEqual(secret, again) {
                if !wanted.question.isContent, secret.holdsNUL { throw SecretProblem.holdsNUL(wanted.question) }
                return secret
            }
            judged = secret
        }
        throw SecretProblem.differ(wanted.question)
    }

    private func warnOfOddities(_ secret: borrowing SecretBytes, _ wanted: WantedSecret) {
        for oddity in secret.oddities { tell(SecretEvent.oddity(oddity, of: wanted.question)) }
    }

    private func asksPerson(_ wanted: WantedSecret) throws(SecretProblem) -> Bool {
        switch wanted.source {
        case .terminal: return true
        case nil:
            guard asking.isAttended else { throw .noSource(wanted.question, wanted.field) }
            return true
        case .file, .descriptor, .command, .credential: return false
        }
    }

    private func sourced(_ wanted: WantedSecret) throws -> SecretBytes {
        switch wanted.source {
        case .file(let path): return try firstLine(read(path, wanted), wanted)
        case .descriptor(let number): return try firstLine(bytes(from: Descriptor(number: number), wanted), wanted)
        case .command(let command): return try firstLine(output(of: command, wanted), wanted)
        case .credential(let name):
            // systemd protects the folder, and grants access to the file with an access control list, which makes the
            // file look readable by its group.
            return try firstLine(PrivateFile.readPublic(pathOfCredential(name)), wanted)
        case .terminal, nil: throw SecretProblem.notTyped(wanted.field)
        }
    }

    private func read(_ path: String, _ wanted: WantedSecret) throws -> SecretBytes {
        do throws(FileFailure) {
            return try PrivateFile.read(places.resolve(path))
        } catch {
            guard error.problem == .notFound else { throw error }
            throw noFile(path, wanted)
        }
    }

    private func noFile(_ path: String, _ wanted: WantedSecret) -> SecretProblem {
        .noFile(wanted.question, path: path)
    }

    private func pathOfCredential(_ name: String) throws(SecretProblem) -> String {
        guard let folder = places.environment["CREDENTIALS_DIRECTORY"], folder.exact.hasPrefix("/") else {
            throw .noCredentialsFolder
        }
        return folder + "/" + name
    }

    private func output(of command: String, _ wanted: WantedSecret) throws -> SecretBytes {
        do throws(ShellCommand.Failure) {
            return try ShellCommand.output(
                of: ShellScript(ofUser: command), environment: places.environment, limit: Self.limit)
        } catch {
            switch error {
            case .notStarted(let code): throw SecretProblem.commandNotStarted(code)
            case .failed(let status): throw SecretProblem.commandFailed(status: status)
            case .tooLong(let limit): throw SecretProblem.tooLong(wanted.question, limit: limit)
            case .stream(let failure): throw failure
            }
        }
    }

    /// Reads one line byte by byte and no further, so that the rest is left for the next reader of the descriptor.
    ///
    /// An item's secret is read to the end, so that additional lines are noticed.
    private func bytes(from descriptor: Descriptor, _ wanted: WantedSecret) throws -> SecretBytes {
        guard descriptor.isInherited else { throw SecretProblem.descriptorClosed(descriptor.number) }
        var bytes = SecretBytes(capacity: 256)
        while bytes.count <= Self.limit {
            let before = bytes.count
            try descriptor.read(upTo: 1, into: &bytes)
            if bytes.count == before { return bytes }
            let isEnd = bytes.withBytes { $0[before] } == UInt8(ascii: "\n")
            if isEnd, !wanted.question.isContent, wanted.question != .escrowKey { return bytes }
        }
        throw SecretProblem.tooLong(wanted.question, limit: Self.limit)
    }

    private func firstLine(_ text: consuming SecretBytes, _ wanted: WantedSecret) throws(SecretProblem) -> SecretBytes {
        var line = text
        if wanted.question == .escrowKey { return line }
        let end = line.withBytes { bytes in bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } }
        if let end {
            if wanted.question.isContent, end + 1 < line.count { throw .severalLines(wanted.question) }
            line.removeLast(line.count - end)
        } else if wanted.question.isContent, line.isEmpty {
            // A pipe whose writer failed must not look like an empty secret, which is a line feed.
            throw .noLine(wanted.question)
        }
        return line
    }
}

/// Where sources of secrets are found.
package struct SecretPlaces {
    /// The environment, which names the folder of credentials; secrets are never in it.
    package let environment: [String: String]
    /// Resolves a path that the user gave.
    package let resolve: (String) -> String

    package init(environment: [String: String], resolve: @escaping (String) -> String) {
        self.environment = environment
        self.resolve = resolve
    }
}
