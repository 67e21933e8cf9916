import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Keychains that are copies of one file")
struct CopiedKeychainTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        for folder in ["x", "y"] {
            try FileManager.default.createDirectory(
                atPath: home.path(folder), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    private func named(_ name: String) -> String { "\(home.home)/.local/share/kcbackup/keychains/\(name).keychain" }

    private func make(_ keychain: String) {
        #expect(home.run("keychain create \(keychain) --no-passcode").status == .ok)
        #expect(home.run("import items.jsonl --into \(keychain)").status == .ok)
    }

    private func copy(_ from: String, to new: String) throws {
        try FileManager.default.copyItem(atPath: from, toPath: new)
    }

    private func move(_ from: String, to new: String) throws {
        try FileManager.default.moveItem(atPath: from, toPath: new)
    }

    private func back(up keychain: String, _ more: String = "") -> TestHome.Outcome {
        home.run("create --keychain \(keychain) --unencrypted --to b\(more)")
    }

    private func expectRefusal(of keychain: String, for other: String, line: Int = #line) {
        let refused = back(up: keychain)
        #expect(refused.status == .refused, "line \(line): \(refused.messages)")
        let words = "which is still there, and one of the two is a copy of the other"
        #expect(refused.messages.contains("\(other)', \(words)"), "line \(line): \(refused.messages)")
    }

    private func count(_ keychain: String) -> String? {
        let text = home.run("status --json").text
        guard let start = text.range(of: #"{"keychain":"\#(keychain)","archives":"#) else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "," && $0 != "}" })
    }

    @Test("The archives of a keychain are none of its copy, and doctor warns of the two")
    func status() throws {
        make("login")
        let warning = "keychains 'login', 'work' are copies of one file"
        #expect(!home.run("doctor").messages.contains(warning))
        try copy(named("login"), to: named("work"))
        #expect(back(up: "login").status == .ok)
        #expect(count("login") == "1")
        #expect(count("work") == "0")
        #expect(home.run("status --prometheus").text.contains(#"last_good_timestamp_seconds{keychain="work"} 0"#))
        #expect(home.run("doctor").messages.contains(warning))
        // A folder of all has archives of each.
        #expect(home.run("create --all --unencrypted --to all").status == .ok)
        #expect(count("login") == "2")
        #expect(count("work") == "1")
    }

    @Test("The archives of a keychain that was renamed still count")
    func renamed() throws {
        make("login")
        #expect(back(up: "login").status == .ok)
        try move(named("login"), to: named("work"))
        #expect(count("work") == "1")
    }

    @Test("A copy at another place is refused in the folder of its original, as long as that is there")
    func outside() throws {
        make("login")
        try copy(named("login"), to: home.path("x/login.keychain"))
        #expect(back(up: "login").status == .ok)
        expectRefusal(of: "x/login.keychain", for: "of keychain 'login")
        #expect(back(up: named("login")).status == .ok, "a path that leads to it")
        #expect(back(up: "x/login.keychain", " --change").status == .ok)
        // Now the folder is that of the copy.
        #expect(count("login") == "0")
        expectRefusal(of: "login", for: "/x/login.keychain")
        #expect(home.run("create --unencrypted --to b").status == .ok, "the folder knows its keychain")
        try FileManager.default.removeItem(atPath: home.path("x/login.keychain"))
        #expect(count("login") == "4")
        #expect(back(up: "login").status == .ok)
    }

    @Test("A keychain that was moved goes on in its folder, and a copy at its old place does not")
    func moved() throws {
        make("x/k.keychain")
        #expect(back(up: "x/k.keychain").status == .ok)
        try move(home.path("x/k.keychain"), to: home.path("y/k.keychain"))
        #expect(back(up: "y/k.keychain").status == .ok)
        try copy(home.path("y/k.keychain"), to: home.path("x/k.keychain"))
        expectRefusal(of: "x/k.keychain", for: "/y/k.keychain")
        #expect(back(up: "y/k.keychain").status == .ok)
    }

    @Test("A job is refused for a copy as a run of 'create' is, and doctor says so before")
    func job() throws {
        make("x/k.keychain")
        try copy(home.path("x/k.keychain"), to: home.path("y/k.keychain"))
        #expect(back(up: "x/k.keychain").status == .ok)
        #expect(home.run("schedule add j --keychain y/k.keychain --unencrypted --to b").status == .ok)
        for line in ["run j", "doctor"] {
            let refused = home.run(line)
            #expect(refused.status == .refused, "\(line): \(refused.messages)")
            #expect((refused.text + refused.messages).contains("one of the two is a copy of the other"), "\(line)")
        }
    }
}
