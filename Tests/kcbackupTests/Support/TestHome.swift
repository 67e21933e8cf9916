import Console
import ByteStreams
import Cryptography
import Foundation
import KeychainModel
import KeychainStore
import Synchronization
import TestSupport

@testable import kcbackup

/// A device of its own: home, working folder, machine ID, and a clock that moves a minute a run.
final class TestHome: Sendable {
    let folder: TemporaryFolder
    /// What stays unlocked between runs.
    let retention = MemoryRetention()
    private let time = Atomic<Int64>(0)
    private let suspended = Atomic<Int64>(0)

    /// What one run left.
    struct Outcome {
        let status: ExitStatus
        let output: [UInt8]
        let messages: String
        let terminal: ScriptedTerminal
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["home", "work"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("machine-id", Array("0123456789abcdef0123456789abcdef\n".utf8), mode: 0o644)
    }

    /// The path of a file in the working folder.
    func path(_ name: String) -> String { folder.path("work/" + name) }

    /// Writes a file into the working folder.
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try folder.write("work/" + name, Array(text.utf8), mode: mode)
    }

    /// The world of the next run.
    func world(_ terminal: ScriptedTerminal = ScriptedTerminal(), environment: [String: String] = [:]) -> World {
        let minutes = time.add(1, ordering: .relaxed).newValue
        let now = Timestamp("2026-03-01T09:29:00.000000Z")?.advanced(byMicroseconds: minutes * 60_000_000)
        return World(
            clock: { now ?? .reference }, stopwatch: { .zero },
            environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
            home: folder.path("home"), workingFolder: folder.path("work"), machineIDPath: folder.path("machine-id"),
            terminal: terminal, output: CollectedOutput(), messages: CollectedOutput(),
            // The least that is valid: the work of guessing is no subject of these tests.
            costs: DerivationCosts(
                passcode: ScryptCost(logN: 1), lowestPasscode: ScryptCost(logN: 1), passphrase: ScryptCost(logN: 1)),
            unlocked: KeychainSession(
                retention: retention, suspendedTime: { [self] in suspended.load(ordering: .relaxed) }))
    }

    /// Lets the machine sleep for a minute.
    func sleep() { suspended.add(60_000, ordering: .relaxed) }

    /// Runs one command line in process.
    func run(
        _ arguments: [String], terminal: ScriptedTerminal = ScriptedTerminal(), environment: [String: String] = [:]
    ) -> Outcome {
        let output = CollectedOutput()
        let messages = CollectedOutput()
        var world = world(terminal, environment: environment)
        world.output = output
        world.messages = messages
        let status = kcbackup.run(arguments, in: world)
        return Outcome(status: status, output: output.bytes, messages: messages.text, terminal: terminal)
    }

    /// Runs one command line, given as words without quotation marks.
    func run(_ line: String) -> Outcome { run(line.split(separator: " ").map(String.init)) }
}
