import Foundation
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCHomeFiles

@Suite("Reading the files of a home")
struct HomeReaderTests {
    private static let rule = HomeFileRule(
        isSecret: true, limitInBytes: HomeFileRule.usualLimit, isDatabase: false, clearText: .none)

    private static func home(_ files: [(String, String)]) throws -> TemporaryFolder {
        let home = try TemporaryFolder()
        for (path, text) in files {
            try FileManager.default.createDirectory(
                atPath: home.path((path as NSString).deletingLastPathComponent), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try home.write(path, Array(text.utf8))
        }
        return home
    }

    private static func paths(_ contents: HomeContents) throws -> [String] {
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        return visitor.items.compactMap { HomeItem($0)?.path.text.string }
    }

    @Test("The files of the table are taken byte for byte, and no others")
    func tableIsTaken() throws {
        let home = try Self.home([
            (".ssh/id_ed25519", "key\r\n"), (".ssh/config", ""), (".netrc", "machine x"), (".bashrc", "echo"),
            (".var/app/a.b/data/keyrings/default.keyring", "ring"), (".var/app/a.b/data/other", "x"),
            (".password-store/.git/config", "x"), (".password-store/team/.git/hooks/post-checkout", "rm"),
            (".password-store/web/\u{e9}\nnew.gpg", "x"),
        ])
        let contents = try HomeReader.read(home.path)
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let found = Dictionary(
            uniqueKeysWithValues: zip(visitor.items.compactMap { HomeItem($0)?.path.text.string }, visitor.secrets))
        #expect(
            found == [
                ".ssh/id_ed25519": "key\r\n", ".ssh/config": "", ".netrc": "machine x",
                ".var/app/a.b/data/keyrings/default.keyring": "ring", ".password-store/web/\u{e9}\nnew.gpg": "x",
            ])
        #expect(contents.left.map(\.path) == ["~/.password-store/.git", "~/.password-store/team/.git"])
        #expect(contents.left.allSatisfy { $0.reason == .history })
        #expect(contents.unread.isEmpty)
        #expect(contents.sources.map(\.title) == ["SSH", "pass", "netrc", "flatpak keyrings"])
        #expect(contents.sources.map(\.taken) == [2, 1, 1, 1])
    }

