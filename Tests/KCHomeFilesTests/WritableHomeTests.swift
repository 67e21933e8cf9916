import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCHomeFiles

@Suite("Writing the files of a home")
struct WritableHomeTests {
    private let folder: TemporaryFolder
    private let home: WritableHome
    private static let rule = HomeFileRule(
        isSecret: true, limitInBytes: HomeFileRule.usualLimit, isDatabase: false, clearText: .none)

    init() throws {
        folder = try TemporaryFolder()
        home = try WritableHome(folder.path)
    }

    private func mode(_ name: String) throws -> Int {
        try #require(
            try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions] as? Int)
    }

    /// Writes a file that was read from another home.
    private func write(_ path: String, _ text: String, mode: Int = 0o600, replacing: EntryStatus? = nil) throws {
        let other = try TemporaryFolder()
        try other.write("file", Array(text.utf8), mode: mode)
        let file = try HomeFile.read("file", in: OpenFolder(other.path), owner: geteuid(), Self.rule)
        let place = try #require(HomePath(path))
        try home.write(
            HomeItem(place, file), try #require(HomeTable.rule(for: place)), file.bytes, replacing: replacing)
    }

    private func status(_ path: String) throws -> EntryStatus? {
        let place = try #require(HomePath(path))
        guard case .file(let file) = try home.entry(at: place, try #require(HomeTable.rule(for: place))) else {
            return nil
        }
        return file.status
    }

    @Test("Folders are made for their owner alone, and files have at most the permissions that they had")
    func permissions() throws {
        try write(".ssh/id", "key", mode: 0o644)
        try write(".ssh/config", "Host", mode: 0o666)
        try write(".netrc", "x", mode: 0o400)
        #expect(try mode(".ssh") == 0o700)
        #expect(try mode(".ssh/id") == 0o600)
        #expect(try mode(".ssh/config") == 0o644)
        #expect(try mode(".netrc") == 0o400)
        #expect(try folder.read(".ssh/id") == Array("key".utf8))
    }

    @Test("A file is replaced only if it is still the one that was seen")
    func onlyWhatWasSeen() throws {
        try write(".netrc", "first")
        let seen = try #require(try status(".netrc"))
        try folder.write(".netrc", Array("another".utf8))
        #expect(throws: HomeFailure.changedMeanwhile("~/.netrc")) {
            try write(".netrc", "second", replacing: seen)
        }
        #expect(throws: HomeFailure.changedMeanwhile("~/.netrc")) { try write(".netrc", "second") }
        #expect(throws: HomeFailure.changedMeanwhile("~/.netrc")) {
            try home.remove(try #require(HomePath(".netrc")), seen)
        }
        #expect(try folder.read(".netrc") == Array("another".utf8))
        try write(".netrc", "second", replacing: try status(".netrc"))
        #expect(try folder.read(".netrc") == Array("second".utf8))
        #expect(try folder.list() == [".netrc"])
    }

    @Test("Nothing is written in the place of a database whose journal would be applied to it")
    func strayJournal() throws {
        let path = ".gnupg/public-keys.d/pubring.db"
        let place = try #require(HomePath(path))
        let rule = try #require(HomeTable.rule(for: place))
        try FileManager.default.createDirectory(
            atPath: folder.path(".gnupg/public-keys.d"), withIntermediateDirectories: true)
        for name in [".gnupg", ".gnupg/public-keys.d"] { #expect(unsafe chmod(folder.path(name), 0o700) == 0) }
        for ending in ["-journal", "-wal"] {
            try folder.write(path + ending, [1])
            guard case .inTheWay = try home.entry(at: place, rule) else {
                Issue.record("a journal is not in the way")
                continue
            }
            try FileManager.default.removeItem(atPath: folder.path(path + ending))
        }
        guard case .missing = try home.entry(at: place, rule) else {
            Issue.record("nothing is there")
            return
        }
    }

    @Test("Of many files, each folder is swept and synced once, and what a killed process left is removed")
    func manyFiles() throws {
        try write(".ssh/first", "key")
        try folder.write(".ssh/.kcbackup-old0000000000.tmp", [1])
        try write(".ssh/second", "key")
        // The folder was swept for the first file; another restore sweeps it again.
        #expect(try folder.list().contains(".ssh/.kcbackup-old0000000000.tmp"))
        home.synchronize()
        let other = try WritableHome(folder.path)
        let place = try #require(HomePath(".ssh/first"))
        let rule = try #require(HomeTable.rule(for: place))
        guard case .file(let file) = try other.entry(at: place, rule) else {
            Issue.record("the file is gone")
            return
        }
        try other.write(HomeItem(place, file), rule, file.bytes, replacing: file.status)
        other.synchronize()
        #expect(try folder.list() == [".ssh", ".ssh/first", ".ssh/second"])
    }

    @Test("Nothing is written through a link, or into a folder that everybody can write to")
    func nothingThroughLinks() throws {
        let other = try TemporaryFolder()
        #expect(unsafe symlink(other.path, folder.path(".ssh")) == 0)
        #expect(throws: HomeFailure.changedMeanwhile("~/.ssh")) { try write(".ssh/id", "key") }
        try FileManager.default.createDirectory(
            atPath: folder.path(".gnupg"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        #expect(unsafe chmod(folder.path(".gnupg"), 0o777) == 0)
        #expect(throws: HomeFailure.changedMeanwhile("~/.gnupg")) { try write(".gnupg/a.gpg", "key") }
        #expect(unsafe symlink("/etc/passwd", folder.path(".netrc")) == 0)
        for path in [".ssh/id", ".gnupg/a.gpg", ".netrc"] {
            let place = try #require(HomePath(path))
            guard case .inTheWay = try home.entry(at: place, try #require(HomeTable.rule(for: place))) else {
                Issue.record("\(path) is not in the way")
                continue
            }
        }
        #expect(try other.list() == [])
    }
}
