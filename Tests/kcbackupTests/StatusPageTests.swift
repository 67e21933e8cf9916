import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The HTML page of status")
struct StatusPageTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        for line in [
            "keychain create --no-passcode", "item add --service a --generate",
            "schedule add nightly --to backups --unencrypted",
        ] { #expect(home.run(line).status == .ok) }
    }

    private func page(_ options: String = "") throws -> String {
        _ = home.run("status --html s.html \(options)")
        return String(decoding: try home.folder.read("work/s.html"), as: UTF8.self)
    }

    @Test("A job that never ran is not shown as good, and what to do is named")
    func neverRan() throws {
        let page = try page()
        #expect(page.contains("<b>job &#39;nightly&#39; never ran</b>"))
        #expect(page.contains("kcbackup run nightly -v"))
        #expect(page.contains("<td class=\"bad\">never ran</td>"))
        #expect(page.contains("<p class=\"state bad\">never backed up</p>"))
        #expect(!page.contains("class=\"good\"") && !page.contains("state good"))
    }

    @Test("Each day with an archive is in the calendar, and items and size have a chart")
    func calendarAndCharts() throws {
        for _ in 0..<3 {
            #expect(home.run("run nightly").status == .ok)
            home.pass(hours: 24)
        }
        let page = try page()
        #expect(page.contains("Every keychain has its backup"))
        #expect(page.matches(of: /<rect class="saved"/).count == 3)
        #expect(page.contains("2026-03-01: an archive is kept"))
        #expect(page.contains("Items: 1 to 1, 3 archives"))
        #expect(page.contains("<title>2026-03-01: 1</title>"))
        #expect(page.contains("<p class=\"state good\">"))
    }

    @Test("A job that is late is named with its keychain")
    func late() throws {
        #expect(home.run("run nightly").status == .ok)
        home.pass(hours: 72)
        let page = try page()
        #expect(page.contains("job &#39;nightly&#39; is late: it runs &#39;daily&#39;, and ended well 3 days ago"))
        #expect(page.contains("late: job &#39;nightly&#39;</p>"))
    }

    @Test("Nights on which nothing had changed are marked as such, up to the last one")
    func unchangedNights() throws {
        #expect(home.run("create --to kept --unencrypted --if-changed").status == .ok)
        home.pass(hours: 96)
        #expect(home.run("create --to kept --unencrypted --if-changed").status == .ok)
        let page = try page()
        #expect(page.matches(of: /<rect class="saved"/).count == 1)
        #expect(page.matches(of: /<rect class="same"/).count == 4)
    }
}
