import Foundation
import KCDeviceIdentity
import KCKeychainModel
import KCReportPages
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// `make test-html` installs the browser first; without one, the suite is skipped.
@Suite(
    "The HTML pages with tables in a browser", .waitsForPrograms, .serialized,
    .enabled(if: ExternalProgram.locate("chromium") != nil, "chromium is not installed: make test-html"))
struct ReportBrowserTests {
    /// A page as the browser rendered it.
    private struct Shown {
        let document: String
        let messages: [String]
        /// The cells of the rows that are shown.
        var rows: [[String]] {
            document.matches(of: /<tr>(<td.*?)<\/tr>/.dotMatchesNewlines()).map { row in
                row.1.matches(of: /<td[^>]*>(.*?)<\/td>/.dotMatchesNewlines()).map { cell in
                    String(cell.1).replacing("<wbr>", with: "").replacing("&lt;", with: "<").replacing(
                        "&gt;", with: ">"
                    )
                    .replacing("&nbsp;", with: "\u{a0}").replacing("&amp;", with: "&")
                    .replacing(/\n$/, with: "")
                }
            }
        }
        var count: String { document.firstMatch(of: /id="count"[^>]*>([^<]*)</).map { String($0.1) } ?? "" }
    }

    private func browse(_ path: String, _ end: String = "", _ task: String = "--dump-dom") throws -> Shown {
        let profile = try TemporaryFolder()
        let outcome = try ExternalProgram.run(
            "timeout",
            [
                "-k", "5", "300", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--enable-logging=stderr", "--no-pdf-header-footer", "--user-data-dir=\(profile.path)", task,
                "file://\(path)\(end)",
            ])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let messages = outcome.errorText.split(separator: "\n").filter { $0.contains("CONSOLE") }.map(String.init)
        return Shown(document: outcome.text, messages: messages)
    }

