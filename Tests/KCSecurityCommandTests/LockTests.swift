import Foundation
import KCByteStreams
import KCKernelKeyring
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Passwords that are piped")
struct PipedPasswordTests {
    @Test("Without a terminal, two equal lines are a new password and the same again")
    func twice() throws {
        let home = try TestHome()
        home.run("create-keychain -p walnut login")
        func add(_ account: String, _ input: String) -> Int32 {
            Int32(home.run(["add-generic-password", "-a", account, "-s", "s", "-w"], input: input).status)
        }
        #expect(add("me", "hidden tulip\nhidden tulip\nrest\n") == 0)
        #expect(home.run("find-generic-password -a me -w").text == "hidden tulip\n")
        #expect(add("end", "lily\nlily") == 0)
        #expect(add("late", "a\nb\nlily\nlily\n") == 0)
        #expect(home.run("find-generic-password -a late -w").text == "lily\n")
        for input in ["", "lily\n", "lily\nother\n"] { #expect(add("none", input) == 36, "\(input)") }
        #expect(add("none", String(repeating: "a\nb\n", count: 3)) != 0)
        #expect(home.run("find-generic-password -a none").status == 44)
    }
}

@Suite("What stays unlocked between commands")
struct LockTests {
    @Test(
        "A new keychain is unlocked, locks after its timeout and when the machine sleeps, and leaves no keys if deleted"
    )
    func life() throws {
        let retention = MemoryRetention()
        let home = try TestHome(retention: retention)
        home.run("create-keychain -p walnut login")
        #expect(home.run("add-generic-password -a me -s s -w hidden").status == 0)
        retention.expireAll()
        #expect(home.run("find-generic-password -wa me").status == 36)
        #expect(home.run("unlock-keychain -p walnut").status == 0)
        #expect(home.run("find-generic-password -wa me").status == 0)
        home.sleep()
        #expect(home.run("find-generic-password -wa me").status == 36)
        #expect(home.run("unlock-keychain -p walnut").status == 0)
        #expect(home.run("set-keychain-settings").status == 0)
        home.sleep()
        #expect(home.run("find-generic-password -wa me").status == 0)
        #expect(retention.count == 2)
        #expect(home.run("delete-keychain login").status == 0)
        #expect(retention.count == 0)
    }

