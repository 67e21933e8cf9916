internal import KCConsole
internal import KCByteStreams
internal import KCKeychainModel

/// One run of one command, with its world, output style and subjects.
final class Session {
    let world: World
    let style: OutputStyle
    /// What the run is working on, for error messages.
    var subjects = Failure.Subjects()
    /// The archive that warnings are about, if the run reads several.
    var oneOfSeveral: String?
    /// A change that is complete although its result is not printed yet, in words.
    var done: String?
    /// The job that this run is for, which cannot ask anyone.
    var job: String? {
        get { subjects.job }
        set { subjects.job = newValue }
    }
    /// The password of the desktop keyring: several collections may need it, and a source gives it only once.
    var desktopPassword: KeptPassword?
    /// When the run began; everything that one run writes has this date.
    let now: Timestamp
    /// What the command can do with the desktop keyring.
    var keyringUse = KeyringUse.none
    /// The progress line, which is erased before anything else is written.
    weak var progress: Progress?

    /// Creates a session for a run.
    init(_ world: World, _ style: OutputStyle) {
        self.world = world
        self.style = style
        now = world.clock()
    }

    /// The input for secrets.
    var secrets: SecretInput { SecretInput(world: world) }

    /// The width of tables; nil if results do not go to a terminal.
    var tableWidth: Int? { world.terminal.showsOutput ? world.terminal.width ?? 80 : nil }

    /// True if progress is visible to a user.
    var showsProgress: Bool { world.terminal.showsMessages && !style.isQuiet && !style.isJSON }

    /// Prints a result: the JSON object with `--json`, otherwise the lines.
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

    /// Writes one line of JSON that contains secrets to standard output, as ASCII on a terminal.
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

    /// Writes bytes to standard output, unchanged.
    ///
    /// - Throws: `Failure.output`, which is not attributed to a file of the run.
    func write(_ bytes: borrowing SecretBytes) throws(Failure) {
        try bytes.withBytes { span throws(Failure) in try write(span) }
    }

    /// Writes bytes to standard output, unchanged.
    ///
    /// - Throws: `Failure.output`, which is not attributed to a file of the run.
    func write(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        if bytes.isEmpty { return }
        progress?.finish()
        do throws(StreamFailure) {
            try world.output.write(bytes)
        } catch {
            throw .output(error)
        }
    }

    /// Prints a note if a user is watching or with `--verbose`.
    func note(_ text: String) {
        if style.isQuiet || !(world.terminal.showsMessages || style.isVerbose) { return }
        message(text + "\n")
    }

    /// Prints a warning, even if no user is watching.
    func warn(_ text: String) {
        let subject = oneOfSeveral.map { prefix(of: text, about: $0) } ?? ""
        message("kcbackup: warning: \(subject)\(text)\n")
    }

    /// Returns the prefix that makes a message about one of several archives name the archive.
    func prefix(of message: String, about archive: String) -> String {
        oneOfSeveral == nil || message.contains(quoted(archive)) ? "" : quoted(archive) + ": "
    }

    /// Lists items, even without a terminal: at most 20 lines, all with `--verbose`, none with `--quiet`.
    ///
    /// - Parameter line: returns the line for an item, given its index in `items` and a name that distinguishes it from
    ///   the others.
    func list(_ items: [Item], _ line: (Int, String) -> String) {
        if style.isQuiet { return }
        let limit = 20
        // One more item takes no more space than a line that says so.
        let shown = style.isVerbose || items.count <= limit + 1 ? items.count : limit
        let words = wordsApart(items.prefix(shown))
        for (index, words) in words.enumerated() { message(line(index, words) + "\n") }
        if shown < items.count { message("… and \(items.count - shown) more (-v shows all)\n") }
    }

    /// Writes to standard error.
    ///
    /// A failure cannot be reported; the exit status still tells the outcome.
    func message(_ text: String) {
        progress?.finish()
        draw(world.terminal.messageWidth.map { wrapped(text, to: max(20, $0)) } ?? text)
    }

    /// Writes to standard error, for `Progress`.
    func draw(_ text: String) {
        try? world.messages.write(text.utf8.span)
    }

    /// Notes that the change that was just made can be undone.
    ///
    /// - Parameter keychain: the keychain as it was named on the command line.
    func noteUndo(_ keychain: String?) { note(undoWords(keychain)) }

    /// Says how the last change of a keychain is taken back.
    func undoWords(_ keychain: String?) -> String {
        let option = keychain.map { " \(OptionName.keychain.spelling) \(shellWord($0))" } ?? ""
        return "'kcbackup undo\(option)' takes that back"
    }

    /// Returns a new passcode for a keychain; nil if the user types none and confirms that.
    ///
    /// - Throws: as `SecretInput.new`.
    func newPasscode(_ wanted: WantedSecret, judge: (borrowing SecretBytes) -> Void) throws -> SecretBytes? {
        while true {
            if let secret = try secrets.new(wanted, judge: judge) { return secret }
            if try world.terminal.confirms("Make it without a passcode?") { return nil }
        }
    }

    /// Asks for confirmation, unless `isGiven`.
    ///
    /// - Throws: `Refusal` (`unattended`, `declined`), `TerminalFailure`.
    func confirm(_ question: String, isGiven: Bool, flag: OptionName = .yes) throws {
        if isGiven { return }
        guard world.terminal.isAttended else { throw Refusal.unattended(question: question, flag) }
        guard try world.terminal.confirms(question) else { throw Refusal.declined }
    }
}

/// The output style of a run.
struct OutputStyle: Hashable, Sendable {
    /// True to print results as JSON.
    var isJSON = false
    /// True to print only results, warnings and errors.
    var isQuiet = false
    /// True to print more than usual.
    var isVerbose = false
}
