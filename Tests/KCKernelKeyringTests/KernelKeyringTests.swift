import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCKernelKeyring

/// Stores keys as `KernelKeyring` does, and waits where the user has too many.
///
/// The kernel allows a user 200 keys, and removes revoked ones only later, by and by.
private struct PatientKeyring {
    private func whileFull<Result>(
        _ body: () throws(KeyRetentionFailure) -> Result
    ) throws(KeyRetentionFailure) -> Result {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do throws(KeyRetentionFailure) { return try body() } catch .full where ContinuousClock.now < end {
                sched_yield()
            }
        }
    }

    func keep(_ name: String, _ text: String, expiresAfter seconds: Int? = 600) throws {
        try whileFull { () throws(KeyRetentionFailure) in
            try KernelKeyring().keep(name, SecretBytes(copying: text.utf8), expiresAfter: seconds)
        }
    }

    func replace(_ name: String, _ text: String, expiresAfter seconds: Int? = 600) throws -> Bool {
        try whileFull { () throws(KeyRetentionFailure) in
            try KernelKeyring().replace(name, SecretBytes(copying: text.utf8), expiresAfter: seconds)
        }
    }
}

/// The strace(1) command that injects `fault` into the key system calls of a program.
private func faulty(_ fault: String) -> [String] {
    Strace.command + [
        "-f", "-qq", "-o", "/dev/null", "-e", "trace=keyctl,add_key", "-e", "inject=" + fault,
    ]
}

@Suite(
    "Kernel keyring", .waitsForPrograms, .serialized,
    .enabled(if: KernelKeyring.refusal == nil, "the kernel refuses keyrings here"))
struct KernelKeyringTests {
    private let keyring = KernelKeyring()
    private let patient = PatientKeyring()
    private let name = "kcbackup-test:\(UUID().uuidString)"

    // Called at the end of each test, because a deinit might run only after the process exits.
    private func clean() { try? keyring.revoke(name) }

    private func read() throws -> String? { try keyring.text(of: name) }

    @Test("A stored payload can be read and replaced")
    func keep() throws {
        defer { clean() }
        #expect(try read() == nil)
        try patient.keep(name, "one", expiresAfter: nil)
        #expect(try read() == "one")
        try patient.keep(name, "a longer one", expiresAfter: 100)
        #expect(try read() == "a longer one")
        try patient.keep(name, String(repeating: "x", count: 1024), expiresAfter: 600)
        #expect(try keyring.read(name)?.count == 1024)
    }

    @Test("A revoked key is gone, and revoking a missing key does nothing")
    func revoke() throws {
        defer { clean() }
        try patient.keep(name, "one")
        try keyring.revoke(name)
        #expect(try read() == nil)
        try keyring.revoke(name)
        try patient.keep(name, "two")
        #expect(try read() == "two")
    }

    @Test("Only an existing payload can be replaced")
    func replace() throws {
        defer { clean() }
        #expect(try !patient.replace(name, "none", expiresAfter: nil))
        #expect(try read() == nil)
        try patient.keep(name, "one", expiresAfter: 100)
        #expect(try patient.replace(name, "two", expiresAfter: nil))
        #expect(try read() == "two" && keyring.remainingSeconds(name) == nil)
        try keyring.revoke(name)
        #expect(try !patient.replace(name, "three", expiresAfter: nil))
        #expect(try read() == nil)
    }

    @Test("A key expires after its timeout and can be stored again")
    func expiry() throws {
        defer { clean() }
        try patient.keep(name, "one", expiresAfter: 1)
        try waitUntilGone()
        #expect(try !patient.replace(name, "two", expiresAfter: nil))
        try keyring.expire(name, after: 100)
        #expect(try read() == nil)
        try patient.keep(name, "three")
        #expect(try read() == "three")
    }

    @Test(
        "A key's timeout can be restarted, shortened and removed", .enabled(if: KernelKeys.isListed, "keys are hidden"))
    func clock() throws {
        defer { clean() }
        try patient.keep(name, "one", expiresAfter: 50)
        let first = try #require(keyring.remainingSeconds(name))
        #expect((0...50).contains(first))
        try keyring.expire(name, after: 31_536_000)
        #expect(try #require(keyring.remainingSeconds(name)) > 31_000_000)
        try keyring.expire(name, after: nil)
        #expect(keyring.remainingSeconds(name) == nil)
        #expect(try read() == "one")
        try keyring.expire(name, after: 1)
        try waitUntilGone()
    }

    /// Polls until the key is gone, for at most a minute, which is far longer than any timeout here.
    private func waitUntilGone() throws {
        let end = ContinuousClock.now + .seconds(60)
        while try read() != nil {
            guard ContinuousClock.now < end else {
                Issue.record("the key did not expire")
                return
            }
        }
    }

