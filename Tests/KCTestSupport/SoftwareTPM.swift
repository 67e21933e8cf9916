import CKCTestSupport
import Foundation
internal import Glibc
package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
internal import KCSecurityChip
internal import Synchronization

/// A TPM 2.0 in software (swtpm), with a state of its own, which answers at a socket in a folder.
///
/// A TPM ends with the last reference to it. Only a suite that waits for programs can start one.
package final class SoftwareTPM: Sendable {
    /// True if the programs that a TPM needs are installed.
    package static let isInstalled = ["swtpm", "socat"].allSatisfy { ExternalProgram.locate($0) != nil }
    /// The message if a program is missing.
    package static let missing = "swtpm or socat is not installed"

    private let folder: TemporaryFolder

    /// Starts a TPM.
    ///
    /// - Parameter state: a TPM whose state it begins with; nil for a new one.
    package init(copying state: SoftwareTPM? = nil) throws {
        // As kcbackup does: a TPM that ends is an error of the call that writes to it, and not the end of the tests.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createDirectory(atPath: folder.path("state"), withIntermediateDirectories: false)
        for name in try state.map({ try FileManager.default.contentsOfDirectory(atPath: $0.folder.path("state")) })
            ?? []
        {
            guard let state, name.hasSuffix(".permall") else { continue }
            try FileManager.default.copyItem(
                atPath: state.folder.path("state/" + name), toPath: folder.path("state/" + name))
        }
        try start()
    }

    deinit { try? stop() }

    /// Starts it after ``stop()``.
    package func start() throws {
        let outcome = try ExternalProgram.run(
            "swtpm",
            [
                "socket", "--tpm2", "--tpmstate", "dir=\(folder.path("state"))",
                "--server", "type=unixio,path=\(folder.path("socket"))", "--flags", "not-need-init,startup-clear",
                "--log", "file=\(folder.path("log")),level=20", "--daemon", "--pid", "file=\(folder.path("pid"))",
            ])
        guard outcome.status == 0 else { throw Failed(said: outcome.errorText) }
        // The TPM may take a moment until it can be reached.
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while try ExternalProgram.run("socat", ["-u", "/dev/null", "UNIX-CONNECT:\(socket)"]).status != 0 {
            guard ContinuousClock.now < deadline else { throw Failed(said: "swtpm cannot be reached") }
        }
    }

    /// Ends it, as a machine that loses its power.
    package func stop() throws {
        guard let text = try? folder.read("pid"),
            let process = pid_t(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        try FileManager.default.removeItem(atPath: folder.path("pid"))
        kill(process, SIGKILL)
        // The TPM is no child of this process, so it can only be seen to be gone.
        while kill(process, 0) == 0 { usleep(1_000) }
    }

    /// The path of its socket.
    package var socket: String { folder.path("socket") }

    /// How a program reaches it.
    package var command: String { "socat -t 0 - UNIX-CONNECT:\(socket)" }

    /// The TPM.
    package var chip: QueuedChip { QueuedChip(command) }

    /// Everything that was said to it and that it has answered, in hexadecimal digits without spaces.
    package func log() throws -> String {
        String(decoding: try folder.read("log").filter { ![0x20, 0x0a].contains($0) }, as: UTF8.self).lowercased()
    }

    /// Runs a program of tpm2-tools on it.
    @discardableResult
    package func run(_ name: String, _ arguments: String..., in work: TemporaryFolder) throws -> ExternalProgram.Outcome
    {
        let environment = ProcessInfo.processInfo.environment.merging(["TPM2TOOLS_TCTI": "cmd:\(command)"]) { $1 }
        let outcome = try ExternalProgram.run(name, arguments, environment: environment, in: work.path)
        // The tools leave what they load to a resource manager, which is not here.
        _ = try ExternalProgram.run("tpm2_flushcontext", ["-t"], environment: environment, in: work.path)
        guard outcome.status == 0 else { throw Failed(said: "\(name): \(outcome.errorText)") }
        return outcome
    }

    /// A failure of the TPM, or of a program that uses it.
    package struct Failed: Error, CustomStringConvertible {
        let said: String
        package var description: String { said }
    }
}

/// A TPM that a command reaches.
///
/// The library starts the command with pipes that any other program would inherit that is started meanwhile, and keep
/// open; so it is used by one thread at a time, while no program is started.
package struct QueuedChip: SealingChip {
    private let chip: TPM

    /// Uses the TPM that a command reaches.
    package init(_ command: String) {
        chip = TPM(.command(command))
    }

    /// See `SealingChip`.
    package func seal(_ secret: borrowing SecretBytes) throws(ChipFailure) -> SealedSecret {
        let secret = secret.bytesForTest()
        return try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in
            try chip.seal(SecretBytes(copying: secret))
        }
    }

    /// See `SealingChip`.
    package func unseal(_ sealed: SealedSecret) throws(ChipFailure) -> SecretBytes {
        let secret = try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in
            try chip.unseal(sealed).bytesForTest()
        }
        return SecretBytes(copying: secret)
    }

    /// See `SealingChip`.
    package func seal(
        _ secret: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(ChipFailure) -> GuardedSecret {
        let (secret, password) = (secret.bytesForTest(), password.bytesForTest())
        return try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in
            try chip.seal(SecretBytes(copying: secret), behind: SecretBytes(copying: password))
        }
    }

    /// See `SealingChip`.
    package func unseal(
        _ guarded: GuardedSecret, with password: borrowing SecretBytes
    ) throws(ChipFailure) -> SecretBytes {
        let password = password.bytesForTest()
        let secret = try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in
            try chip.unseal(guarded, with: SecretBytes(copying: password)).bytesForTest()
        }
        return SecretBytes(copying: secret)
    }

    /// See `SealingChip`.
    package func owns(_ sealed: SealedSecret) throws(ChipFailure) -> Bool {
        try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in try chip.owns(sealed) }
    }

    /// See `SealingChip`.
    package func facts() throws(ChipFailure) -> ChipFacts {
        try ExternalProgram.spawning.withLock { _ throws(ChipFailure) in try chip.facts() }
    }
}
