import Foundation
import KCByteStreams
import KCCryptography
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport

@testable import KCSecurityCommand

extension TestHome {
    typealias Outcome = ProgramOutcome<Int32>

    /// The lowest valid cost: these tests are not about guessing.
    static let cost = ScryptCost(logN: 1)

    /// Puts the sample certificates and their keys into the working folder.
    func writeSamples() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: OpenSSLCommand.samples) {
            try write(name, [UInt8](Data(contentsOf: URL(filePath: OpenSSLCommand.samples + "/" + name))))
        }
    }

    /// The world of the next run.
    func world(_ terminal: ScriptedTerminal = ScriptedTerminal(), input: String = "") -> World {
        let now = nextTime()
        return World(
            clock: { now }, environment: Self.environment, home: self.home, workingFolder: workingFolder,
            machineIDPath: machineIDPath, terminal: terminal, input: ScriptedInput(input), output: CollectedOutput(),
            messages: CollectedOutput(),
            keychainSession: KeychainSession(retention: kernel, suspendedTime: { [self] in suspendedTime }),
            cost: Self.cost, lowestCost: Self.cost)
    }

    /// Runs one command line in process.
    @discardableResult
    func run(
        _ arguments: [String], terminal: ScriptedTerminal = ScriptedTerminal(), input: String = ""
    ) -> Outcome {
        Outcome(at: terminal) { output, messages in
            var world = world(terminal, input: input)
            world.output = output
            world.messages = messages
            return KCSecurityCommand.run(arguments, in: world).code
        }
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
        let passcode = password.isEmpty ? nil : SecretBytes(copying: password.utf8)
        try keychain.unlock(passcode: passcode, now: world.clock())
        return keychain
    }
}
