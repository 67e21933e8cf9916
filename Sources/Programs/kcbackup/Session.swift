internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks

/// A run of a command, with its world, output style and subject.
final class Session {
    let world: World
    let style: OutputStyle
    /// The subject that the run is working on, for error messages.
    var subject = Failure.Subject()
    /// True once the run has kept a state of what it changed, to which `undo` goes back.
    var keptState = false
    /// The numbers of the shares of a recovery kit that were typed in, from 1.
    var typedShares: [Int] = []
    /// The archive that warnings are about, if the run reads several.
    var oneOfSeveral: String?
    /// The change that this run has made completely, in words; a failure after it says that it is done.
    var done: String?
    /// The job that this run is for, which cannot ask anyone.
    var job: String? {
        get { subject.job }
        set { subject.job = newValue }
    }
    /// The password of the desktop keyring, for all tasks of the run.
    private let desktopPassword = KeptSecret()
    /// When the run began; everything that one run writes has this date.
    let now: Timestamp
    /// The command's use of the desktop keyring.
    var keyringUse = KeyringUse.none
    /// The progress line, which is erased before anything else is written.
    weak var progress: Progress?
    /// The line that says what takes so long, which is erased before anything else is written.
    let notice: DelayedNotice

    /// Creates a session for a run.
    init(_ world: World, _ style: OutputStyle) {
        let notice = DelayedNotice(on: world.messages, timer: world.later)
        var world = world
        world.terminal = WrappingTerminal(world.terminal, hiding: notice)
        world.machine.tool = CommandLineTool.tool
        self.world = world
        self.style = style
        self.notice = notice
        now = world.machine.clock()
    }

    /// The machine that tasks work with.
    var machine: Machine { world.machine }

    /// The context of the tasks of this run.
    var context: TaskContext {
        TaskContext(
            machine: machine, asking: TerminalAsking(session: self), now: now, desktopPassword: desktopPassword,
            tell: tell)
    }

    /// The calendar of times that people read.
    var calendar: LocalCalendar { world.calendar }

    /// The names of the zone of times in tables.
    var zones: String { calendar.zones(inYearOf: now) }

    /// The width of tables; nil if results do not go to a terminal.
    var tableWidth: Int? { world.terminal.showsOutput ? world.terminal.width ?? 80 : nil }

    /// True if progress is visible to a user.
    var showsProgress: Bool { world.terminal.showsMessages && !style.isQuiet && !style.isJSON }

    /// Prints a result: the JSON object with `--json`, otherwise the lines.
    func result(_ json: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) throws {
        var output = ResultBuffer(self)
        if style.isJSON {
            try output.append(json())
            output.bytes.append(UInt8(ascii: "\n"))
        } else {
            for line in lines() { output.bytes.append(utf8: line) }
        }
        try output.flush()
    }

    /// Breaks the lines of a result between words, as messages are, if it goes to a terminal.
    ///
    /// Not for tables, nor for what is copied or read by programs.
    func prose(_ lines: [String]) -> [String] {
        guard let width = tableWidth else { return lines }
        return lines.map { wrapped($0, to: max(20, width)) }
    }

    /// Appends JSON as ASCII for a terminal, with invisible and misleading characters escaped for a pipe or a file.
    func append(json: borrowing Span<UInt8>, to line: inout some ByteBuffer & ~Copyable) {
        if world.terminal.showsOutput {
            appendASCII(json, to: &line)
        } else {
            appendVisible(json, to: &line)
        }
    }

    /// Writes one line of JSON that contains secrets to standard output, or a piece of it.
    ///
    /// - Parameter isLast: false if more of the line follows.
    func writeJSON(_ json: borrowing SecretBytes, isLast: Bool = true) throws(Failure) {
        var line = SecretBytes(capacity: json.count + 1)
        json.withBytes { append(json: $0, to: &line) }
        if isLast { line.append(UInt8(ascii: "\n")) }
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
        notice.end()
        do throws(StreamFailure) {
            try world.output.write(bytes)
        } catch {
            throw .output(error)
        }
    }

    /// Prints a note if a user is watching or with `--verbose`.
    func note(_ text: String) {
        if showsNotes { message(text + "\n") }
    }

    var showsNotes: Bool { !style.isQuiet && (world.terminal.showsMessages || style.isVerbose) }

    /// Notes a change that is complete.
    ///
    /// Every verb that changes something calls this, or sets `done`, before it prints a result: standard output may
    /// fail, and a change must not be repeated because of that.
    func did(_ change: String) {
        done = change
        note(change)
    }

    /// Prints a warning, even if no user is watching.
    func warn(_ text: String) {
        let subject = oneOfSeveral.map { prefix(of: text, about: $0) } ?? ""
        message("kcbackup: warning: \(subject)\(text)\n")
    }

    /// Prints a warning with its hints.
    func warn(_ explanation: Explanation) {
        warn(explanation.message)
        for hint in explanation.hints { message("kcbackup: hint: \(hint)\n") }
    }

    /// Returns the prefix that makes a message about one of several archives name the archive.
    func prefix(of message: String, about archive: String) -> String {
        oneOfSeveral == nil || message.contains(quoted(archive)) ? "" : quoted(archive) + ": "
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
        notice.end()
        try? world.messages.write(text.utf8.span)
    }

    /// Notes that the change that was just made can be undone, if a state was kept before it.
    ///
    /// - Parameter keychain: the keychain as it was named on the command line.
    func noteUndo(_ keychain: String?) { if keptState { note(undoWords(keychain)) } }

    /// Says how the last change of a keychain is taken back.
    func undoWords(_ keychain: String?) -> String { "\(undoCommand(keychain)) takes that back" }

    /// The command that takes the last change of a keychain back.
    func undoCommand(_ keychain: String?) -> String {
        let option = keychain.map { " \(OptionName.keychain.spelling) \(shellWord($0))" } ?? ""
        return "'kcbackup undo\(option)'"
    }

    /// Ends a dry run whose run itself would ask: says so, or without a terminal refuses as that run would.
    ///
    /// - Returns: the exit status of the refusal where the result is JSON, beside which nothing else is printed; nil if the
    ///   user would be asked.
    /// - Throws: `Failure` (`refused`) without a terminal, unless the result is JSON.
    func foretell(_ question: String) throws(Failure) -> ExitStatus? {
        if world.terminal.isAttended {
            note("without '\(OptionName.yes.spelling)', you will be asked: \(question)")
            return nil
        }
        let refusal = Failure.refused(.unattended(question: question, .yes))
        guard style.isJSON else { throw refusal }
        message(refusal.explanation.lines)
        return refusal.explanation.status
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
