import Foundation
import KCByteStreams
import KCKernelKeyring
import KCTestSupport
import Testing

@Suite("Programs that hide their memory", .waitsForPrograms)
struct StraceTests {
    @Test("The paths that an undumpable program opens are shown to any user", .traced)
    func undumpable() throws {
        let folder = try TemporaryFolder()
        let script = "import ctypes, os; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); os.access('/no/such/path', os.F_OK)"
        let outcome = try Strace.run(["-f", "-qq", "-o", folder.path("trace"), "/usr/bin/python3", "-c", script])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(String(decoding: try folder.read("trace"), as: UTF8.self).contains("\"/no/such/path\""))
    }

    @Test("A traced program is run by the same user")
    func user() throws {
        #expect(try Strace.run(["-qq", "-o", "/dev/null", "id", "-u"]).text == "\(geteuid())\n")
    }

    @Test(
        "A kernel key that a program leaves for a keychain goes with the folder, even if the program was killed, and no other",
        .enabled(
            if: KernelKeyring.refusal == nil && KernelKeys.isListed, "the kernel refuses keyrings here, or hides keys"))
    func keys() throws {
        let keyring = KernelKeyring()
        func identifier() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }
        func name(_ bytes: [UInt8]) -> String {
            "kcbackup:" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ":first-unlock"
        }
        let (own, other) = (identifier(), identifier())
        defer { for bytes in [own, other] { try? keyring.revoke(name(bytes)) } }
        do {
            let folder = try TemporaryFolder()
            try folder.write("a.keychain", [1, 2] + own + [3])
            for bytes in [own, other] { try keyring.keep(name(bytes), SecretBytes(copying: [1]), expiresAfter: 600) }
        }
        #expect(!KernelKeys.names().contains(name(own)))
        #expect(KernelKeys.names().contains(name(other)))
    }
}
