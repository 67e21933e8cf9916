import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCSecurityCommand

/// Apple's regression tests for file keychains, as far as they apply to the command; the numbers are those of Apple's
/// files.
@Suite("Acceptance tests for file keychains")
struct AcceptanceTests {
    let home: TestHome

    init() throws {
        home = try TestHome()
    }

    private func status(_ line: String, typed: [String]? = nil) -> Int32 {
        home.run(line.split(separator: " ").map(String.init), terminal: ScriptedTerminal(answers: typed)).status
    }

    @Test("kc-01: a keychain is created and deleted, and a file that is not a keychain is not valid")
    func kc01Creation() throws {
        #expect(status("create-keychain -p x a.keychain") == 0)
        #expect(status("dump-keychain a.keychain") == 0)
        #expect(status("create-keychain -p x a.keychain") == 48)
        #expect(status("delete-keychain a.keychain") == 0)
        #expect(status("dump-keychain a.keychain") == 50)
        try home.write("b.keychain", Array("corrupt".utf8))
        #expect(status("dump-keychain ./b.keychain") == 49)
        #expect(status("find-generic-password -a x ./b.keychain") == 49)
    }

    @Test("kc-03: the search list is what it was set to, and a deleted keychain is removed from it")
    func kc03List() throws {
        for name in ["a", "b", "c"] { try home.keychain(name) }
        #expect(status("list-keychains -s c a") == 0)
        let lines = home.run("list-keychains").text.split(separator: "\n").map(String.init)
        #expect(lines.map { $0.hasPrefix("    \"/") && $0.hasSuffix(".keychain\"") } == [true, true])
        // The output can be used to set the list.
        let paths = lines.map { $0.trimmingPrefix("    \"").dropLast() }.map(String.init)
        #expect(home.run(["list-keychains", "-s"] + paths.reversed()).status == 0)
        #expect(home.run("list-keychains").text == lines.reversed().map { $0 + "\n" }.joined())
        #expect(status("delete-keychain c") == 0)
        #expect(home.run("list-keychains").text == lines[1] + "\n")
    }

    @Test("kc-04: a missing file is not a keychain")
    func kc04IsValid() {
        #expect(status("dump-keychain ./missing.keychain") == 50)
        #expect(status("delete-keychain ./missing.keychain") == 50)
        #expect(status("find-generic-password -a x ./missing.keychain") == 50)
    }

    @Test("kc-05: items of every class are found while the keychain is locked; only their data needs its password")
    func kc05FindExisting() throws {
        let keychain = try home.keychain("login", password: "walnut")
        let now = home.world().clock()
        for number in 0...2 {
            try keychain.add(
                ItemDraft(itemClass: .key, attributes: attributes([.kcls: .number(Int64(number))])),
                secret: SecretBytes(copying: [1]), now: now)
        }
        try keychain.add(
            ItemDraft(itemClass: .genericPassword, attributes: attributes([.acct: .text("me"), .svce: .text("s")])),
            secret: SecretBytes(copying: Array("hidden".utf8)), now: now)
        try keychain.add(
            ItemDraft(itemClass: .internetPassword, attributes: attributes([.acct: .text("me"), .srvr: .text("h")])),
            secret: SecretBytes(copying: Array("hidden".utf8)), now: now)
        #expect(status("lock-keychain") == 0)
        for kind in ["symmetric", "public", "private"] { #expect(status("find-key -t \(kind)") == 0) }
        for command in ["find-generic-password", "find-internet-password"] {
            #expect(status("\(command) -a me") == 0)
            for flag in ["-w", "-g"] {
                let outcome = home.run("\(command) -a me \(flag)")
                #expect(outcome.status == 36)
                #expect(
                    outcome.messages == "security: SecKeychainItemCopyContent: User interaction is not allowed.\n")
                #expect(!outcome.text.contains("hidden"))
            }
            #expect(status("\(command) -a me -w", typed: ["wrong"]) == 51)
            #expect(status("\(command) -a me -w") == 36)
            let asked = home.run(
                [command, "-a", "me", "-w"], terminal: ScriptedTerminal(answers: ["walnut"]))
            #expect(asked.text == "hidden\n")
            #expect(asked.terminal.asked == ["password to unlock login: "])
            #expect(home.run("\(command) -a me -w").text == "hidden\n")
            #expect(status("lock-keychain") == 0)
        }
        #expect(home.run("dump-keychain").text.split(separator: "\n").count { $0.hasPrefix("class: ") } == 5)
        #expect(status("dump-keychain -d") == 36)
        #expect(home.run("dump-keychain -d").text == "")
    }

