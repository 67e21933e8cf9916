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
        let file = try HomeFile.read("file", in: OpenFolder(other.path), owner: geteuid(), limit: 1 << 20)
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
