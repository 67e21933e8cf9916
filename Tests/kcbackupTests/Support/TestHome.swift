import KCBackupCatalogue
import KCByteStreams
import KCConsole
import KCCryptography
import KCDeviceIdentity
import KCKeychainStore
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport

@testable import KCFleetCommand
@testable import KCProtectCommand
@testable import kcbackup

extension TestHome {
    typealias Outcome = ProgramOutcome<ExitStatus>

    /// The world of the next run.
    func world(
        _ terminal: ScriptedTerminal = ScriptedTerminal(), environment: [String: String] = [:],
        calendar: LocalCalendar = .utc
    ) -> World {
        let now = nextTime()
        var machine = Machine(
            clock: { now }, environment: Self.environment.merging(environment) { $1 }, home: self.home,
            // The lowest valid costs: these tests are not about guessing.
            costs: DerivationCosts(
                passcode: ScryptCost(logN: 1), lowestPasscode: ScryptCost(logN: 1), passphrase: ScryptCost(logN: 1),
                kdbxMemoryInKiB: 64),
            // Others may be able to write to the folder of the sources, which `doctor` reports.
            program: program)
        machine.workingFolder = workingFolder
        machine.systemRoot = workingFolder + "/root"
        machine.machineIDPath = machineIDPath
        machine.systemConnections = path("system-connections")
        machine.chip = DeviceChip(chip)
        machine.tokens = securityTokens
        machine.unlocked = KeychainSession(retention: kernel, suspendedTime: { [self] in suspendedTime })
        // The user who runs the tests may be logged in to a desktop.
        machine.userRuntimeFolder = self.home + "/run"
        var world = World(
            machine: machine, calendar: calendar, stopwatch: { .zero }, terminal: terminal, output: CollectedOutput(),
            messages: CollectedOutput())
        world.fleet = FleetWork()
        world.protect = ProtectWork()
        return world
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
            world.takeOver = { try Self.show($0, on: output) }
            return CommandLineTool.program.run(arguments, in: world)
        }
    }

    /// Prints the variables and the command that would take the place of the process.
    private static func show(_ successor: Successor, on output: CollectedOutput) throws {
        for variable in successor.variables {
            try output.write("\(variable.name)=\(variable.isFile ? "/dev/fd/… with " : "")".utf8.span)
            try variable.secret.withBytes { try output.write($0) }
            try output.write("\n".utf8.span)
        }
        try output.write((successor.words.joined(separator: " ") + "\n").utf8.span)
    }

    /// The number of wrong passcodes that a keychain has counted since the last right one.
    func wrongPasscodes(_ name: String) throws -> Int {
        let session = Session(world(), OutputStyle())
        return try LocalKeychain(name, in: session.machine).open(in: session.machine).wrongPasscodeCount()
    }

    /// Runs one command line, given as words without quotation marks.
    func run(_ line: String) -> Outcome { run(line.split(separator: " ").map(String.init)) }
}