    @Test("Threads of one process share a key, and each replaces it atomically")
    func threads() async throws {
        defer { clean() }
        try patient.keep(name, "start")
        let name = name
        await withTaskGroup(of: String?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let text = "thread \(number)"
                    do {
                        for _ in 0..<20 {
                            try PatientKeyring().keep(name, text, expiresAfter: 100)
                            let found = try KernelKeyring().text(of: name)
                            if found?.hasPrefix("thread ") != true { return "\(text) reads \(found ?? "nothing")" }
                        }
                        return nil
                    } catch {
                        return "\(text) meets \(error)"
                    }
                }
            }
            for await problem in group { #expect(problem == nil) }
        }
        try keyring.revoke(name)
        #expect(try read() == nil)
    }

    @Test("A key revoked while it is being replaced stays revoked")
    func revokeWhileReplacing() async throws {
        defer { clean() }
        let name = name
        for _ in 0..<40 {
            try patient.keep(name, "one")
            try await withThrowingTaskGroup { group in
                group.addTask { _ = try PatientKeyring().replace(name, "two") }
                group.addTask { try KernelKeyring().revoke(name) }
                try await group.waitForAll()
            }
            #expect(try read() == nil)
        }
    }

    @Test(
        "A process that fails or is killed at any call of a replacement leaves no key without a timeout",
        .enabled(if: KernelKeys.isListed, "keys are hidden"), arguments: ["signal=KILL", "error=EIO"])
    func interruptedReplacement(fault: String) throws {
        defer { clean() }
        // `make test` tries every fourth call, of each fault other ones.
        let step = ModelRun.isWhole ? 1 : 4
        var call = step == 1 || fault == "error=EIO" ? 0 : -2
        var outcome: Int32 = 0
        // Stops at the first call that a replacement does not make.
        repeat {
            call += step
            try patient.keep(name, "one")
            outcome = try Probe.run(faulty("keyctl:\(fault):when=\(call)"), .replaces, name)
            let isKept = try read() != nil
            #expect(!isKept || keyring.remainingSeconds(name) != nil, "call \(call)")
        } while (outcome != Probe.replaced || call < 10) && call < 30
        #expect(outcome == Probe.replaced && call > 4)
        #expect(try read() == "\u{2}")
    }

    @Test(
        "A process in another session of the same user can read and revoke the key",
        arguments: [["setsid", "-w"], ["keyctl", "session", "-"], ["env", "-i"], ["setsid", "-w", "env", "-i"]])
    func otherSessions(wrapper: [String]) throws {
        defer { clean() }
        guard ExternalProgram.locate(wrapper[0]) != nil else { return }
        try patient.keep(name, "one")
        let outcome = try Probe.run(wrapper, .reads, name)
        #expect(outcome == Probe.readAndRevoked, "\(outcome)")
        #expect(try read() == nil)
    }
}

@Suite("Keyring failures", .waitsForPrograms, .serialized)
struct RefusedKeyringTests {
    @Test(
        "A refusal by the kernel is reported as such, whichever call it affects",
        arguments: [
            ("keyctl:error=EPERM", EPERM), ("keyctl:error=ENOSYS", ENOSYS), ("keyctl:error=EACCES", EACCES),
            ("add_key:error=EPERM", EPERM), ("keyctl:error=EOPNOTSUPP", EOPNOTSUPP),
        ])
    func refused(fault: String, code: Int32) throws {
        #expect(try Probe.run(faulty(fault), .keeps, "kcbackup-test:refused") == Probe.refused + code)
    }

    @Test("An exhausted quota is reported as such")
    func full() throws {
        #expect(try Probe.run(faulty("add_key:error=EDQUOT"), .keeps, "kcbackup-test:full") == Probe.full)
    }

    @Test(
        "Without persistent keyrings in the kernel, keys are kept in the user keyring",
        .enabled(if: KernelKeyring.refusal == nil))
    func userKeyringAlone() throws {
        let name = "kcbackup-test:\(UUID().uuidString)"
        defer { try? KernelKeyring().revoke(name) }
        try PatientKeyring().keep(name, "\u{1}")
        // The first call of every operation requests the persistent keyring, and the process performs only
        // one.
        let outcome = try Probe.run(
            faulty("keyctl:error=EOPNOTSUPP:when=1"), .readsOnce, name)
        #expect(outcome == Probe.readAndRevoked, "\(outcome)")
    }

    @Test("Each errno maps to a failure by its remedy, and has its own reason")
    func words() {
        #expect(KeyRetentionFailure(EPERM, doing: "x") == .refused(EPERM))
        #expect(KeyRetentionFailure(EDQUOT, doing: "x") == .full(EDQUOT))
        #expect(KeyRetentionFailure(ENOMEM, doing: "x") == .full(ENOMEM))
        #expect(KeyRetentionFailure(EIO, doing: "x") == .system(EIO, doing: "x"))
        let reasons = [EPERM, EACCES, ENOSYS, EDQUOT, ENOMEM, EIO].map { KeyRetentionFailure($0, doing: "x").reason }
        #expect(Set(reasons).count == reasons.count)
    }
}

@Suite struct SuspendedTimeTests {
    @Test("The suspended time is not negative and does not change while the machine runs")
    func steady() {
        let first = SuspendedTime.milliseconds()
        #expect(first >= -1)
        // The two clocks are read one after the other, so the difference can vary on a busy machine.
        #expect(abs(SuspendedTime.milliseconds() - first) < 60_000)
    }
}