    @Test("What is no file of the user's is left and named, and nothing waits for it")
    func hostileHome() throws {
        let home = try Self.home([(".ssh/key", "k"), (".ssh/known_hosts.lock", ""), ("elsewhere/hosts.yml", "x")])
        #expect(unsafe mkfifo(home.path(".ssh/fifo"), 0o600) == 0)
        #expect(unsafe symlink("/etc/passwd", home.path(".ssh/passwd")) == 0)
        #expect(unsafe symlink("../..", home.path(".ssh/loop")) == 0)
        try FileManager.default.createDirectory(atPath: home.path(".config"), withIntermediateDirectories: true)
        #expect(unsafe symlink("../elsewhere", home.path(".config/gh")) == 0)
        try home.write(".ssh/large", [UInt8](repeating: 0, count: HomeFileRule.usualLimit + 1))
        let strange = home.path(".ssh/").utf8CString.dropLast() + [CChar(bitPattern: 0xff), 0]
        #expect(unsafe mkfifo(Array(strange), 0o600) == 0)

        let contents = try HomeReader.read(home.path)
        #expect(try Self.paths(contents) == [".ssh/key"])
        let left = contents.left.map { "\($0.path) \($0.reason.rawValue)" }
        #expect(
            left.sorted() == [
                "~/.config/gh link", "~/.ssh/fifo special", "~/.ssh/known_hosts.lock passing", "~/.ssh/large too-large",
                "~/.ssh/loop link", "~/.ssh/passwd link",
            ])
        #expect(contents.unread.map(\.problem) == [.name])
    }

    @Test("What a backup should have and a rule leaves is told from what no backup needs")
    func missed() throws {
        let home = try Self.home([
            (".ssh/key", "k"), (".age/a.key", "k"), ("dotfiles/config", "Host a"), ("dotfiles/store/mail.gpg", "x"),
            (".ssh/known_hosts.lock", ""), (".gnupg/random_seed", "x"), ("data/cargo/config.toml", "x"),
            ("data/gh/hosts.yml", "x"), ("data/app/data/keyrings/a.keyring", "x"), ("data/other/data/x", "x"),
            (".var/app/kept/x", "x"),
        ])
        try home.write(".ssh/large", [UInt8](repeating: 0, count: HomeFileRule.usualLimit + 1))
        #expect(unsafe mkfifo(home.path("dotfiles/socket"), 0o600) == 0)
        try FileManager.default.createDirectory(atPath: home.path(".config"), withIntermediateDirectories: true)
        for (name, target) in [
            (".ssh/config", "../dotfiles/config"), (".ssh/copy", "key"), (".ssh/gone", "../nothing"),
            (".ssh/socket", "../dotfiles/socket"), (".password-store", "dotfiles/store"), (".config/age", "../.age"),
            (".cargo", "data/cargo"), (".config/gh", "../data/gh"), (".var/app/a", "../../data/app"),
            (".var/app/b", "../../data/other"),
        ] {
            #expect(unsafe symlink(target, home.path(name)) == 0)
        }
        let contents = try HomeReader.read(home.path)
        #expect(
            contents.missed.map { "\($0.path) \($0.reason.rawValue)" }.sorted() == [
                "~/.config/gh link", "~/.password-store link", "~/.ssh/config link", "~/.ssh/gone link",
                "~/.ssh/large too-large", "~/.var/app/a link",
            ])
        #expect(contents.left.count == 13)
        #expect(contents.unread.isEmpty)
    }

    @Test("Files and folders of another user are left", .enabled(if: geteuid() == 0, "giving files away takes root"))
    func otherOwner() throws {
        let home = try Self.home([(".ssh/mine", "k"), (".ssh/theirs", "k"), (".gnupg/a.gpg", "k")])
        for name in [".ssh/theirs", ".gnupg"] { #expect(unsafe chown(home.path(name), 1, 1) == 0) }
        let contents = try HomeReader.read(home.path)
        #expect(try Self.paths(contents) == [".ssh/mine"])
        #expect(contents.missed.map(\.reason) == [.otherOwner, .otherOwner])
    }

    @Test("A file whose size is not what it has is not taken as it is")
    func changedMeanwhile() throws {
        // Each file there has a size of 0, and bytes.
        let folder = try OpenFolder("/proc/self")
        #expect(throws: HomeFile.Failure.changed) {
            _ = try HomeFile.read("status", in: folder, owner: geteuid(), Self.rule)
        }
    }

    @Test("A database is taken while no change of it is under way, and named otherwise; journals are never taken")
    func databases() throws {
        let path = ".gnupg/public-keys.d/pubring.db"
        let home = try Self.home([(path, "keys"), (path + "-journal", "change"), (".gnupg/tofu.db", "trust")])
        var contents = try HomeReader.read(home.path)
        #expect(try Self.paths(contents) == [".gnupg/tofu.db"])
        #expect(contents.unread.map { "\($0.path) \($0.problem)" } == ["~/\(path) unfinished"])
        #expect(contents.left.map(\.path) == ["~/\(path)-journal"])
        // An empty journal belongs to no change.
        try home.write(path + "-journal", [])
        try home.write(path + "-wal", [])
        contents = try HomeReader.read(home.path)
        #expect(try Self.paths(contents) == [path, ".gnupg/tofu.db"])
        #expect(contents.unread.isEmpty)
    }

    @Test("A file has the same item in every backup, with its mode and its time")
    func itemIsStable() throws {
        let home = try Self.home([(".netrc", "x")])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: home.path(".netrc"))
        let items = try (0..<2).map { _ in
            var visitor = ListingVisitor()
            try HomeReader.read(home.path).items.visitItems(&visitor)
            return try #require(visitor.items.first)
        }
        #expect(items[0] == items[1])
        let file = try #require(HomeItem(items[0]))
        #expect(file.permissions == 0o640)
        #expect(file.restoredPermissions(try #require(HomeTable.rule(for: file.path))) == 0o600)
        #expect(items[0].accessibility == .whenUnlocked)
    }
}
