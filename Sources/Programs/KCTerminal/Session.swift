internal import KCAsking
package import KCBackupCatalogue
internal import KCBackupTasks
package import KCByteStreams
package import KCConsole
package import KCKeychainModel
package import KCReportText
package import KCStoreTasks

/// A run of a command, with its world, output style and subject.
package final class Session {
    package let world: World
    package let style: OutputStyle
    /// The words of the command line, without the name of the program.
    let commandLine: [String]
    /// The subject that the run is working on, for error messages.
    package var subject = Failure.Subject()
    /// True once the run has kept a state of what it changed, to which `undo` goes back.
    package var keptState = false
    /// The numbers of the shares of a recovery kit that were typed in, from 1.
    package var typedShares: [Int] = []
    /// The archive that warnings are about, if the run reads several.
    package var oneOfSeveral: String?
    /// The change that this run has made completely, in words; a failure after it says that it is done.
    package var done: String?
    /// The job that this run is for, which cannot ask anyone.
    package var job: String? {
        get { subject.job }
        set { subject.job = newValue }
    }
    /// The password of the desktop keyring, for all tasks of the run.
    private let desktopPassword = KeptSecret()
    /// When the run began; everything that one run writes has this date.
    package let now: Timestamp
    /// The command's use of the desktop keyring.
    package var keyringUse = KeyringUse.none
    /// The progress line, which is erased before anything else is written.
    package weak var progress: Progress?
    /// The line that says what takes so long, which is erased before anything else is written.
    package let notice: DelayedNotice

    /// Creates a session for a run.
    package init(_ world: World, _ style: OutputStyle, commandLine: [String] = []) {
        let notice = DelayedNotice(on: world.messages, timer: world.later)
        var world = world
        world.terminal = WrappingTerminal(world.terminal, hiding: notice)
        self.world = world
        self.style = style
        self.commandLine = commandLine
        self.notice = notice
        now = world.machine.clock()
    }

    /// The machine that tasks work with.
    package var machine: Machine { world.machine }

    /// The context of the tasks of this run.
    package var context: TaskContext {
        TaskContext(
            machine: machine, asking: TerminalAsking(session: self), now: now, desktopPassword: desktopPassword,
            tell: tell)
    }

    /// The calendar of times that people read.
    package var calendar: LocalCalendar { world.calendar }

    /// The names of the zone of times in tables.
    package var zones: String { calendar.zones(inYearOf: now) }

    /// The width of tables; nil if results do not go to a terminal.
    package var tableWidth: Int? { world.terminal.showsOutput ? world.terminal.width ?? 80 : nil }

    /// True if progress is visible to a user.
    package var showsProgress: Bool { world.terminal.showsMessages && !style.isQuiet && !style.isJSON }

    /// Prints a result: the JSON object with `--json`, otherwise the lines.
    package func result(_ json: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) throws {
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
    package func prose(_ lines: [String]) -> [String] {
        guard let width = tableWidth else { return lines }
        return lines.map { wrapped($0, to: max(20, width)) }
    }

    /// Appends JSON as ASCII for a terminal, with invisible and misleading characters escaped for a pipe or a file.
    package func append(json: borrowing Span<UInt8>, to line: inout some ByteBuffer & ~Copyable) {
        if world.terminal.showsOutput {
            appendASCII(json, to: &line)
        } else {
            appendVisible(json, to: &line)
        }
    }

    /// Writes one line of JSON that contains secrets to standard output, or a piece of it.
    ///
    /// - Parameter isLast: false if more of the line follows.
    package func writeJSON(_ json: borrowing SecretBytes, isLast: Bool = true) throws(Failure) {
        var line = SecretBytes(capacity: json.count + 1)
        json.withBytes { append(json: $0, to: &line) }
        if isLast { line.append(UInt8(ascii: "\n")) }
        try write(line)
    }

    /// Writes bytes to standard output, unchanged.
    ///
    /// - Throws: `Failure.output`, which is not attributed to a file of the run.
    package func write(_ bytes: borrowing SecretBytes) throws(Failure) {
        try bytes.withBytes { span throws(Failure) in try write(span) }
    }

    /// Writes bytes to standard output, unchanged.
    ///
    /// - Throws: `Failure.output`, which is not attributed to a file of the run.
    package func write(_ bytes: borrowing Span<UInt8>) throws(Failure) {
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
    package func note(_ text: String) {
        if showsNotes { message(text + "\n") }
    }

    package var showsNotes: Bool { !style.isQuiet && (world.terminal.showsMessages || style.isVerbose) }

    /// Notes a change that is complete.
    ///
    /// Every verb that changes something calls this, or sets `done`, before it prints a result: standard output may
    /// fail, and a change must not be repeated because of that.
    package func noteDone(_ change: String) {
        done = change
        note(change)
    }

    /// Prints a warning, even if no user is watching.
    package func warn(_ text: String) {
        let subject = oneOfSeveral.map { prefix(of: text, about: $0) } ?? ""
        message("kcbackup: warning: \(subject)\(text)\n")
    }

    /// Prints a warning with its hints.
    package func warn(_ explanation: Explanation) {
        warn(explanation.message)
        for hint in explanation.hints { message("kcbackup: hint: \(hint)\n") }
    }

    /// Returns the prefix that makes a message about one of several archives name the archive.
    package func prefix(of message: String, about archive: String) -> String {
        oneOfSeveral == nil || message.contains(quoted(archive)) ? "" : quoted(archive) + ": "
    }

    /// Writes to standard error.
    ///
    /// A failure cannot be reported; the exit status still tells the outcome.
    package func message(_ text: String) {
        progress?.finish()
        draw(world.terminal.messageWidth.map { wrapped(text, to: max(20, $0)) } ?? text)
    }

    /// Writes to standard error, for `Progress`.
    package func draw(_ text: String) {
        notice.end()
        try? world.messages.write(text.utf8.span)
    }

    /// Notes that the change that was just made can be undone, if a state was kept before it.
    ///
    /// - Parameter keychain: the keychain as it was named on the command line.
    package func noteUndo(_ keychain: String?) { if keptState { note(undoWords(keychain)) } }

    /// Says how the last change of a keychain is taken back.
    package func undoWords(_ keychain: String?) -> String { "\(undoCommand(keychain)) takes that back" }

    /// The command that takes the last change of a keychain back.
    package func undoCommand(_ keychain: String?) -> String {
        let option = keychain.map { " \(OptionName.keychain.spelling) \(shellWord($0))" } ?? ""
        return "'kcbackup undo\(option)'"
    }

    /// Ends a dry run whose run itself would ask: says so, or without a terminal refuses as that run would.
    ///
    /// - Returns: the exit status of the refusal where the result is JSON, beside which nothing else is printed; nil if the
    ///   user would be asked.
    /// - Throws: `Failure` (`refused`) without a terminal, unless the result is JSON.
    package func tellQuestion(_ question: String) throws(Failure) -> ExitStatus? {
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
    package func confirm(_ question: String, isGiven: Bool, flag: OptionName = .yes) throws {
        if isGiven { return }
        guard world.terminal.isAttended else { throw Refusal.unattended(question: question, flag) }
        guard try world.terminal.confirms(question) else { throw Refusal.declined }
    }
}

/// The output style of a run.
package struct OutputStyle: Hashable, Sendable {
    /// True to print results as JSON.
    package var isJSON = false
    /// True to print only results, warnings and errors.
    package var isQuiet = false
    /// True to print more than usual.
    package var isVerbose = false

    package init(isJSON: Bool = false, isQuiet: Bool = false, isVerbose: Bool = false) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
    }
}
