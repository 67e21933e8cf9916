import KCCryptography
import KCKeychainModel
import KCLocalKeychains
import Testing

@testable import KCStoreTasks

@Suite("The machine that tasks work with")
struct MachineTests {
    private func machine(_ environment: [String: String] = [:]) -> Machine {
        Machine(
            clock: { .reference }, environment: environment, home: "/home/ada", costs: DerivationCosts(),
            program: "/usr/bin/kcbackup")
    }

    @Test("A path is of the working folder or the home, even if no shell has expanded it")
    func resolving() {
        var machine = machine()
        #expect(machine.resolve("a") == "a")
        machine.workingFolder = "/work"
        #expect(["a", "/a", "~/a", "~a"].map(machine.resolve) == ["/work/a", "/a", "/home/ada/a", "/work/~a"])
    }

    @Test("Data and temporary files are where the environment says, or in the usual folders")
    func folders() {
        let usual = machine(["TMPDIR": ""])
        #expect(usual.temporaryFolder == "/tmp" && usual.dataFolder.path == "/home/ada/.local/share/kcbackup")
        let other = machine(["TMPDIR": "/scratch", "XDG_DATA_HOME": "/data"])
        #expect(other.temporaryFolder == "/scratch" && other.dataFolder.path == "/data/kcbackup")
    }
}
