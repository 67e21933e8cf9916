import KCBackupCatalogue
import KCCryptography
import KCDeviceIdentity
import KCKeychainStore
import KCTestSupport

@testable import kcbackup

extension TestHome {
    typealias Outcome = ProgramOutcome<ExitStatus>

    /// The world of the next run.
    func world(
        _ terminal: ScriptedTerminal = ScriptedTerminal(), environment: [String: String] = [:],
        calendar: LocalCalendar = .utc
    ) -> World {
        let now = nextTime()
        return World(
            clock: { now }, calendar: calendar, stopwatch: { .zero },
            environment: Self.environment.merging(environment) { $1 },
            home: self.home, workingFolder: workingFolder, machineIDPath: machineIDPath,
            chip: DeviceChip(chip), terminal: terminal, output: CollectedOutput(), messages: CollectedOutput(),
            // The lowest valid costs: these tests are not about guessing.
            costs: DerivationCosts(
                passcode: ScryptCost(logN: 1), lowestPasscode: ScryptCost(logN: 1), passphrase: ScryptCost(logN: 1)),
            unlocked: KeychainSession(retention: kernel, suspendedTime: { [self] in suspendedTime }),
            // The user who runs the tests may be logged in to a desktop.
            userRuntimeFolder: self.home + "/run")
    }

    /// Runs one command line in process.
    func run(
        _ arguments: [String], terminal: ScriptedTerminal = ScriptedTerminal(), environment: [String: String] = [:],
        calendar: LocalCalendar = .utc
    ) -> Outcome {
        Outcome(at: terminal) { output, messages in
            var world = world(terminal, environment: environment, calendar: calendar)
            world.output = output
            world.messages = messages
            return kcbackup.run(arguments, in: world)
        }
    }

    /// Runs one command line, given as words without quotation marks.
    func run(_ line: String) -> Outcome { run(line.split(separator: " ").map(String.init)) }
}
