import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs every verb in a home whose secrets are canaries, and looks for them in all that it printed and wrote.
@Suite("No verb lets a secret out", .waitsForPrograms)
struct CanaryVerbTests {
    private static let stem = Canary.stem
    private static let items = 200

    /// The verbs that print a secret because they were asked to, or write it where they were told to.
    private static let revealing: Set<[String]> = [["exec"], ["export"]]

    /// A line for each verb that changes nothing, after the lines before it.
    static let reading: [LostOutputTests.Case] = [
        .init(["create a.kcb --passphrase file:old"], "inspect a.kcb --passphrase file:old -v"),
        .init(["create a.kcb --passphrase file:old"], "inspect a.kcb --passphrase file:new"),
        .init(["create a.kcb --passphrase file:old"], "verify a.kcb --drill --passphrase file:old -v"),
        .init(["create a.kcb --unencrypted", "item delete --service c7"], "diff a.kcb"),
        .init("doctor"),
        .init("status"), .init(["create --to backups --unencrypted"], "list backups"),
        .init("fleet status nas:fleet"), .init("fleet index nas:fleet -i key.txt -o new.index"),
        .init("fleet search none.index c7"), .init("fleet export none.index -o rows.jsonl"),
        .init("recovery list"), .init(["recovery make -o kit.txt"], "recovery check"),
        .init("item list -v"), .init("item find --service c7 -v"), .init("keychain list"), .init("keychain info"),
        .init("keychain token list"), .init("device show"), .init("device list"),
        .init(["protect old --class none"], "protect status old.age"),
        .init("schedule list"), .init(["schedule add nightly --to backups --unencrypted"], "schedule show nightly"),
        .init("keychain set-passcode --passcode file:old --new-passcode file:new"),
        .init(
            ["keychain create other --passcode file:old"],
            "item add --service b --secret file:new --keychain other --passcode file:new"),
        .init("exec --with SECRET=c7 -- true"),
    ]

    /// `make proof` tries all verbs, and `make test` every second.
    private static let tried = (LostOutputTests.cases + reading).enumerated()
        .filter { Environment.has("CANARIES", "all") || $0.offset.isMultiple(of: 2) }.map(\.element)

    @Test(
        "No verb prints a secret or leaves one in a file", arguments: tried,
        Environment.has("CANARIES", "all") ? [[], ["--json"], ["-v"]] : [[]])
    func verb(tried: LostOutputTests.Case, more: [String]) throws {
        if more == ["--json"], !tried.hasJSON { return }
        let proof = ProofCount("verbs with \(Self.items) canaries among the secrets, in eleven spellings")
        let home = try TestHome()
        let rclone = try FakeRclone(home)
        let inputs = try prepare(home)
        var told: [UInt8] = []
        func run(_ words: [String]) -> TestHome.Outcome {
            let outcome = home.run(words, environment: rclone.environment)
            told += Array((outcome.text + outcome.messages + outcome.terminal.asked.joined()).utf8)
            return outcome
        }
        for line in tried.before {
            let outcome = run(line.split(separator: " ").map(String.init))
            try #require(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        let kit = home.run("recovery list").text.firstMatch(of: /[0-9a-f]{4}-[0-9a-f]{4}/).map { String($0.0) }
        let device = home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/).map { String($0.0) }
        let line = tried.line.replacing("KIT", with: kit ?? "").replacing("DEVICE", with: device ?? "")
        let words = line.split(separator: " ").map(String.init)
        let place = words.firstIndex(of: "--") ?? words.endIndex
        let outcome = run(Array(words[..<place]) + more + words[place...])
        #expect(outcome.status != .internal, "\(outcome.messages)")
        // A line that cannot be parsed tries nothing.
        let isParsed = !["unknown option", "missing expected", "the value of"].contains(
            where: outcome.messages.contains)
        #expect(isParsed, "\(outcome.messages)")
        var found: [String] = Canary.isIn(told) ? ["its output"] : []
        for name in try home.folder.list() where !inputs.contains(name) {
            guard try Path.kind(of: home.folder.path(name)) == .file else { continue }
            if Canary.isIn(try home.folder.read(name)) { found.append(name) }
        }
        let isAsked = Self.revealing.contains { words.starts(with: $0) } && outcome.status == .ok
        // Where a secret was asked for, it is found, which shows that the search finds one.
        #expect(found.isEmpty != isAsked, "\(line) lets a secret out: \(found)")
        proof.add(found.isEmpty != isAsked ? 0 : 1)
        try proof.record()
    }

    /// Makes a keychain with the canaries, and returns the files that contain them for that.
    private func prepare(_ home: TestHome) throws -> Set<String> {
        let escaped = Self.stem.replacing("\"", with: "\\\"")
        let lines = (0..<Self.items).map { number in
            #"{"class":"genp","attributes":{"svce":"c\#(number)"},"secret":"\#(escaped)\#(number)"}"#
        }
        try home.write("canaries.jsonl", lines.joined(separator: "\n") + "\n")
        try home.write("items.jsonl", lines[0] + "\n")
        try home.write("old", Self.stem + "old\n")
        try home.write("new", Self.stem + "new\n")
        try home.write(
            "logins.csv",
            "name,url,username,password\na,https://a.example,ada,\"\(Self.stem.replacing("\"", with: "\"\""))\"\n")
        for line in [
            "keychain create --no-passcode", "import canaries.jsonl", "item add --service a --generate",
            "keygen -o key.txt",
        ] {
            let outcome = home.run(line)
            try #require(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        return Set(["canaries.jsonl", "items.jsonl", "old", "new", "logins.csv"].map { "work/\($0)" })
    }

    @Test("Every spelling of a canary is found, and other text is not")
    func spellingsAreFound() {
        let text = "before" + Self.stem + "after"
        for shift in ["", "x", "xy"] {
            #expect(Canary.isIn(Array(Data((shift + text).utf8).base64EncodedString().utf8)))
        }
        #expect(Canary.isIn(Array(text.utf8)) && !Canary.isIn(Array("before and after".utf8)))
        #expect(Canary.isIn(text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }))
        #expect(Canary.isIn(Array((text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "").utf8)))
    }

    @Test("Every verb that help lists is tried with canaries")
    func everyVerbIsTried() {
        let tried = (LostOutputTests.cases + Self.reading).map { $0.line.split(separator: " ").map(String.init) }
        for path in verbPaths() {
            #expect(tried.contains { $0.starts(with: path) }, "\(path.joined(separator: " ")) is not tried")
        }
    }
}
