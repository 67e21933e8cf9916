internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCReportText

/// The purpose of a secret.
struct WantedSecret {
    /// Its name in a sentence, such as "passcode of keychain 'login'".
    var what: String
    /// Text to show before the secret is asked for again; may be empty.
    var remark = ""
    /// A note in parentheses for the prompt of a new secret; may be empty.
    var note = ""
    /// The option that names its source.
    var flag: OptionName
    /// Its source; nil to prompt the user, if there is a terminal.
    var source: SecretSource?
    /// True for the secret of an item, which may be empty, may contain any byte, and must be read completely.
    var isContent = false

    /// True for a password that its program allows to be empty.
    var mayBeEmpty = false

    /// True for a key file, of which every line counts.
    var isKeyFile = false

    /// The first word of its name: "passcode" or "passphrase".
    var kind: String { String(what.prefix { $0 != " " }) }

    /// True if the user types the secret.
    var isTyped: Bool { source == nil || source == .terminal }

    /// The maximum size of a passphrase or passcode in bytes: far more than anyone types.
    static let limit = PrivateFile.sizeLimit
}

/// Reads passphrases, passcodes and secrets of items, from the sources named on the command line.
struct SecretInput {
    let world: World
    /// Warns of a new secret that will be hard to type.
    let warn: (String) -> Void

    /// Checks that a secret that is read later can be, as far as that can be known without reading it: before another is
    /// asked for in vain.
    ///
    /// - Throws: as `existing`.
    func require(_ wanted: WantedSecret) throws {
        if try asksPerson(wanted) { return }
        switch wanted.source {
        case .file(let path): if try !Path.exists(world.resolve(path)) { throw noFile(path, wanted) }
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
    func existing(_ wanted: WantedSecret) throws -> SecretReadings {
        guard try asksPerson(wanted) else { return try SecretReadings(sourced(wanted), wanted) }
        return try SecretReadings(
            world.terminal.readSecret("\(wanted.remark)Enter the \(wanted.what): "), wanted)
    }

    /// Reads a key file, byte for byte.
    ///
    /// - Throws: as `existing`.
    func keyFile(_ wanted: WantedSecret) throws -> SecretBytes {
        var wanted = wanted
        wanted.isKeyFile = true
        if try asksPerson(wanted) { throw SecretProblem.notASource(wanted.flag) }
        return try sourced(wanted)
    }

    /// Returns what a secret that was read becomes where it is set: text that can be typed, as far as possible.
    func chosen(_ readings: SecretReadings, _ wanted: WantedSecret) throws(SecretProblem) -> SecretBytes {
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
    func new(_ wanted: WantedSecret, judge: (borrowing SecretBytes) throws -> Void = { _ in }) throws -> SecretBytes? {
        guard try asksPerson(wanted) else {
            if wanted.isContent { return try sourced(wanted) }
            let secret = try chosen(existing(wanted), wanted)
            try judge(secret)
            return secret
        }
        return try world.terminal.quietly { try typedTwice(wanted, judge: judge) }
    }

    private func typedTwice(
        _ wanted: WantedSecret, judge: (borrowing SecretBytes) throws -> Void
    ) throws -> SecretBytes? {
        let prompt = "Enter the new \(wanted.what)\(wanted.note.isEmpty ? "" : " (\(wanted.note))"): "
        var judged = SecretBytes(capacity: 0)
        for remark in ["", "They differ; try again.\n", "They differ again; one more try.\n"] {
            var secret = try world.terminal.readSecret(remark + prompt)
            if !wanted.isContent {
                secret.removeLineMarks()
                if secret.isEmpty { return nil }
                if !constantTimeEqual(secret, judged) {
                    warnOfOddities(secret, wanted)
                    try judge(secret)
                }
            }
            var again = try world.terminal.readSecretAgain("Enter it again: ")
            if !wanted.isContent { again.removeLineMarks() }
            if constantTimeEqual(secret, again) {
                if !wanted.isContent, secret.holdsNUL { throw SecretProblem.holdsNUL(what: wanted.what) }
                return secret
            }
            judged = secret
        }
        throw SecretProblem.differ(what: wanted.what)
    }

    private func asksPerson(_ wanted: WantedSecret) throws(SecretProblem) -> Bool {
        switch wanted.source {
        case .terminal: return true
        case nil:
            guard world.terminal.isAttended else { throw .noSource(what: wanted.what, wanted.flag) }
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
        case .terminal, nil: throw SecretProblem.notASource(wanted.flag)
        }
    }

    private func read(_ path: String, _ wanted: WantedSecret) throws -> SecretBytes {
        do throws(FileFailure) {
            return try PrivateFile.read(world.resolve(path))
        } catch {
            guard error.problem == .notFound else { throw error }
            throw noFile(path, wanted)
        }
    }

    private func noFile(_ path: String, _ wanted: WantedSecret) -> SecretProblem {
        .noFile(what: wanted.what, path: path, isKeyFile: wanted.isKeyFile)
    }

    private func pathOfCredential(_ name: String) throws(SecretProblem) -> String {
        guard let folder = world.environment["CREDENTIALS_DIRECTORY"], folder.exact.hasPrefix("/") else {
            throw .noCredentialsFolder
        }
        return folder + "/" + name
    }

    private func output(of command: String, _ wanted: WantedSecret) throws -> SecretBytes {
        do throws(ShellCommand.Failure) {
            return try ShellCommand.output(
                of: ShellScript(ofUser: command), environment: world.environment, limit: WantedSecret.limit)
        } catch {
            switch error {
            case .notStarted(let code): throw SecretProblem.commandNotStarted(code)
            case .failed(let status): throw SecretProblem.commandFailed(status: status)
            case .tooLong(let limit): throw SecretProblem.tooLong(what: wanted.what, limit: limit)
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
        while bytes.count <= WantedSecret.limit {
            let before = bytes.count
            try descriptor.read(upTo: 1, into: &bytes)
            if bytes.count == before { return bytes }
            let isEnd = bytes.withBytes { $0[before] } == UInt8(ascii: "\n")
            if isEnd, !wanted.isContent, !wanted.isKeyFile { return bytes }
        }
        throw SecretProblem.tooLong(what: wanted.what, limit: WantedSecret.limit)
    }

    private func firstLine(_ text: consuming SecretBytes, _ wanted: WantedSecret) throws(SecretProblem) -> SecretBytes {
        var line = text
        if wanted.isKeyFile { return line }
        let end = line.withBytes { bytes in bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } }
        if let end {
            if wanted.isContent, end + 1 < line.count { throw .severalLines(what: wanted.what) }
            line.removeLast(line.count - end)
        } else if wanted.isContent, line.isEmpty {
            // A pipe whose writer failed must not look like an empty secret, which is a line feed.
            throw .noLine(what: wanted.what)
        }
        return line
    }
}
