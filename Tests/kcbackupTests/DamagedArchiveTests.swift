import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Archives whose header is damaged")
struct DamagedArchiveTests {
    @Test(
        "They are damaged, and not refused as what another program may not read",
        arguments: [
            "inspect a.kcb -i key", "inspect a.kcb", "verify a.kcb", "restore a.kcb -i key", "diff a.kcb b.kcb -i key",
        ])
    func header(line: String) throws {
        let home = try TestHome()
        for line in ["keychain create --no-passcode", "keygen -o key"] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        for name in ["a", "b"] { #expect(home.run("create -r \(recipient) \(name).kcb").status == .ok) }
        // The file still begins like an archive: the first block is that of the container.
        var bytes = try home.folder.read("work/a.kcb")
        bytes[514] ^= 1
        try home.folder.write("work/a.kcb", bytes)
        let outcome = home.run(line)
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("'a.kcb' is not a kcbackup archive"))
    }

    @Test(
        "An empty file is empty, and not a file of items without items",
        arguments: [
            "verify a.kcb", "inspect a.kcb", "restore a.kcb", "diff a.kcb b.kcb",
            "export --archive a.kcb --to csv --plaintext -o out", "create --keychain file:a.kcb -i key out",
            "item list --keychain file:a.kcb",
        ],
        ["", " \n"])
    func empty(line: String, text: String) throws {
        let home = try TestHome()
        for line in ["keychain create --no-passcode", "keygen -o key"] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        #expect(home.run("create -r \(recipient) b.kcb").status == .ok)
        try home.write("a.kcb", text)
        let outcome = home.run(line.replacing("-i key", with: "-r \(recipient)"))
        #expect(outcome.status == .damaged)
        #expect(!outcome.messages.contains("file of items"), "\(outcome.messages)")
        if text.isEmpty { #expect(outcome.messages.contains("'a.kcb' is empty"), "\(outcome.messages)") }
        #expect(!FileManager.default.fileExists(atPath: home.path("out")))
    }
}