    @Test("Each accessibility is readable when it should be")
    func accessibilities() throws {
        let home = try TestHome()
        let keychain = try home.keychain("login", password: "walnut")
        for accessibility in Accessibility.allCases {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.acct] = .text(accessibility.rawValue)
            draft.attributes[.pdmn] = .text(accessibility.rawValue)
            try keychain.add(draft, secret: SecretBytes(copying: [0x61]), now: home.world().clock())
        }
        func readable() -> Set<String> {
            Set(
                Accessibility.allCases.map(\.rawValue).filter {
                    home.run(["find-generic-password", "-w", "-a", $0]).status == 0
                })
        }
        #expect(readable() == Set(Accessibility.allCases.map(\.rawValue)))
        home.run("lock-keychain")
        #expect(readable() == ["ck", "cku", "dk", "dku"])
        let world = home.world()
        try world.keychainSession.lock(keychain, untilFirstUnlock: true)
        #expect(readable() == ["dk", "dku"])
        home.run("unlock-keychain -p walnut")
        #expect(readable() == Set(Accessibility.allCases.map(\.rawValue)))
        // Removing the password deletes an item, which needs a confirmation.
        #expect(home.run(["set-keychain-password", "-o", "walnut", "-p", ""]).status == 1)
        #expect(
            home.run(
                ["set-keychain-password", "-o", "walnut", "-p", ""], terminal: ScriptedTerminal(answers: ["n"])
            ).status == 128)
        #expect(
            home.run(
                ["set-keychain-password", "-o", "walnut", "-p", ""], terminal: ScriptedTerminal(answers: ["y"])
            ).status == 0)
        #expect(home.run("find-generic-password -a akpu").status == 44)
    }

    @Test("If the kernel keeps no keys, every command asks for the password, and unlocking says why")
    func refusal() throws {
        let home = try TestHome(retention: MemoryRetention.refusing())
        try home.keychain("login", password: "walnut")
        let unlocked = home.run(["unlock-keychain"], terminal: ScriptedTerminal(answers: ["walnut"]))
        #expect(unlocked.status == 0)
        #expect(unlocked.messages.contains("no later command finds it unlocked: this process may not use"))
        #expect(home.run("add-generic-password -a me -s s -w hidden").status == 36)
        for _ in 0..<2 {
            let found = home.run(["dump-keychain", "-d"], terminal: ScriptedTerminal(answers: ["walnut"]))
            #expect(found.status == 0)
            #expect(found.terminal.asked.count == 1)
        }
        #expect(home.run("delete-keychain login").messages == "")
    }

    @Test(
        "A keychain that cannot be locked does not keep the others from being locked",
        arguments: ["-a", "broken safe missing last"])
    func lockingGoesOn(words: String) throws {
        let retention = MemoryRetention()
        let home = try TestHome(retention: retention)
        for name in ["broken", "last", "safe"] { try home.keychain(name, password: "walnut") }
        for name in ["broken", "last", "safe"] { home.run("unlock-keychain -p walnut \(name)") }
        #expect(retention.count == 6)
        home.run("list-keychains -s broken safe last")
        let path = "home/.local/share/kcbackup/keychains/broken.keychain"
        try home.folder.write(path, Array("These are no items.".utf8))
        let outcome = home.run("lock-keychain \(words)")
        #expect(outcome.status == 49)
        #expect(outcome.messages.contains("broken: The specified keychain is not a valid keychain file."))
        #expect(outcome.messages.contains("missing: The specified keychain could not be found.") == (words != "-a"))
        for name in ["last", "safe"] { #expect(home.run("unlock-keychain -u \(name)").status == 36, "\(name)") }
    }

    @Test("A keychain without a password is never locked, whatever the kernel says, and the command says so")
    func nothingToLock() throws {
        let home = try TestHome(retention: MemoryRetention.refusing())
        try home.keychain("login")
        let outcome = home.run("lock-keychain")
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(outcome.messages.contains("login has no password, so it is never locked"))
    }

    @Test("A new keychain that the kernel cannot keep unlocked is still created, but locked")
    func fullQuota() throws {
        let retention = MemoryRetention()
        // EDQUOT
        retention.fail("keep", .full(122))
        let home = try TestHome(retention: retention)
        let outcome = home.run("create-keychain -p walnut login")
        #expect(outcome.status == 0)
        #expect(outcome.messages.contains("login was made, and is locked"))
        #expect(home.run("add-generic-password -a me -s s -w x").status == 36)
        #expect(home.run("unlock-keychain -p walnut").status != 0)
    }

    @Test("Wrong passwords are counted, and after several of them the next attempt has to wait")
    func attempts() throws {
        let home = try TestHome()
        try home.keychain("login", password: "walnut")
        home.run("lock-keychain")
        // In one run, whose clock stands still.
        let lines = String(repeating: "unlock-keychain -p wrong\n", count: 6) + "unlock-keychain -p walnut\n"
        let outcome = home.run(["-i"], input: lines)
        #expect(outcome.status == 51)
        #expect(outcome.messages.contains("too many wrong passwords; the next attempt is possible in 2 s"))
        #expect(home.run("unlock-keychain -p walnut").status == 0)
    }

    @Test("A new password removes the states that the old one opens, and says so")
    func states() throws {
        let home = try TestHome()
        let keychain = try home.keychain("login", password: "walnut")
        let world = home.world()
        let states = KeptStates(of: keychain, in: world.dataFolder)
        _ = try keychain.write { _ in try states.keep(before: .restore, now: world.clock()) }
        let changed = home.run("set-keychain-password -o walnut -p orbit")
        #expect(changed.status == 0)
        #expect(
            changed.messages.contains(
                "note: 1 earlier state of 'kcbackup undo' removed: the old password opened it\n"))
        #expect(try states.list().isEmpty)
        let again = home.run("set-keychain-password -o orbit -p velvet")
        #expect(again.status == 0)
        #expect(!again.messages.contains("state"))
    }

    @Test(
        "With the real kernel, a keychain that one command unlocks is readable by the next until it is locked",
        .enabled(if: KernelKeyring.refusal == nil, "the kernel refuses keyrings here"))
    func kernel() throws {
        let home = try TestHome(kernel: KernelKeyring())
        try home.keychain("login", password: "walnut")
        #expect(home.run("add-generic-password -a me -s s -w hidden").status == 0)
        #expect(home.run("find-generic-password -wa me").text == "hidden\n")
        #expect(home.run("lock-keychain").status == 0)
        #expect(home.run("find-generic-password -wa me").status == 36)
        #expect(home.run("unlock-keychain -p walnut").status == 0)
        #expect(home.run("find-generic-password -wa me").text == "hidden\n")
        #expect(home.run("delete-keychain login").status == 0)
    }
}
