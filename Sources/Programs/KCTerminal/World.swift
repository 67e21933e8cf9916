package import KCBackupCatalogue
internal import KCByteStreams
package import KCConsole
internal import KCKeychainModel
package import KCStoreTasks

/// Everything outside the program that tests replace: the machine, the user's terminal, and outputs.
package struct World {
    package var machine: Machine
    /// The calendar of the user's time zone.
    package var calendar: LocalCalendar
    /// Monotonic time, with an arbitrary start.
    package var stopwatch: () -> Duration
    /// The user's terminal.
    package var terminal: any Terminal
    /// Standard output.
    package var output: any TextOutput
    /// Standard error.
    package var messages: any TextOutput
    /// The timer that shows a notice later, if the user still waits then; by default, it shows none.
    package var later: DelayedNotice.Timer

    /// The function that runs a command in place of this process, and returns only where nothing is replaced.
    package var takeOver: (Successor) throws -> Void = { try $0.takeOver() }

    /// The work of `kcbackup-fleet`; nil in other programs.
    package var fleet: (any FleetVerbs)?
    /// The work of `kcbackup-protect`; nil in other programs.
    package var protect: (any ProtectVerbs)?

    package init(
        machine: Machine, calendar: LocalCalendar = LocalCalendar(), stopwatch: @escaping () -> Duration,
        terminal: any Terminal, output: any TextOutput, messages: any TextOutput,
        later: @escaping DelayedNotice.Timer = { _, _ in {} }
    ) {
        self.machine = machine
        self.calendar = calendar
        self.stopwatch = stopwatch
        self.terminal = terminal
        self.output = output
        self.messages = messages
        self.later = later
    }

    /// Returns the world of the actual process.
    package static func ofThisProcess() -> World {
        let start = ContinuousClock.now
        return World(
            machine: Machine(
                clock: { Timestamp(microseconds: ProcessEnvironment.microsecondsSince1970) ?? .reference },
                environment: ProcessEnvironment.variables, home: ProcessEnvironment.home, costs: .ofThisProcess,
                program: ProcessEnvironment.program),
            stopwatch: { ContinuousClock.now - start },
            terminal: ControllingTerminal(),
            output: Descriptor.standardOutput,
            messages: Descriptor.standardError,
            later: Later.start)
    }
}
