import Foundation
import KCByteStreams
import KCCryptography
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The HTML page of inspect")
struct ReportTests {
    @Test("The content security policy allows only the page's own script and style, and nothing is loaded")
    func policy() throws {
        let page = try ReportHome([ReportHome.line(["svce": "Mail", "acct": "ada"])]).page()
        func digests(_ element: String) throws -> [String] {
            let pattern = try Regex("(?s)<\(element)>(.*?)</\(element)>", as: (Substring, Substring).self)
            return page.matches(of: pattern).map { Base64.encode(SHA256.hash(String($0.1).utf8.span).bytes) }
        }
        let scripts = try digests("script")
        let styles = try digests("style")
        #expect(scripts.count == 1 && styles.count == 1)
        let policy =
            "default-src 'none'; script-src 'sha256-\(scripts[0])'; style-src 'sha256-\(styles[0])'; "
            + "base-uri 'none'; form-action 'none'"
        #expect(page.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">"))
        // The policy precedes everything that it governs.
        #expect(page.range(of: policy)!.lowerBound < page.range(of: "<style>")!.lowerBound)
        for word in ["http:", "https:", "//www", "src=", "url(", "@import", "<link", "<img", "style=\"", "onclick"] {
            #expect(!page.contains(word), "\(word)")
        }
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("] {
            #expect(!page.contains(sink), "\(sink)")
        }
    }

    @Test("Names change the text of a page but never its elements")
    func elementsAreThoseOfTheProgram() throws {
        func elements(_ names: [String]) throws -> [String] {
            let lines = try names.map { try ReportHome.line(["svce": $0, "acct": $0, "labl": $0, "agrp": $0]) }
            let page = try ReportHome(lines).page()
            return page.matches(of: /<[^>]*>/).map { String($0.0).replacing(/(href|width)="[^"]*"/, with: "") }
        }
        let harmless = HostileNames.inMarkup.indices.map { "name \($0)" }
        #expect(try elements(HostileNames.inMarkup) == elements(harmless))
    }

    @Test("Every item is a row, the page contains no secret, and only its owner can read the file")
    func rows() throws {
        let lines = try (1...500).map { try ReportHome.line(["svce": "Service \($0)", "acct": "ada"]) }
        let home = try ReportHome(lines)
        let page = try home.page()
        #expect(page.matches(of: /<tr><td>/).count == 500)
        #expect(page.contains("<td>Service 417\n") || page.contains("<td>Service 417<td>ada<td>"))
        #expect(!page.contains(ReportHome.canary))
        let mode = try FileManager.default.attributesOfItem(atPath: home.home.path("a.html"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("Verdicts apply to the requested device, and conditions select the items")
    func verdictsAndConditions() throws {
        let home = try ReportHome([
            ReportHome.line(["svce": "Far", "acct": "ada"]), ReportHome.line(["svce": "Here", "pdmn": "aku"]),
            ReportHome.line(["srvr": "mail.example.org", "acct": "bob"], class: "inet"),
        ])
        let here = try home.page()
        #expect(here.contains("<b>3</b> restore on this device, which made it"))
        #expect(here.contains("<b class=\"no\">2 of 3 items, if it has the key.</b> The other 1 is ThisDeviceOnly."))
        let there = try home.page(["--for-device", "KC-ABCD-EFGH-IJKL-MNOP-QRST"], name: "there.html")
        #expect(there.contains("<b>2</b> restore on KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        #expect(there.contains("1 item</a>: ThisDeviceOnly: opens only on the device that made the archive."))
        let some = try home.page(["--class", "inet"], name: "some.html")
        #expect(some.contains("1 of 3 are counted") && some.contains("mail.example.org") && !some.contains("Far"))
        let none = try home.page(["--class", "keys"], name: "none.html")
        #expect(none.contains("<p>There are none.</p>") && !none.contains("<table"))
    }

    @Test("No file is overwritten, and a failure leaves no file")
    func files() throws {
        let home = try ReportHome([ReportHome.line(["svce": "Mail"])]).home
        try home.write("taken.html", "mine")
        let refused: [(String, KCTerminal.ExitStatus)] = [
            ("inspect a.kcb -i key --html taken.html", .exists), ("inspect a.kcb -i key --html a.html --json", .usage),
            ("inspect a.kcb -i key --html -", .usage), ("inspect a.kcb -i key --html .", .usage),
            ("inspect a.kcb -i key --html missing/a.html", .notFound), ("inspect a.kcb --html a.html", .wrongKey),
        ]
        var bytes = try home.folder.read("work/a.kcb")
        let before = try home.folder.list()
        for (line, status) in refused {
            let outcome = home.run(line)
            #expect(outcome.status == status, "\(line): \(outcome.messages)")
            #expect(outcome.messages.contains("hint:") || status != .wrongKey)
        }
        #expect(try home.folder.list() == before)
        #expect(try home.folder.read("work/taken.html") == Array("mine".utf8))
        bytes[bytes.count / 2] ^= 1
        try home.write("damaged.kcb", bytes)
        #expect(home.run("inspect damaged.kcb -i key --html a.html").status == .damaged)
        #expect(try home.folder.list() == (before + ["work/damaged.kcb"]).sorted())
    }
}
