import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Backups of a keychain that has not changed")
struct UnchangedTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "orbit lantern velvet\n")
        try home.write("wrong", "guess\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a","acct":"x"},"secret":"s"}"# + "\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("import items.jsonl --passcode file:passcode").status == .ok)
        try makeKey("key")
        #expect(backUp().status == .ok)
    }

    private func backUp(_ more: String = "", passcode: String = "passcode") -> TestHome.Outcome {
        home.run("create --to b -R key.pub --passcode file:\(passcode) --if-changed\(more)")
    }

    private func makeKey(_ name: String) throws {
        #expect(home.run("keygen -o \(name).txt").status == .ok)
        let text = String(decoding: try home.folder.read("work/\(name).txt"), as: UTF8.self)
        try home.write("\(name).pub", String(try #require(text.firstMatch(of: /age1\w+/)).0) + "\n")
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path("b")).filter { $0.hasSuffix(".kcb") }
    }

    private var archives: Int { get throws { try names().count } }

    private func isSame(_ outcome: TestHome.Outcome) throws -> Bool { try outcome.status == .ok && archives == 1 }

    @Test("Nothing is made while the file is as it was, and a wrong passcode is still noticed")
    func same() throws {
        for _ in 1...2 { #expect(try isSame(backUp())) }
        #expect(backUp(passcode: "wrong").status == .wrongKey)
        // The file has the count of the wrong passcode now, and the same items.
        #expect(try isSame(backUp()))
        #expect(try isSame(backUp(" --json")))
    }

    @Test(
        "A change of an item, of the keys or of the mode makes an archive",
        arguments: [
            "item add --service b --secret file:wrong --passcode file:passcode",
            "item update --service a --set label=new --passcode file:passcode",
            "item delete --service a --yes", "other key",
        ])
    func changes(line: String) throws {
        #expect(try isSame(backUp()))
        var more = " --accept-shrink"
        if line == "other key" {
            try makeKey("other")
            more = " -R other.pub --change"
        } else {
            #expect(home.run(line).status == .ok)
        }
        #expect(backUp(more).status == .ok)
        #expect(try archives == 2)
        #expect(backUp(more).status == .ok)
        #expect(try archives == 2)
    }

    @Test("An archive that is damaged is made again")
    func damagedArchive() throws {
        let name = try #require(names().first)
        let path = home.path("b/\(name)")
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path))
        #expect(backUp().status == .ok)
        #expect(try archives == 2)
    }

    @Test("If the newest archive was removed by hand, the next run makes one, though nothing has changed")
    func missingArchive() throws {
        let oldest = try #require(names().first)
        #expect(home.run("item add --service b --secret file:wrong --passcode file:passcode").status == .ok)
        #expect(backUp().status == .ok)
        let newest = try #require(names().first { $0.exact != oldest.exact })
        try FileManager.default.removeItem(atPath: home.path("b/\(newest)"))
        let outcome = backUp()
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(try archives == 2)
    }

    @Test("A run that could not check seals spares no later one from checking them")
    func uncheckedSeals() throws {
        let file = SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain")
        try file.run("UPDATE genp SET svce = CAST('evil' AS BLOB) WHERE svce = CAST('a' AS BLOB)")
        #expect(home.run("create --to u --unencrypted --if-changed").status == .ok)
        let checking = "create --to u --unencrypted --if-changed --accept-shrink --passcode file:passcode"
        #expect(home.run(checking).status == .incomplete)
    }

    @Test("A keychain that was put back as it was needs no other archive, and one of another content does")
    func putBack() throws {
        let keychain = home.home + "/.local/share/kcbackup/keychains/login.keychain"
        let before = try Data(contentsOf: URL(filePath: keychain))
        #expect(home.run("item add --service b --secret file:wrong --passcode file:passcode").status == .ok)
        let after = try Data(contentsOf: URL(filePath: keychain))
        try before.write(to: URL(filePath: keychain))
        #expect(try isSame(backUp()))
        try after.write(to: URL(filePath: keychain))
        #expect(backUp().status == .ok)
        #expect(try archives == 2)
    }
}