    @Test("Hostile names are text: no script runs, the policy is never violated, and each name is found")
    func hostileNames() throws {
        let names = HostileNames.inMarkup
        let archive = "a<b onload=x>&'\".kcb"
        let home = try ReportHome(
            names.map { try ReportHome.line(["svce": $0, "acct": $0, "labl": $0, "agrp": $0]) }, archive: archive)
        let page = try home.page(archive: archive)
        let path = home.home.path("a.html")
        let shown = try browse(path)
        #expect(shown.messages == [])
        #expect(!shown.document.contains("data-canary"))
        #expect(shown.count == "\(names.count) items")
        let expected = Set(names.map { displayed($0, limit: 200) })
        for column in [1, 2, 3, 4] { #expect(Set(shown.rows.map { $0[column] }) == expected) }
        for name in names.prefix(3) {
            let text = displayed(name, limit: 200)
            #expect(try browse(path, fragment("group", text)).rows.map { $0[4] } == [text])
        }

        // The policy would have blocked a script in a name, and this test would have noticed.
        let planted = "<script>document.documentElement.dataset.canary='x'</script><i style=\"color:red\"></i>"
        try home.home.write("planted.html", page.replacing("<main>", with: planted + "<main>"))
        let stopped = try browse(home.home.path("planted.html"))
        #expect(stopped.messages.count { $0.contains("Content Security Policy") } == 2)
        #expect(!stopped.document.contains("data-canary"))
        let open = page.replacing(/<meta http-equiv[^>]*>/, with: "").replacing("<main>", with: planted + "<main>")
        try home.home.write("open.html", open)
        #expect(try browse(home.home.path("open.html")).document.contains("data-canary"))
    }

    @Test("15,000 items are searched, sorted, filtered and printed")
    func manyItems() throws {
        let lines = try (0..<15_000).map { number in
            try ReportHome.line([
                "svce": "Service \(number)", "acct": "user\(number * 7_919 % 15_000)", "agrp": "group\(number % 3)",
                "pdmn": number % 5 == 0 ? "aku" : "ck", "mdat": "\(2010 + number % 10)-03-01T09:30:00.000000Z",
            ])
        }
        let home = try ReportHome(lines)
        _ = try home.page(["--for-device", "KC-ABCD-EFGH-IJKL-MNOP-QRST"])
        let path = home.home.path("a.html")

        let all = try browse(path)
        #expect(all.count == "15,000 items")
        #expect(all.messages == [])
        // The page is fast because it shows few rows at a time.
        #expect((100...1_000).contains(all.rows.count))

        let found = try browse(path, "#q=SERVICE+1499&sort=account&order=down")
        func account(_ number: Int) -> Int { number * 7_919 % 15_000 }
        let matches = (0..<15_000).filter { "\($0) \(account($0))".contains("1499") }
        #expect(found.count == "\(matches.count) of 15,000 items")
        let sorted = matches.sorted { account($0) > account($1) }
        #expect(found.rows.map { $0[1] } == sorted.map { "Service \($0)" })

        let filtered = try browse(path, "#group=group2&year=2014&verdict=stays&sort=service")
        #expect(filtered.count == "0 of 15,000 items")
        let bound = try browse(path, "#group=group2&year=2015&verdict=stays&sort=service")
        let expected = (0..<15_000).filter { $0 % 3 == 2 && $0 % 10 == 5 }
        #expect(bound.count == "\(expected.count) of 15,000 items")
        #expect(bound.rows.prefix(50).map { $0[1] } == expected.prefix(50).map { "Service \($0)" })

        // A printed page has about twenty rows: all matches are printed, not only those on the screen.
        #expect(try pages(path, "#q=SERVICE+1499", in: home.home) < 6)
        #expect(try pages(path, "#group=group2&verdict=stays", in: home.home) > 30)
    }

    @Test(
        "The page of a fleet shows what is wrong first, and is searched, sorted, and filtered by any state of several")
    func fleet() throws {
        let home = try TestHome()
        let rclone = try FakeRclone(home)
        let fleet = try FleetFiles(home)
        try fleet.write(0, hoursAgo: 6)
        try fleet.write(1, hoursAgo: 30)
        try fleet.write(1, hoursAgo: 5, sequence: 2, result: 13)
        let hostile = "<script>document.documentElement.dataset.canary=1</script>"
        try home.write(
            "machines.txt", "\(fleet.keys[0].id) ada\n\(fleet.keys[1].id) bob\n\(fleet.keys[2].id) \(hostile)\n")
        let outcome = home.run(
            ["fleet", "status", "bucket:fleet", "--inventory", "machines.txt", "--html", "f.html"],
            environment: rclone.environment)
        #expect(outcome.status == .stale, "\(outcome.messages)")
        let path = home.path("f.html")
        let all = try browse(path)
        #expect(all.messages == [] && all.count == "3 machines" && !all.document.contains("data-canary"))
        #expect(all.rows.map { $0[0] } == [hostile, "bob", "ada"])
        #expect(all.rows.map { $0[1] } == ["absent", "late, failed", "well"])
        for (end, count, names) in [
            ("#state=failed", "1 of 3 machines", ["bob"]), ("#q=ADA", "1 of 3 machines", ["ada"]),
            ("#sort=machine&order=down", "3 machines", ["bob", "ada", hostile]),
            ("#sort=reported", "3 machines", ["ada", "bob", hostile]),
        ] {
            let shown = try browse(path, end)
            #expect(shown.count == count && shown.rows.map { $0[0] } == names, "\(end)")
        }
    }

    /// The number of printed pages.
    private func pages(_ path: String, _ end: String, in home: TestHome) throws -> Int {
        let pdf = home.path("\(end.count).pdf")
        _ = try browse(path, end, "--print-to-pdf=\(pdf)")
        let bytes = try home.folder.read("work/\(end.count).pdf")
        return String(decoding: bytes, as: UTF8.self).matches(of: /\/Type \/Page\n/).count
    }
}
