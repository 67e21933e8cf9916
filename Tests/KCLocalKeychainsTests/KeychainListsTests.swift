import KCByteStreams
import KCTestSupport
import Testing

@testable import KCLocalKeychains

@Suite("The default keychain and the search list")
struct KeychainListsTests {
    private let temporary: TemporaryFolder
    private var folder: DataFolder { DataFolder(path: temporary.path("data")) }

    init() throws {
        temporary = try TemporaryFolder()
        try Path.makeFolder(temporary.path("data/keychains"))
    }

    private func keychain(_ name: String) throws {
        try temporary.write("data/keychains/\(name).keychain", [])
    }

    @Test("If nothing is set, login is the default keychain, and all keychains are searched, login first")
    func nothingSet() throws {
        for name in ["work", "login", "alpha"] { try keychain(name) }
        let lists = try KeychainLists.load(from: folder)
        #expect(lists == KeychainLists())
        #expect(try lists.standard(in: folder).name == "login")
        #expect(try lists.searched(in: folder).map(\.name) == ["login", "alpha", "work"])
        #expect(try KeychainLists.load(from: DataFolder(path: temporary.path("nowhere"))) == KeychainLists())
    }

    @Test(
        "Saved lists load unchanged",
        arguments: [
            (nil, nil), ("work", nil), (nil, []), ("work", []), (nil, ["login", "work"]),
            ("/srv/a b.keychain", ["Büro 2", "/srv/ünï\u{202e} \\x.keychain"]),
        ] as [(String?, [String]?)])
    func roundTrip(standard: String?, list: [String]?) throws {
        var lists = KeychainLists()
        lists.defaultKeychain = standard
        lists.searchList = list
        try lists.set(in: folder)
        #expect(try KeychainLists.load(from: folder) == lists)
        try KeychainLists().set(in: folder)
        #expect(try KeychainLists.load(from: folder) == KeychainLists())
    }

    @Test("Without a name, the default keychain is used")
    func defaultIsFollowed() throws {
        #expect(try LocalKeychain(nil, in: folder).name == "login")
        var lists = KeychainLists()
        lists.defaultKeychain = "work"
        try lists.set(in: folder)
        #expect(try LocalKeychain(nil, in: folder).path == folder.keychains + "/work.keychain")
        #expect(try LocalKeychain("login", in: folder).name == "login")
        lists.defaultKeychain = "/srv/x.keychain"
        try lists.set(in: folder)
        #expect(try LocalKeychain(nil, in: folder).path == "/srv/x.keychain")
    }

    @Test("A new keychain is searched; a deleted one is removed from the search list and as the default keychain")
    func includeAndForget() throws {
        for name in ["login", "work"] { try keychain(name) }
        var lists = KeychainLists()
        // All keychains in the data folder are searched anyway.
        try lists.include(LocalKeychain("work", in: folder))
        #expect(lists == KeychainLists())
        lists.searchList = ["login", "/srv/x.keychain"]
        for _ in 0..<2 { try lists.include(LocalKeychain("work", in: folder)) }
        #expect(lists.searchList == ["login", "/srv/x.keychain", "work"])
        lists.defaultKeychain = "work"
        try lists.set(in: folder)
        try LocalKeychain("work", in: folder).leaveLists(in: folder)
        let after = try KeychainLists.load(from: folder)
        #expect(after.searchList == ["login", "/srv/x.keychain"])
        #expect(after.defaultKeychain == nil)
    }

