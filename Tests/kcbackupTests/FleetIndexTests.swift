import Foundation
import KCBackupCatalogue
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The index of a fleet", .waitsForPrograms)
struct FleetIndexTests {
    private let fleet: IndexedFleet

    init() throws { fleet = try IndexedFleet() }

    @Test("An inspect key is enough to find what every machine has, and no secret gets into the index")
    func inspectKey() throws {
        let archive = try fleet.backUp("ada")
        try fleet.backUp("bob")
        let outcome = fleet.index()
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.text == "2 archives: 2 added with 2 new items, 0 known, 0 left out\n")
        let found = fleet.search("mail.bob.example.org")
        #expect(found.status == .ok && found.text.contains(/bob +internet +mail.bob.example.org/))
        #expect(found.text.contains("1 item on 1 machine") && !found.text.contains("ada"))
        #expect(fleet.search("example").text.contains("2 items on 2 machines"))
        #expect(try !fleet.file("fleet.index", has: IndexedFleet.secret))
        // The holder of the key can do only what the key can do.
        #expect(fleet.home.run("verify \(archive) -i inspect-key").status == .incomplete)
        #expect(fleet.home.run("keychain create --no-passcode").status == .ok)
        let restored = fleet.home.run("restore \(archive) -i inspect-key --accept-origin \(try fleet.id("ada"))")
        #expect(restored.status == .wrongKey, "\(restored.messages)")
    }

    @Test("A restore key finds the same, and leaks no secret either")
    func restoreKey() throws {
        try fleet.backUp("ada")
        #expect(fleet.index("-i restore-key --inventory machines.txt").status == .ok)
        #expect(fleet.search("ada").status == .ok)
        #expect(try !fleet.file("fleet.index", has: IndexedFleet.secret))
        #expect(try fleet.file("fleet.index", has: "mail.ada.example.org"))
        let mode = try FileManager.default.attributesOfItem(atPath: fleet.home.path("fleet.index"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try fleet.home.folder.list().filter { $0.contains(".restoring-") || $0.hasSuffix(".tmp") } == [])
    }

    @Test("An archive is fetched once, and one whose items are those of an earlier one adds none")
    func incremental() throws {
        try fleet.backUp("ada", as: "login-1.kcb")
        #expect(fleet.index().text.contains("1 added with 1 new item"))
        let calls = try fleet.rclone.calls()
        #expect(fleet.index().text == "1 archive: 0 added with 0 new items, 1 known, 0 left out\n")
        #expect(try fleet.rclone.calls().dropFirst(calls.count).contains("copy") == false)
        try fleet.backUp("ada", as: "login-2.kcb")
        try fleet.add("files.example.org", to: "ada")
        try fleet.backUp("ada", as: "login-3.kcb")
        #expect(fleet.index().text == "3 archives: 2 added with 1 new item, 1 known, 0 left out\n")
    }

    @Test("What is not an archive of the machine in whose folder it is, is left out and named, once")
    func rejected() throws {
        try fleet.backUp("ada")
        try fleet.backUp("bob", in: "ada", "-r \(try recipient("restore-key"))")
        let damaged = try fleet.backUp("bob", as: "damaged.kcb")
        var bytes = try fleet.home.folder.read("work/\(damaged)")
        bytes[bytes.count / 2] ^= 1
        try fleet.home.write(damaged, bytes)
        try fleet.backUp("bob", as: "closed.kcb", "-r \(try recipient("other-key"))")
        try fleet.backUp("eve")
        try fleet.home.write(damaged + ".note", "x")
        try fleet.home.write(damaged + ".part", "x")
        // The archive of bob replaced that of ada, which had the same name.
        let outcome = fleet.index()
        #expect(outcome.status == .incomplete)
        for words in [
            "login-1.kcb: made by another device, \(try fleet.id("bob"))", "damaged.kcb: damaged: ",
            "closed.kcb: no key opens it", "\(try fleet.id("eve")): 1 archive of a device that no list has",
            "damaged.kcb.note: not the name of an archive", "4 archives: 0 added",
        ] { #expect(outcome.text.contains(words), "\(words)\n\(outcome.text)") }
        #expect(
            outcome.messages.contains("4 archives left out of the index, and 1 file among the archives that is none"))
        // Nothing is good only since it is known; what is damaged is read again, since it may have been repaired.
        let again = fleet.index()
        #expect(again.status == .incomplete && again.text.contains("2 known, 2 left out"), "\(again.text)")
        bytes[bytes.count / 2] ^= 1
        try fleet.home.write(damaged, bytes)
        #expect(fleet.index().text.contains("4 archives: 1 added"))
        // Another key may open what the first one did not.
        let other = fleet.index("-i other-key --inventory machines.txt")
        #expect(other.text.contains("4 archives: 1 added"), "\(other.text)")
        #expect(fleet.search("bob").messages.contains("1 archive of the fleet could not be read, and is not searched"))
    }

    private func recipient(_ key: String) throws -> String {
        let text = String(decoding: try fleet.home.folder.read("work/\(key)"), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    @Test("A key that opens nothing ends with 12, and what it did not open is read with the right one")
    func wrongKey() throws {
        try fleet.backUp("ada")
        #expect(fleet.index("-i other-key --inventory machines.txt").status == .wrongKey)
        #expect(fleet.index("-i other-key --inventory machines.txt").status == .wrongKey)
        #expect(fleet.index("--inventory machines.txt").status == .wrongKey)
        #expect(fleet.index().text == "1 archive: 1 added with 1 new item, 0 known, 0 left out\n")
    }

    @Test("A copy of an archive under another name is no second archive")
    func copies() throws {
        let path = try fleet.backUp("ada")
        #expect(fleet.index().status == .ok)
        try fleet.home.write(path.replacing("login-1", with: "login-9"), fleet.home.folder.read("work/\(path)"))
        #expect(fleet.index().text.contains("login-9.kcb: a copy of another archive of this machine"))
    }

    @Test("An item that is gone is found by --last and by a day on which it was there, and by no other search")
    func times() throws {
        try fleet.add("old.example.org", to: "ada")
        try fleet.backUp("ada", as: "login-1.kcb")
        try fleet.backUp("bob", as: "login-1.kcb")
        try fleet.wait(days: 3, on: "ada")
        fleet.home.pass(hours: 3 * 24)
        try fleet.delete(server: "old.example.org", of: "ada")
        try fleet.backUp("ada", as: "login-2.kcb")
        #expect(fleet.index().status == .ok)
        #expect(fleet.search("old.example.org").status == .notFound)
        let last = fleet.search("old.example.org", "--last")
        #expect(last.status == .ok && last.text.contains("2026-03-01"), "\(last.text)\(last.messages)")
        #expect(fleet.search("--device", "ada", "--on", "2026-03-02").text.contains("2 items on 1 machine"))
        #expect(fleet.search("--device", "ada", "--on", "2026-03-04").text.contains("1 item on 1 machine"))
        #expect(fleet.search("old", "--on", "2026-03-01").status == .ok)
        #expect(fleet.search("old", "--on", "2026-02-28").status == .notFound)
        // A day is one of the user's calendar.
        let far = fleet.home.run(
            ["fleet", "search", "fleet.index", "old", "--on", "2026-03-01"],
            calendar: .init(zone: "X", secondsFromUTC: -86_000))
        #expect(far.status == .ok)
        #expect(fleet.search("example", "--device", try fleet.id("ada")).text.contains("1 item on 1 machine"))
        #expect(fleet.search("example", "--device", "eve").status == .notFound)
    }

    @Test("An archive of a clock that was a year ahead does not hide what the machine has had since")
    func clockAhead() throws {
        try fleet.wait(days: 365, on: "ada")
        try fleet.backUp("ada", as: "login-1.kcb")
        #expect(fleet.index().status == .ok)
        #expect(fleet.search("ada").status == .ok, "it is the only one")
        try fleet.wait(days: -365, on: "ada")
        try fleet.add("since.example.org", to: "ada")
        try fleet.backUp("ada", as: "login-2.kcb")
        #expect(fleet.index().status == .ok)
        #expect(fleet.search("since").status == .ok)
        // In whatever order they are read.
        #expect(fleet.index(to: "other.index").status == .ok)
        #expect(fleet.home.run(["fleet", "search", "other.index", "since"]).status == .ok)
    }

    @Test("Text is searched for as words, whatever it means to SQL or to its search engine")
    func words() throws {
        try fleet.backUp("ada")
        #expect(fleet.index().status == .ok)
        for text in [
            "\" OR ada", "service:ada", "ad*", "ada OR bob", "NEAR(ada bob)", "{service}:ada", "-ada x",
            "'; DROP TABLE item; --", "ada NOT bob", "ada AND x", "^ada^ y", "%", "_", "mail example org",
        ] {
            let outcome = fleet.search("--", text)
            let isFound = text == "mail example org"
            #expect(isFound ? outcome.status == .ok : [.notFound, .usage].contains(outcome.status), "\(text)")
        }
        #expect(fleet.search("ADA").status == .ok && fleet.search("mail.ada", "--json").status == .ok)
        #expect(fleet.search("--", "ada\"").status == .ok && fleet.search("mail.example").status == .notFound)
    }

    @Test("Foreign text in the table is escaped")
    func escaped() throws {
        try fleet.add("evil\u{1b}[2Jhost", to: "ada")
        try fleet.backUp("ada")
        #expect(fleet.index().status == .ok)
        let outcome = fleet.search("evil")
        #expect(outcome.status == .ok && !outcome.text.contains("\u{1b}"), "\(outcome.text)")
    }

    @Test("What every machine had on a day is written as lines, to a file, a compressed one, or a pipe, and no secret")
    func lines() throws {
        try fleet.add("old.example.org", to: "ada")
        try fleet.backUp("ada", as: "login-1.kcb")
        try fleet.wait(days: 3, on: "ada")
        fleet.home.pass(hours: 3 * 24)
        try fleet.delete(server: "old.example.org", of: "ada")
        try fleet.add("evil\u{2028}\"host", to: "ada")
        try fleet.backUp("ada", as: "login-2.kcb")
        try fleet.backUp("bob")
        #expect(fleet.index().status == .ok)
        let now = fleet.export("-o", "now.jsonl")
        #expect(
            now.status == .ok && now.text == "3 items of 2 keychains in 'now.jsonl'\n", "\(now.text)\(now.messages)")
        let written = try fleet.lines("now.jsonl")
        #expect(
            Set(written.map { $0["server"] as? String })
                == ["mail.ada.example.org", "evil\u{2028}\"host", "mail.bob.example.org"])
        let mail = try #require(written.first { $0["server"] as? String == "mail.ada.example.org" })
        let ada = try fleet.id("ada")
        #expect(mail["machine"] as? String == "ada" && mail["device"] as? String == ada)
        #expect(mail["day"] as? String == "2026-03-04" && mail["keychain"] as? String == "login")
        #expect(try !fleet.file("now.jsonl", has: IndexedFleet.secret))
        let printed = fleet.export("-o", "-").text
        #expect(printed.contains(#"evil\u2028\"host"#) && printed.utf8.count { $0 == UInt8(ascii: "\n") } == 3)
        #expect(fleet.export("-o", "now.jsonl.gz").status == .ok)
        let unpacked = try ExternalProgram.run("gzip", ["-dc", fleet.home.path("now.jsonl.gz")])
        #expect(unpacked.text.utf8.elementsEqual(try fleet.home.folder.read("work/now.jsonl")))
        let then = fleet.export("-o", "then.jsonl", "--on", "2026-03-02", "--json")
        #expect(then.text.contains(#""day":"2026-03-02","items":3,"keychains":2"#), "\(then.text)\(then.messages)")
        #expect(try fleet.lines("then.jsonl").contains { $0["server"] as? String == "old.example.org" })
        #expect(fleet.export("-o", "never.jsonl", "--on", "2020-01-01").status == .notFound)
        #expect(!FileManager.default.fileExists(atPath: fleet.home.path("never.jsonl")))
        #expect(fleet.export("-o", "now.jsonl").status == .exists)
    }

    @Test("What cannot be indexed or searched is refused before anything is fetched")
    func refusals() throws {
        try fleet.backUp("ada")
        try fleet.home.write("text", "no index", mode: 0o600)
        for (line, status) in [
            ("index nas:fleet -i inspect-key -o fleet.index", .refused),
            ("index fleet -i inspect-key --inventory machines.txt -o fleet.index", .usage),
            ("index nas:fleet -i inspect-key --inventory machines.txt -o postgres:x", .usage),
            ("index nas:fleet -i inspect-key --inventory machines.txt -o text", .damaged),
            ("index nas:flet -i inspect-key --inventory machines.txt -o fleet.index", .notFound),
            ("index nas:fleet -i none --inventory machines.txt -o fleet.index", .notFound),
            ("search none.index x", .notFound), ("search text x", .damaged), ("search text", .usage),
            ("export none.index -o x", .notFound), ("export text -o x", .damaged), ("export text", .usage),
            ("export text -o nowhere/x", .notFound), ("export text -o machines.txt", .exists),
            ("export text -o x --on 2026-02-30", .usage),
            ("search text . ", .usage), ("search text x --on 2026-2-3", .usage),
            ("search text x --on 2026-02-30", .usage), ("search text x --on 2026-02-03 --last", .usage),
        ] as [(String, KCTerminal.ExitStatus)] {
            let outcome = fleet.home.run(
                ("fleet " + line).split(separator: " ").map(String.init), environment: fleet.rclone.environment)
            #expect(outcome.status == status, "\(line): \(outcome.messages)")
        }
        let mode = 0o644
        #expect(fleet.index().status == .ok)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fleet.home.path("fleet.index"))
        #expect(fleet.search("ada").status == .refused)
    }
}
