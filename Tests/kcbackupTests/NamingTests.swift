import Foundation
import KCByteStreams
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Names of archives, and paths that no shell expanded")
struct NamingTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passphrase", "correct horse\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    @Test("Archives made within one second are numbered, in a backup folder and in the working folder")
    func sameSecond() throws {
        var world = home.world()
        let now = world.machine.clock()
        world.machine.clock = { now }
        try Path.makeFolder(home.path("backups"))
        for (arguments, folder) in [(["backups"], "work/backups/"), ([], "work/")] {
            for _ in 1...3 {
                #expect(CommandLineTool.program.run(["create", "--unencrypted"] + arguments, in: world) == .ok)
            }
            let names = try home.folder.list().filter { $0.hasPrefix(folder + "login-") && $0.hasSuffix(".kcb") }
            let ends = ["-2.kcb", "-3.kcb"].map { end in names.count { $0.hasSuffix(end) } }
            #expect(names.count == 3 && ends == [1, 1], "\(names)")
        }
        let told = CollectedOutput()
        world.output = told
        #expect(CommandLineTool.program.run(["create", "backups", "--unencrypted", "--json"], in: world) == .ok)
        #expect(told.text.contains("-4.kcb\""), "\(told.text)")
    }

    @Test("A relative path of a keychain is named as it was typed")
    func relativeKeychain() throws {
        try Path.makeFolder(home.path("folder"))
        var world = home.world()
        // As in the real program, in which the operating system resolves relative paths.
        world.machine.workingFolder = nil
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let typed = "./" + String(repeating: "../", count: depth) + home.path("folder").dropFirst()
        let told = CollectedOutput()
        world.messages = told
        #expect(CommandLineTool.program.run(["item", "list", "--keychain", typed], in: world) == .refused)
        #expect(told.text.contains("error: '\(typed)' is a folder"), "\(told.text)")
    }

    @Test("A name that is invalid or misleading as a file name is turned into a valid one")
    func stems() {
        let odd = [
            ".jsonl": "jsonl", "...": "items", "-x.jsonl": "x", "a\u{202e}b.jsonl": "a_b", "a\nb": "a_b", " x": "x",
            "a\u{1b}[31m": "a_[31m", "-": "items", "-\u{301}x": "\u{301}x", "می\u{200c}خواهم": "می\u{200c}خواهم",
            "a b.jsonl": "a b",
        ]
        for (path, stem) in odd { #expect(NamedFile(path: path).fileStem == stem) }
        let long = NamedFile(path: String(repeating: "é", count: 127)).fileStem
        #expect(long.utf8.count == 200 && long.allSatisfy { $0 == "é" })
    }

    @Test("A file with a name of the maximum length or of odd characters can be backed up")
    func longName() throws {
        for name in [String(repeating: "é", count: 127), "\u{202e}.jsonl", ".jsonl"] {
            try home.write(name, #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"tulip"}"# + "\n")
            let outcome = home.run(["create", "--keychain", "file:" + name, "--passphrase", "file:passphrase"])
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
        #expect(try home.folder.list().count { $0.hasPrefix("work/") && $0.hasSuffix(".kcb") } == 3)
    }

    @Test("'~/' at the start of any path is the home folder, but './~/' is not")
    func homeFolder() throws {
        try home.folder.write("home/secret", Array("correct horse\n".utf8), mode: 0o600)
        try home.folder.write(
            "home/items.jsonl", Array((#"{"class":"genp","attributes":{"svce":"Bank"},"secret":"tulip"}"# + "\n").utf8),
            mode: 0o600)
        let lines = [
            "create ~/a.kcb --passphrase file:~/secret --keychain file:~/items.jsonl",
            "verify ~/a.kcb --passphrase file:~/secret", "keychain create ~/k.keychain --passcode file:~/secret",
            "item list --keychain=~/k.keychain", "keygen --output=~/key.txt",
        ]
        for line in lines {
            let outcome = home.run(line)
            #expect(outcome.status == .ok, "\(line)\n\(outcome.messages)")
        }
        for name in ["a.kcb", "k.keychain", "key.txt"] {
            #expect(try Path.exists(home.home + "/" + name), "\(name)")
        }
        #expect(home.run("verify ./~/a.kcb").status == .notFound)
    }
}
