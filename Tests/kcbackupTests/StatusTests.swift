import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The state of backups")
struct StatusTests {
    @Test("Where neither a job nor a new enough backup is on record, the age is too high, and not kept")
    func nothingOnRecord() throws {
        let home = try TestHome()
        func expect(_ status: kcbackup.ExitStatus, _ environment: [String: String] = [:]) {
            let outcome = home.run(["status", "--max-age", "26h", "--quiet"], environment: environment)
            #expect(outcome.status == status && outcome.text.isEmpty, "\(outcome.messages)")
            let isTold = outcome.messages.contains("none is on record in '")
            #expect(isTold == (status == .stale), "\(outcome.messages)")
        }
        expect(.stale)
        #expect(home.run("status").status == .ok)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        // A keychain is no backup.
        expect(.stale)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        expect(.ok)
        expect(.stale, ["XDG_DATA_HOME": home.path("elsewhere")])
        // A backup of what is gone is one.
        #expect(home.run("keychain delete login --confirm login").status == .ok)
        expect(.ok)
        home.pass(hours: 48)
        expect(.stale)
        #expect(home.run("status --max-age 26h --html s.html").status == .stale)
        let page = String(decoding: try home.folder.read("work/s.html"), as: UTF8.self)
        #expect(page.contains("no good backup for too long: none is on record in &#39;"))
    }
}