    @Test("kc-02: a wrong password, or none without a terminal, leaves a keychain locked; the right one unlocks it")
    func kc02Unlock() throws {
        try home.keychain("login", password: "walnut")
        #expect(status("add-generic-password -a me -s s -w hidden") == 0)
        #expect(status("lock-keychain login.keychain") == 0)
        for (line, typed, expected) in [
            ("unlock-keychain", nil, 36), ("unlock-keychain -u", nil, 36), ("unlock-keychain -p wrong", nil, 51),
            ("unlock-keychain", ["wrong"], 51), ("find-generic-password -wa me", nil, 36),
            ("unlock-keychain -p walnut", nil, 0), ("unlock-keychain -u", nil, 0),
            ("find-generic-password -wa me", nil, 0), ("unlock-keychain -p wrong", nil, 51),
            ("find-generic-password -wa me", nil, 0), ("lock-keychain -a", nil, 0),
            ("find-generic-password -wa me", nil, 36), ("unlock-keychain", ["walnut"], 0),
            ("find-generic-password -wa me", nil, 0),
        ] as [(String, [String]?, Int32)] {
            #expect(status(line, typed: typed) == expected, "\(line)")
        }
        #expect(
            home.run("unlock-keychain -p wrong login.keychain").messages.hasSuffix(
                "security: SecKeychainUnlock login.keychain: The user name or passphrase you entered is not correct.\n")
        )
        #expect(home.run("unlock-keychain -p wrong").messages.contains("security: SecKeychainUnlock <NULL>: "))
    }

    @Test("kc-03: the settings of a keychain are shown while it is unlocked; otherwise its password is needed")
    func kc03Status() throws {
        try home.keychain("login", password: "walnut")
        #expect(home.run("show-keychain-info").messages == "Keychain \"<NULL>\" lock-on-sleep timeout=300s\n")
        #expect(status("set-keychain-settings login") == 0)
        #expect(home.run("show-keychain-info login").messages == "Keychain \"login\" no-timeout\n")
        #expect(status("set-keychain-settings -lut 7200") == 0)
        #expect(home.run("show-keychain-info").messages == "Keychain \"<NULL>\" lock-on-sleep timeout=7200s\n")
        #expect(status("set-keychain-settings -t 1") == 0)
        #expect(home.run("show-keychain-info").messages == "Keychain \"<NULL>\" timeout=1s\n")
        #expect(status("lock-keychain") == 0)
        let locked = home.run("show-keychain-info login.keychain")
        #expect(locked.status == 36)
        #expect(
            locked.messages
                == "security: SecKeychainCopySettings login.keychain: User interaction is not allowed.\n")
        #expect(status("set-keychain-settings -t 60") == 36)
        #expect(status("show-keychain-info", typed: ["walnut"]) == 0)
        #expect(status("show-keychain-info nosuch") == 50)
        for value in ["0", "-5", "x", "31536001"] {
            #expect(home.run(["set-keychain-settings", "-t", value]).status == 2, "\(value)")
        }
    }

    @Test("kc-45: the password can be changed only with the right old one, locked or not")
    func kc45ChangePassword() throws {
        try home.keychain("login", password: "walnut")
        #expect(status("add-generic-password -a me -s s -w hidden") == 0)
        #expect(status("lock-keychain") == 0)
        #expect(status("set-keychain-password -o wrong -p new") == 51)
        #expect(status("set-keychain-password -p new") == 36)
        #expect(status("unlock-keychain -p walnut") == 0)
        #expect(status("set-keychain-password -o wrong -p new") == 51)
        #expect(status("set-keychain-password -p new") == 51)
        #expect(status("set-keychain-password -o walnut -p second") == 0)
        // The keychain stays unlocked.
        #expect(home.run("find-generic-password -wa me").text == "hidden\n")
        #expect(status("lock-keychain") == 0)
        #expect(status("unlock-keychain -p walnut") == 51)
        #expect(status("set-keychain-password -o second -p third") == 0)
        #expect(status("unlock-keychain -p third") == 0)
        // Typed.
        let typed = home.run(
            ["set-keychain-password"], terminal: ScriptedTerminal(answers: ["third", "a", "b", "fourth", "fourth"]))
        #expect(typed.status == 0)
        #expect(typed.messages == "try again\n")
        #expect(
            typed.terminal.asked == [
                "Old Password: ", "New Password: ", "Retype New Password: ", "New Password: ",
                "Retype New Password: ",
            ])
        #expect(status("set-keychain-password", typed: ["third"]) == 51)
        // Removed, and set again.
        #expect(home.run(["set-keychain-password", "-o", "fourth", "-p", ""]).status == 0)
        #expect(home.run("lock-keychain").messages.contains("has no password, so it is never locked"))
        #expect(home.run("find-generic-password -wa me").text == "hidden\n")
        #expect(status("set-keychain-password -p fifth") == 0)
        #expect(status("find-generic-password -wa me") == 36)
    }

    @Test("kc-10: an item can be added only once, and is found as it was added")
    func kc10AddGeneric() throws {
        try home.keychain()
        #expect(status("add-generic-password -a test -s service -w first") == 0)
        #expect(status("add-generic-password -a test -s service -w second") == 45)
        #expect(home.run("find-generic-password -a test -w").text == "first\n")
        // Another account or another keychain makes another item.
        try home.keychain("other")
        #expect(status("add-generic-password -a test2 -s service -w x") == 0)
        #expect(status("add-generic-password -a test -s service -w third other") == 0)
        #expect(home.run("find-generic-password -a test -w").text == "first\n")
        #expect(home.run("find-generic-password -a test -w other.keychain").text == "third\n")
    }

    @Test("kc-15: a label is updated, and everything else stays the same")
    func kc15UpdateLabel() throws {
        try home.keychain()
        home.run("add-generic-password -a test -s service -w secret -j note")
        let before = home.run("find-generic-password -a test").text
        #expect(status("add-generic-password -a test -s service -U -l label") == 0)
        let after = home.run("find-generic-password -a test").text
        let changed = zip(before.split(separator: "\n"), after.split(separator: "\n")).filter { $0 != $1 }.map(\.1)
        #expect(changed.count == 2)
        #expect(changed.first == "    0x00000007 <blob>=\"label\"")
        #expect(changed.last?.hasPrefix("    \"mdat\"") == true)
        #expect(home.run("find-generic-password -l label -w").text == "secret\n")
    }

    @Test("kc-16: a password is updated, and it is still the same item")
    func kc16UpdatePassword() throws {
        try home.keychain()
        home.run("add-generic-password -a test -s service -w first")
        #expect(status("add-generic-password -a test -s service -U -w second") == 0)
        #expect(home.run("find-generic-password -a test -w").text == "second\n")
        #expect(home.run("dump-keychain").text.split(separator: "\n").count { $0.hasPrefix("class: ") } == 1)
    }

    private func attributes(_ values: [AttributeCode: AttributeValue]) -> Attributes {
        var attributes = Attributes()
        for (code, value) in values { attributes[code] = value }
        return attributes
    }
}

