import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import KCSecurityChip

/// Kills `KCSealingProgram` at each system call that changes files or talks to the TPM.
@Suite(
    "A key that moves while the program is killed", .waitsForPrograms,
    .enabled(if: SoftwareTPM.isInstalled, "swtpm or socat is missing"), .traced)
struct KilledSealTests {
    // Each command for the TPM is a write to the program that reaches it.
    private static let calls = ["write", "pwrite64", "fsync", "linkat", "rename", "renameat", "renameat2", "unlink"]
    /// More than a program makes of one call, so that a test that would never end fails.
    private static let limit = 60
    /// `make test` tries every second call.
    private static let step = Environment.has("FAULTS", "all") ? 1 : 2

    private let tpm: SoftwareTPM
    private let folder: TemporaryFolder

    init() throws {
        tpm = try SoftwareTPM()
        folder = try TemporaryFolder(inMemory: true)
    }

    private func run(_ verb: String, killedAt call: (name: String, number: Int)? = nil) throws
        -> ExternalProgram.Outcome
    {
        let program = [try ExternalProgram.built("KCSealingProgram"), folder.path("device.key"), tpm.command, verb]
        guard let call else { return try ExternalProgram.run(program[0], Array(program.dropFirst())) }
        let words = [
            "-qq", "-o", folder.path("trace"), "-e", "trace=\(call.name)",
            "-e", "inject=\(call.name):signal=KILL:when=\(call.number)",
        ]
        return try Strace.run(words + program)
    }

    private func provider() -> FileDeviceKeyProvider {
        FileDeviceKeyProvider(path: folder.path("device.key"), machineIDPath: "/none", chip: DeviceChip(tpm.chip))
    }

    @Test(
        "It is whole, and the same, in the file or in the TPM, wherever the program was killed",
        arguments: ["seal", "unseal"])
    func killed(verb: String) throws {
        #expect(try run("create").status == 0)
        if verb == "unseal" { #expect(try run("seal").status == 0) }
        let before = try folder.read("device.key")
        let device = try provider().load()
        var (kills, ends) = (0, Set<Bool>())
        for name in Self.calls {
            for number in stride(from: verb == "seal" ? 1 : 2, through: Self.limit, by: Self.step) {
                let outcome = try run(verb, killedAt: (name, number))
                if outcome.status != 0 {
                    try #require(outcome.status == 9, "\(name) \(number): \(outcome.errorText)")
                    kills += 1
                    // A resource manager would forget what the killed program had loaded.
                    try tpm.stop()
                    try tpm.start()
                }
                #expect(number < Self.limit - 1)
                let found = try provider().load()
                try found.prove()
                #expect(found.signingPublicKey == device.signingPublicKey)
                let isDone = try folder.read("device.key") != before
                ends.insert(isDone)
                if outcome.status == 0 { #expect(isDone) }
                try folder.write("device.key", before)
                if outcome.status == 0 { break }
            }
        }
        #expect(kills > 10 && ends.contains(false), "\(kills)")
        #expect(try run(verb).status == 0)
        // The files that a killed run left are removed by the next one.
        #expect(try folder.list().filter { ![".lock", "device.key", "trace"].contains($0) } == [])
    }
}
