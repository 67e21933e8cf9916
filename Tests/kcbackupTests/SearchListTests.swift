import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The search list of the security command, as kcbackup changes it")
struct SearchListTests {
    private let home: TestHome
    private var folder: DataFolder { home.world().machine.dataFolder }

    init() throws {
        home = try TestHome()
        try home.write("passphrase", "orbit lantern velvet\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    private func setList(_ names: [String]) throws {
        var lists = try KeychainLists.load(from: folder)
        lists.searchList = names
        try lists.set(in: folder)
    }

    @Test("A keychain that is created or restored is searched, even if a search list is set")
    func newOnes() throws {
        try setList(["login"])
        #expect(home.run("keychain create work --no-passcode").status == .ok)
        #expect(home.run("create a.kcb --unencrypted").status == .ok)
        #expect(home.run("restore a.kcb --keychain restored").status == .ok)
        #expect(home.run("restore a.kcb --keychain restored").status == .ok)
        #expect(home.run("restore a.kcb --keychain unmade --dry-run").status == .ok)
        #expect(try KeychainLists.load(from: folder).searchList == ["login", "work", "restored"])
    }

    @Test("A keychain is created even if the search list cannot be changed, and a warning says so")
    func damagedLists() throws {
        try home.folder.write("home/.local/share/kcbackup/keychain-lists", Array("none\n".utf8))
        let outcome = home.run("keychain create work --no-passcode")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: not put on the search list of 'security': "))
        #expect(home.run("keychain info work").status == .ok)
    }

    @Test("A keychain that is deleted is removed from the list, however its path is spelled")
    func deletedOnes() throws {
        #expect(home.run("keychain create ./x.keychain --no-passcode").status == .ok)
        try setList(["login", home.path("x.keychain")])
        #expect(home.run("keychain delete ./x.keychain --confirm ./x.keychain").status == .ok)
        #expect(try KeychainLists.load(from: folder).searchList == ["login"])
    }
}

extension KeychainLists {
    /// Replaces the stored lists with these.
    fileprivate func set(in folder: DataFolder) throws {
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists = self }
    }
}