    @Test("A keychain outside the data folder is searched in addition to all keychains in it, including later ones")
    func additions() throws {
        try keychain("login")
        var lists = KeychainLists()
        for path in ["/srv/x.keychain", "/tmp/ci.keychain", "/srv/x.keychain"] {
            try lists.include(LocalKeychain(path, in: folder))
        }
        #expect(lists.searchList == nil)
        try lists.set(in: folder)
        try keychain("work")
        lists = try KeychainLists.load(from: folder)
        #expect(
            try lists.searched(in: folder).map(\.name) == ["login", "work", "/srv/x.keychain", "/tmp/ci.keychain"])
        lists.defaultKeychain = "/tmp/ci.keychain"
        #expect(
            try lists.searched(in: folder).map(\.name) == ["/tmp/ci.keychain", "login", "work", "/srv/x.keychain"])
        for path in ["/srv/x.keychain", "/tmp/ci.keychain"] {
            try lists.forget(LocalKeychain(path, in: folder), in: folder)
        }
        #expect(lists == KeychainLists())
        try lists.include(LocalKeychain("/srv/x.keychain", in: folder))
        lists.searchList = ["login"]
        #expect(lists.additions == [])
        try lists.set(in: folder)
        #expect(try KeychainLists.load(from: folder) == lists)
    }

    @Test("A deleted keychain is removed from the lists, however its path is spelled")
    func spellings() throws {
        try Path.makeFolder(temporary.path("a/b"))
        let path = temporary.path("a/b/x.keychain")
        let spellings = [
            path, temporary.path("a/./b//x.keychain"), temporary.path("a/b/../b/x.keychain"), "./x.keychain",
            "../b/x.keychain",
        ]
        for spelling in spellings {
            var lists = KeychainLists()
            lists.searchList = ["login", path, path + "-db"]
            lists.defaultKeychain = path
            try lists.set(in: folder)
            try LocalKeychain(spelling, in: folder, workingFolder: temporary.path("a/b")).leaveLists(in: folder)
            let after = try KeychainLists.load(from: folder)
            #expect(after.searchList == ["login", path + "-db"], "\(spelling)")
            #expect(after.defaultKeychain == nil, "\(spelling)")
        }
        var lists = KeychainLists()
        lists.searchList = ["login", "work"]
        try lists.set(in: folder)
        try LocalKeychain(folder.keychains + "/work.keychain", in: folder).leaveLists(in: folder)
        #expect(try KeychainLists.load(from: folder).searchList == ["login"])
    }

    @Test(
        "A damaged file is an error, never a shorter list",
        arguments: [
            "", "kcbackup keychain lists 1\n", "kcbackup keychain lists 1\nend", "kcbackup keychain lists 2\nend\n",
            "kcbackup keychain lists 1\nsearch\n login\n", "kcbackup keychain lists 1\nsearch\nlogin\nend\n",
            "kcbackup keychain lists 1\ndefault \nend\n", "kcbackup keychain lists 1\ndefault ../x\nend\n",
            "kcbackup keychain lists 1\ndefault a\ndefault b\nend\n", "kcbackup keychain lists 1\nsearch\n \nend\n",
            "kcbackup keychain lists 1\nalso\nend\n", "kcbackup keychain lists 1\nalso\n work\nend\n",
            "kcbackup keychain lists 1\nsearch\nend\nend\n", "kcbackup keychain lists 1\nend\n\n",
        ])
    func damage(text: String) throws {
        try temporary.write("data/keychain-lists", Array(text.utf8))
        #expect(throws: LocalKeychainFailure.listsDamaged(path: folder.keychainLists)) {
            try KeychainLists.load(from: folder)
        }
        #expect(throws: LocalKeychainFailure.listsDamaged(path: folder.keychainLists)) {
            try LocalKeychain(nil, in: folder)
        }
    }

    @Test("A file that others can write to is refused, and bytes that are not text are damage")
    func untrusted() throws {
        try temporary.write("data/keychain-lists", Array("kcbackup keychain lists 1\nend\n".utf8), mode: 0o622)
        #expect(throws: LocalKeychainFailure.file(FileFailure(folder.keychainLists, .exposed(mode: 0o622)))) {
            try KeychainLists.load(from: folder)
        }
        try temporary.write("data/keychain-lists", [0xff, 0xfe])
        #expect(throws: LocalKeychainFailure.listsDamaged(path: folder.keychainLists)) {
            try KeychainLists.load(from: folder)
        }
    }

    @Test("Names that could not be read back are not written")
    func unwritable() throws {
        for name in ["a\nb", "/a\nb", "", ".hidden", "/x\0y"] {
            var lists = KeychainLists()
            lists.searchList = [name]
            #expect(throws: LocalKeychainFailure.self, "\(name)") { try lists.set(in: folder) }
        }
        var long = KeychainLists()
        long.searchList = Array(repeating: "login", count: KeychainLists.searchListLimit + 1)
        #expect(throws: LocalKeychainFailure.self) { try long.set(in: folder) }
        #expect(try !Path.exists(folder.keychainLists))
    }

    @Test("A name from a Mac refers to the keychain of that name, however it is spelled")
    func macNames() throws {
        func found(_ word: String) throws -> LocalKeychain {
            try LocalKeychain(macName: word, in: folder, home: "/home/mia", workingFolder: temporary.path("work"))
        }
        for word in [
            "work", "work.keychain", "work.keychain-db", "/home/mia/Library/Keychains/work.keychain-db",
            "/home/mia//Library/./Keychains/work.keychain", folder.keychains + "/work.keychain",
        ] {
            #expect(try found(word).name == "work", "\(word)")
            #expect(try found(word).isNamed, "\(word)")
        }
        #expect(try found("a\u{d4e}.keychain").name.exact == "a\u{d4e}".exact)
        #expect(try found("./x.keychain").path == temporary.path("work/x.keychain"))
        #expect(try found("/srv//./x").path == "/srv/x")
        #expect(throws: LocalKeychainFailure.emptyName) { try found("") }
        #expect(throws: LocalKeychainFailure.invalidName) { try found(".keychain") }
        #expect(throws: LocalKeychainFailure.invalidName) { try found("a\nb.keychain") }
        // macOS turns x.keychain into x.keychain-db, and scripts use either name.
        try Path.makeFolder(temporary.path("work"))
        try temporary.write("work/x.keychain-db", [])
        #expect(try found("./x.keychain").path == temporary.path("work/x.keychain-db"))
        try temporary.write("work/y.keychain", [])
        #expect(try found("./y.keychain-db").path == temporary.path("work/y.keychain"))
        try temporary.write("work/x.keychain", [])
        #expect(try found("./x.keychain").path == temporary.path("work/x.keychain"))
    }
}

extension KeychainLists {
    /// Replaces the stored lists with these.
    fileprivate func set(in folder: DataFolder) throws {
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists = self }
    }
}
