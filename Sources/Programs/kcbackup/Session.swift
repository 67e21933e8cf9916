internal import Console
internal import ByteStreams
internal import KeychainModel

/// One run of one verb: the world around it, how it is to speak, and what it is working on.
final class Session {
    let world: World
    let style: OutputStyle
    /// What the run works on, for the words of an error.
    var subjects = Failure.Subjects()
    /// The time at which the run began; everything that one run writes bears this one date.
    let now: Timestamp

    /// Starts a run.
    init(_ world: World, _ style: OutputStyle) {
        self.world = world
        self.style = style
        now = world.clock()
    }

    /// Where secrets come from.
    var secrets: any SecretInput { SourcedSecretInput(world: world) }

    /// The width of tables; nil when results do not go to a terminal.
    var tableWidth: Int? { world.terminal.showsOutput ? world.terminal.width ?? 80 : nil }

    /// Writes a result: the JSON object with `--json`, the lines otherwise.
    func result(_ json: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) throws(Failure) {
        var output = ResultBuffer(self)
        if style.isJSON {
            json().encode(into: &output.bytes)
            output.bytes.append(UInt8(ascii: "\n"))
        } else {
            for line in lines() { output.bytes.append(utf8: line) }
        }
        try output.flush()
    }

    /// Writes one line of JSON that holds secrets to standard output, in ASCII when a terminal shows it.
    func writeJSON(_ json: borrowing SecretBytes) throws(Failure) {
        var line = SecretBytes(capacity: json.count + 1)
        if world.terminal.showsOutput {
            json.withBytes { appendASCII($0, to: &line) }
        } else {
            json.withBytes { line.append($0) }
        }
        line.append(UInt8(ascii: "\n"))
        try write(line)
    }

    /// Writes bytes to standard output as they are.
    ///
    /// - Throws: `Failure.output`, which blames no file that the run was about.
    func write(_ bytes: borrowing SecretBytes) throws(Failure) {
        try bytes.withBytes { span throws(Failure) in try write(span) }
    }

    /// Writes bytes to standard output as they are.
    ///
    /// - Throws: `Failure.output`, which blames no file that the run was about.
    func write(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        if bytes.isEmpty { return }
        do throws(StreamFailure) {
            try world.output.write(bytes)
        } catch {
            throw .output(error)
        }
    }

    /// Says what was done, to a person who watches, or to anybody with `--verbose`.
    func note(_ text: String) {
        if style.isQuiet || !(world.terminal.showsMessages || style.isVerbose) { return }
        message(text + "\n")
    }

    /// Says what somebody should know also when nobody watches.
    func warn(_ text: String) {
        message("kcbackup: warning: \(text)\n")
    }

    /// Writes to standard error.
    ///
    /// A failure there can be told to nobody; the exit status still tells.
    func message(_ text: String) {
        try? world.messages.write(text.utf8.span)
    }

    /// Asks for a yes, unless `isGiven` says it already.
    ///
    /// - Throws: `Refusal` (`unattended`, `declined`), `TerminalFailure`.
    func confirm(_ question: String, isGiven: Bool, flag: OptionName = .yes) throws {
        if isGiven { return }
        guard world.terminal.isAttended else { throw Refusal.unattended(question: question, flag) }
        guard try world.terminal.confirms(question) else { throw Refusal.declined }
    }
}

/// How a run speaks.
struct OutputStyle: Hashable, Sendable {
    /// Results are JSON.
    var isJSON = false
    /// Nothing but results, warnings and errors.
    var isQuiet = false
    /// More than usual.
    var isVerbose = false
}