/// Searching several keychains.
@Suite("Several keychains")
struct SearchTests {
    @Test("A keychain that cannot be read hides nothing in the others, and is reported if nothing is found")
    func obstacles() throws {
        let home = try TestHome()
        for name in ["a", "b"] { try home.keychain(name) }
        home.run("add-generic-password -a me -s s -w x b")
        home.run("list-keychains -s ./bad.keychain b")
        try home.write("bad.keychain", Array("corrupt".utf8))
        #expect(home.run("find-generic-password -a me -w").text == "x\n")
        #expect(home.run("find-generic-password -a nobody").status == 49)
        let dump = home.run("dump-keychain")
        #expect(dump.status == 1)
        #expect(dump.text.contains("class: \"genp\""))
        #expect(dump.messages.contains("not a valid keychain file"))
    }

    @Test("Items are added to the default keychain and searched for in the order of the search list")
    func order() throws {
        let home = try TestHome()
        for name in ["login", "b"] { try home.keychain(name) }
        home.run("default-keychain -s b")
        home.run("add-generic-password -a me -s s -w of-b")
        home.run("add-generic-password -a me -s s -w of-login login")
        #expect(home.run("find-generic-password -a me -w").text == "of-b\n")
        #expect(home.run("find-generic-password -a me -w login b").text == "of-login\n")
        home.run("list-keychains -s login b")
        #expect(home.run("find-generic-password -a me -w").text == "of-login\n")
        home.run("delete-generic-password -a me")
        #expect(home.run("find-generic-password -a me -w").text == "of-b\n")
    }

    @Test("Damaged lists are an error in every command that needs them, and nothing is created or deleted")
    func damagedLists() throws {
        let home = try TestHome()
        try home.keychain()
        try home.folder.write("home/.local/share/kcbackup/keychain-lists", Array("x".utf8))
        for line in [
            "list-keychains", "default-keychain", "find-generic-password -a x", "add-generic-password -a x -s y -w z",
            "dump-keychain", "create-keychain -p x new", "delete-keychain login", "list-keychains -s login",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == 93, "\(line): \(outcome.messages)")
            #expect(outcome.messages.contains("is damaged"))
        }
        #expect(home.run("dump-keychain login").status == 0)
        #expect(home.run("dump-keychain new").status == 50)
    }
}
