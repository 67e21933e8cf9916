import Foundation
import Glibc
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Files of item lines as the source of a backup")
struct ItemLinesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func collected(_ text: String) throws -> CollectedItems {
        let path = folder.path("items.jsonl")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return try ItemLines(OpenFile.reading(path)).collected()
    }

    @Test("A byte order mark before the first line is skipped, also where the line is blank")
    func mark() throws {
        for text in ["\u{feff}", "\u{feff} \n"] {
            var visitor = ListingVisitor()
            try collected(text + #"{"class":"genp","attributes":{"svce":"s"},"secret":"p"}"#).visitItems(&visitor)
            #expect(visitor.secrets == ["p"])
        }
    }

    @Test("A file of items sets no mark of kcbackup's own, and what a listing shows of a keyring's item is accepted")
    func reservedNames() throws {
        func line(_ name: String, _ value: String) -> String {
            #"{"class":"genp","extra":{"\#(name)":"\#(value)"},"secret":"p"}"#
        }
        let mark = "kcbackup:attribute:kcbackup:accessible"
        var refused = ["kcbackup:", "kcbackup:accessible", "kcbackup:Alias", "kcbackup:attribute:x"].map { ($0, "ak") }
        refused += Accessibility.allCases.filter { $0 != .whenUnlocked }.map { (mark, $0.rawValue) }
        for (name, value) in refused {
            #expect(throws: ItemLines.Failure(line: 1, problem: .line(.item(.reservedExtra))), "\(name) \(value)") {
                try collected(line(name, value))
            }
        }
        let kept = [
            ("kcbackup:collection", "Login"), ("kcbackup:collection-number", "1"), ("kcbackup:alias", "default"),
            ("kcbackup:type", "t"), ("kcbackup:content-type", "c"), ("kcbackup:uint32", "port"), (mark, "soon"),
            (mark, "ak"), ("kcbackup:attribute:kcbackup:x", "akpu"), ("Kcbackup:", ""), ("kcbackup", ""),
        ]
        for (name, value) in kept { #expect(try collected(line(name, value)).count == 1, "\(name)") }
    }

    @Test("Items come in archive order with their own secrets, whatever the order of the lines")
    func sorted() throws {
        var lines = (0..<40).map { number in
            #"{"class":"genp","attributes":{"svce":"s\#(number)","acct":"ann"},"secret":"of \#(number)"}"#
        }
        lines.append(#"{"class":"inet","attributes":{"srvr":"example.com"}}"#)
        lines.append(#"{"class":"genp","attributes":{"svce":"empty"},"secret":""}"#)
        for seed in 0..<3 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var visitor = ListingVisitor()
            try collected(lines.shuffled(using: &random).joined(separator: "\n\n")).visitItems(&visitor)
            #expect(visitor.items.count == 42)
            #expect(zip(visitor.items, visitor.items.dropFirst()).allSatisfy { $0.precedes($1) })
            for (item, secret) in zip(visitor.items, visitor.secrets) {
                let service = item.attributes[.svce]
                switch item.secretSize {
                case nil: #expect(item.itemClass == .internetPassword)
                case 0: #expect(service == .text("empty") && secret.isEmpty)
                default: #expect(service == .text("s" + secret.dropFirst(3)))
                }
            }
        }
    }

    @Test(
        "A file dated beyond any date of an item has the reference date",
        arguments: [Int64.max, .min, .max / 1_000_000])
    func farDate(seconds: Int64) {
        var status = stat()
        status.st_mtim.tv_sec = Int(seconds)
        status.st_mtim.tv_nsec = 999_999_999
        #expect(ForeignFile.modified(status) == .reference)
        status.st_mtim.tv_sec = 1_700_000_000
        #expect(ForeignFile.modified(status).microseconds == 1_700_000_000_999_999)
    }

    @Test("An item that the visitor does not want is skipped")
    func unwanted() throws {
        var visitor = ListingVisitor(wanted: { $0.attributes[.svce] == .text("b") })
        try collected(
            #"{"class":"genp","attributes":{"svce":"a"},"secret":"1"}"# + "\n"
                + #"{"class":"genp","attributes":{"svce":"b"},"secret":"2"}"#
        ).visitItems(&visitor)
        #expect(visitor.secrets == ["2"])
    }

    @Test("An item without a UUID gets one that depends only on its unique key")
    func named() throws {
        func uuid(_ attributes: String) throws -> String {
            var visitor = ListingVisitor()
            try collected(#"{"class":"genp","attributes":{\#(attributes)},"secret":"x"}"#).visitItems(&visitor)
            return try #require(visitor.items.first).uuid.description
        }
        let first = try uuid(#""svce":"mail","acct":"ann""#)
        // The SHA-256 of the fields, computed with Python. The hash must never change, so that UUIDs remain the same.
        #expect(first == "25ada8e2-4fe5-8e41-b4f4-46b7595a829b")
        #expect(try uuid(#""svce":"mail","acct":"ann","labl":"Mail","icmt":"new""#) == first)
        #expect(try uuid(#""svce":"mail","acct":"bob""#) != first)
        #expect(try uuid(#""svce":"maila","acct":"nn""#) != first)
        #expect(try uuid(#""svce":"mail","acct":"ann","agrp":"other""#) != first)
    }

    @Test("Two lines with the same unique key or UUID are refused, and the error names both")
    func clashes() throws {
        let uuid = "0b1b25a8-d837-4f51-a693-4442d2b04834"
        let one = #"{"class":"genp","attributes":{"svce":"mail"},"secret":"x"}"#
        let other = #"{"class":"genp","attributes":{"svce":"news"},"secret":"x"}"#
        let same = ItemLines.Failure(line: 4, problem: .sameKey(line: 1))
        #expect(throws: same) { try collected("\(one)\n\(other)\n\n\(one)\n") }
        let withUUID = one.replacing("\"class\"", with: "\"uuid\":\"\(uuid)\",\"class\"")
        #expect(throws: ItemLines.Failure(line: 2, problem: .sameKey(line: 1))) {
            try collected("\(one)\n\(withUUID)\n")
        }
        let otherWithUUID = other.replacing("\"class\"", with: "\"uuid\":\"\(uuid)\",\"class\"")
        #expect(throws: ItemLines.Failure(line: 2, problem: .sameUUID(line: 1))) {
            try collected("\(withUUID)\n\(otherWithUUID)\n")
        }
    }

    @Test("An invalid line is reported with its number, and nothing is collected")
    func malformed() throws {
        let good = #"{"class":"genp","attributes":{"svce":"mail"},"secret":"x"}"#
        for bad in ["{", #"{"class":"genp","attributes":{"port":1}}"#] {
            do {
                _ = try collected("\(good)\n\(bad)\n\(good)")
                Issue.record("accepted \(bad)")
            } catch let failure as ItemLines.Failure {
                #expect(failure.line == 2)
            }
        }
    }

    @Test("A file that does not fit into memory is read as one that does, and a clash names both lines")
    func large() throws {
        let path = folder.path("large.jsonl")
        let comment = String(repeating: "x", count: 60_000)
        let lines = (0..<400).map { number in
            #"{"class":"genp","attributes":{"svce":"s\#(number * 77 % 400)","icmt":"\#(comment)"},"secret":"\#(number)"}"#
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
        var (held, spooled) = (ListingVisitor(), ListingVisitor())
        try ItemLines(OpenFile.reading(path)).collected().visitItems(&held)
        try ItemLines(OpenFile.reading(path)).collected(spoolingIn: folder.path).visitItems(&spooled)
        #expect(spooled.items.count == 400)
        #expect(spooled.items == held.items && spooled.secrets == held.secrets)
        try (lines + [lines[3]]).joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: ItemLines.Failure(line: 401, problem: .sameKey(line: 4))) {
            try ItemLines(OpenFile.reading(path)).collected(spoolingIn: folder.path)
        }
    }

    @Test("An item without dates gets the modification date of the file")
    func dates() throws {
        let path = folder.path("old.jsonl")
        try #"{"class":"genp","attributes":{"svce":"mail"},"secret":"x"}"#.write(
            toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
        var visitor = ListingVisitor()
        try ItemLines(OpenFile.reading(path)).collected().visitItems(&visitor)
        #expect(visitor.items.first?.created.seconds == 1_700_000_000)
        #expect(visitor.items.first?.modified.seconds == 1_700_000_000)
    }
}
