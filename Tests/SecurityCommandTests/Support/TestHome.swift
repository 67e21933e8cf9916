import ByteStreams
import Console
import Cryptography
import DeviceIdentity
import Foundation
import KernelKeyring
import KeychainModel
import KeychainStore
import LocalKeychains
import Synchronization
import TestSupport

@testable import SecurityCommand

/// A device of its own: home, working folder, machine ID, and a clock that moves a minute a run.
final class TestHome: Sendable {
    let folder: TemporaryFolder
    private let time = Atomic<Int64>(0)
    private let retention: any KeyRetention
    /// How long the machine has slept, in milliseconds.
    let slept = Atomic<Int64>(0)

    /// What one run left.
    struct Outcome {
        let status: Int32
        let output: [UInt8]
        let messages: String
        let terminal: ScriptedTerminal
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The least work that is valid: guessing is no subject of these tests.
    static let cost = ScryptCost(logN: 1)

    /// Makes an empty home, with a place for what stays unlocked.
    init(retention: any KeyRetention = MemoryRetention()) throws {
        self.retention = retention
        folder = try TemporaryFolder()
        for name in ["home", "work"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("machine-id", Array("0123456789abcdef0123456789abcdef\n".utf8), mode: 0o644)
    }

    /// Writes a file into the working folder.
    func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        try folder.write("work/" + name, bytes, mode: mode)
    }

    /// Puts the sample certificates and their keys into the working folder.
    func writeSamples() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: OpenSSLCommand.samples) {
            try write(name, [UInt8](Data(contentsOf: URL(filePath: OpenSSLCommand.samples + "/" + name))))
        }
    }

    /// The world of the next run.
    func world(_ terminal: ScriptedTerminal = ScriptedTerminal(), input: String = "") -> World {
        let minutes = time.add(1, ordering: .relaxed).newValue
        let now = Timestamp("2026-03-01T09:29:00.000000Z")?.advanced(byMicroseconds: minutes * 60_000_000)
        return World(
            clock: { now ?? .reference }, environment: ["PATH": "/usr/bin:/bin"], home: folder.path("home"),
            workingFolder: folder.path("work"), machineIDPath: folder.path("machine-id"), terminal: terminal,
            input: ScriptedInput(input), output: CollectedOutput(), messages: CollectedOutput(),
            keychainSession: KeychainSession(
                retention: retention, suspendedTime: { self.slept.load(ordering: .relaxed) }),
            cost: Self.cost,
            lowestCost: Self.cost)
    }

    /// Runs one command line in process.
    @discardableResult
    func run(
        _ arguments: [String], terminal: ScriptedTerminal = ScriptedTerminal(), input: String = ""
    ) -> Outcome {
        let output = CollectedOutput()
        let messages = CollectedOutput()
        var world = world(terminal, input: input)
        world.output = output
        world.messages = messages
        let status = SecurityCommand.run(arguments, in: world)
        return Outcome(status: status.code, output: output.bytes, messages: messages.text, terminal: terminal)
    }

    /// Runs one command line, given as words without quotation marks.
    @discardableResult
    func run(_ line: String) -> Outcome { run(line.split(separator: " ").map(String.init)) }

    /// Makes a keychain, without a password or with one, and opens it.
    @discardableResult
    func keychain(_ name: String = "login", password: String = "") throws -> Keychain {
        let outcome = run(["-q", "create-keychain", "-p", password, name])
        guard outcome.status == 0 else { throw CocoaError(.fileNoSuchFile) }
        let world = world()
        let keychain = try LocalKeychain(name, in: world.dataFolder).open(on: world.device, minimumCost: Self.cost)
        if password.isEmpty {
            try keychain.unlock(passcode: nil, now: world.clock())
        } else {
            let passcode: SecretBytes? = SecretBytes(password.utf8.span)
            try keychain.unlock(passcode: passcode, now: world.clock())
        }
        return keychain
    }
}
