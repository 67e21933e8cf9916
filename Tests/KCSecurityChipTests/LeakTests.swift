import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import KCSecurityChip

@Suite(
    "What a TPM's library leaves behind", .waitsForPrograms,
    .enabled(if: SoftwareTPM.isInstalled, Comment(rawValue: SoftwareTPM.missing)))
struct LeakTests {
    private let tpm: SoftwareTPM
    private let folder: TemporaryFolder

    init() throws {
        tpm = try SoftwareTPM()
        folder = try TemporaryFolder()
    }

    private func sealing(_ words: String...) throws -> ExternalProgram.Outcome {
        let environment = ProcessInfo.processInfo.environment.merging([
            "TSS2_LOG": "all+TRACE", "TSS2_LOGFILE": folder.path("log"), "TPM2TOOLS_TCTI": "none",
            "TSS2_TCTI": "none",
        ]) { $1 }
        return try ExternalProgram.run(
            ExternalProgram.built("KCSealingProgram"), [folder.path("device.key"), tpm.command] + words,
            environment: environment)
    }

    @Test("Its log, which would have the secret, is switched off, whatever the environment says")
    func log() throws {
        #expect(try sealing("create").status == 0)
        for words in ["seal", "load"] {
            let outcome = try sealing(words)
            #expect(outcome.status == 0 && outcome.errorText == "", "\(outcome.errorText)")
        }
        #expect(try folder.list() == [".lock", "device.key"])
    }

    @Test("No copy of the secret is left in memory after it was sealed or opened")
    func memory() throws {
        #expect(try sealing("create").status == 0)
        for words in ["seal", "load"] {
            let outcome = try sealing(words, "search")
            #expect(outcome.status == 0, "\(outcome.errorText)")
            #expect(outcome.text == "copies 0, of a planted one 1\n", "\(words)")
        }
    }

    @Test("No copy of a passcode's share, or of its password, is left in memory after it was sealed and opened")
    func passcode() throws {
        try tpm.run("tpm2_dictionarylockout", "-s", "-n", "32", "-t", "1000", "-l", "1000", in: folder)
        let outcome = try sealing("guard", "search")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text == String(repeating: "copies 0, of a planted one 1\n", count: 2))
    }
}
