import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What messages say of several items")
struct RemarkTests {
    @Test("A reason that several share is said once, with their names below, and each keeps what is said of it alone")
    func paragraphs() {
        let said = [
            Remark("kept", because: "newer"), Remark("removed"), Remark("kept", because: "newer", mark: " (here)"),
            Remark("kept", because: "same"),
        ]
        #expect(
            Remark.paragraphs(["a", "b", "c", "d"]) { said[$0] } == [
                "kept: newer\n  a\n  c (here)", "removed: b", "kept: d: same",
            ])
        #expect(Remark.paragraphs(["a", "b"]) { _ in Remark("kept") } == ["kept:\n  a\n  b"])
    }

    @Test("No verb says the same of several items on lines of their own")
    func nothingIsRepeated() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        func items(_ secret: String, _ more: String = "") -> String {
            (0..<5).map { number in
                #"{"class":"inet","attributes":{"srvr":"h\#(number).example","sdmn":"d","acct":"ada"\#(more)},"#
                    + #""secret":"\#(secret)"}"# + "\n"
            }.joined()
        }
        try home.write("first.jsonl", items("one"))
        try home.write("second.jsonl", items("two"))
        try home.write("third.jsonl", items("three", #","pdmn":"aku""#))
        for line in [
            "import first.jsonl", "create a.kcb --unencrypted",
            "item update --account ada --set comment=x --yes",
            "restore a.kcb", "restore a.kcb --dry-run", "restore a.kcb --on-conflict overwrite",
            "export --to csv -o x.csv --plaintext", "import second.jsonl --on-conflict keep",
            "import second.jsonl --dry-run",
            "undo --dry-run", "undo --yes", "import third.jsonl --on-conflict overwrite",
            "export --to csv -o y.csv --plaintext", "item delete --account ada --yes", "restore a.kcb --dry-run",
            "restore a.kcb -v", "restore a.kcb -v", "undo --yes",
        ] {
            let outcome = home.run(line)
            #expect([.ok, .incomplete, .refused].contains(outcome.status), "\(line): \(outcome.messages)")
            var starts: [Substring] = []
            for shown in (outcome.text + outcome.messages).split(separator: "\n") {
                guard let name = shown.firstRange(of: "internet password '") else { continue }
                let start = shown[..<name.lowerBound]
                if !start.allSatisfy({ $0 == " " }) { starts.append(start) }
            }
            let repeated = starts.filter { start in starts.count { $0 == start } > 1 }
            #expect(repeated.isEmpty, "\(line): \(outcome.text)\(outcome.messages)")
        }
    }
}
