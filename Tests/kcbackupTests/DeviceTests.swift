import Foundation
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Devices")
struct DeviceTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut\n")
        try home.write("passphrase", "correct horse\n")
        try home.write(
            "items.jsonl",
            """
            {"class":"genp","attributes":{"svce":"Bank","pdmn":"aku"},"secret":"bound"}
            {"class":"genp","attributes":{"svce":"Chat"},"secret":"travels"}
            """)
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("import items.jsonl --passcode file:passcode").status == .ok)
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: home.folder.path("home/.local/share/kcbackup/" + name))
    }

    @Test("No verb silently replaces a lost device key")
    func lostKeyIsNotReplaced() throws {
        try remove("device.key")
        for line in [
            "keychain create other --no-passcode", "keychain info", "item list", "device list",
            "device show", "device adopt --keep-key", "device trust KC-ABCD-EFGH-IJKL-MNOP-QRST",
            "create x.kcb --unencrypted",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .refused, "\(line)\n\(outcome.messages)")
            #expect(outcome.messages.contains("the device key is missing"), "\(line)")
        }
        #expect(try home.folder.list().allSatisfy { !$0.hasSuffix("device.key") })
        #expect(home.run("device adopt").status == .refused)
        #expect(home.run("device adopt --new-key").status == .ok)
        #expect(home.run("keychain create other --no-passcode").status == .ok)
        #expect(home.run("keychain info").status == .refused)
    }

    @Test("On another machine, nothing opens until the user says whether it is another device")
    func otherMachine() throws {
        try home.folder.write("machine-id", Array("ffffffffffffffffffffffffffffffff\n".utf8), mode: 0o644)
        for line in [
            "keychain info", "item list", "keychain create x --no-passcode", "device show", "device list",
            "create x.kcb --unencrypted",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .refused && outcome.messages.contains("another machine"), "\(line)")
        }
        #expect(home.run("device adopt --keep-key").status == .ok)
        #expect(home.run("keychain info").status == .ok)
    }

    @Test("The list of trusted devices is refused after another program has changed it")
    func alteredTrustIsRefused() throws {
        #expect(home.run("device trust KC-ABCD-EFGH-IJKL-MNOP-QRST laptop").status == .ok)
        let name = try #require(home.folder.list().first { $0.contains("trusted-devices-") })
        let text = String(decoding: try home.folder.read(name), as: UTF8.self)
        try home.folder.write(name, Array(text.replacing("laptop", with: "mirror").utf8))
        #expect(home.run("device list").status == .damaged)
        #expect(home.run("device trust KC-ABCD-EFGH-IJKL-MNOP-QRSU x").status == .damaged)
    }

    @Test("On another device, ThisDeviceOnly items stay behind and are named, and an unencrypted archive is refused")
    func elsewhere() throws {
        #expect(home.run("create laptop.kcb --passphrase file:passphrase --passcode file:passcode").status == .ok)
        #expect(home.run("create here.kcb --unencrypted").status == .ok)
        let other = try TestHome()
        for name in ["laptop.kcb", "here.kcb", "passcode", "passphrase"] {
            try other.folder.write("work/" + name, try home.folder.read("work/" + name))
        }
        let refused = other.run("restore here.kcb --passcode file:passcode")
        #expect(refused.status == .refused && refused.messages.contains("restores only on device KC-"))
        #expect(refused.messages.contains("'kcbackup device import FILE' first"))
        let verified = other.run("verify here.kcb")
        #expect(verified.status == .incomplete && verified.text.contains("not opened: only device KC-"))
        #expect(try other.folder.list().allSatisfy { !$0.hasSuffix(".keychain") })

        let all = other.run(
            "restore laptop.kcb --passphrase file:passphrase --passcode file:passcode --require-all --keychain login")
        #expect(all.status == .refused)
        #expect(try other.folder.list().allSatisfy { !$0.hasSuffix(".keychain") })

        // Without a terminal, creating a keychain that only the archive names cannot be confirmed.
        let unnamed = other.run("restore laptop.kcb --passphrase file:passphrase --passcode file:passcode")
        #expect(unnamed.status == .refused)
        #expect(unnamed.messages.contains("'--keychain login' makes it and restores into it"))
        let restored = other.run(
            "restore laptop.kcb --keychain login --passphrase file:passphrase --passcode file:passcode")
        #expect(restored.status == .ok)
        #expect(restored.messages.contains("stays behind: generic password 'Bank'"))
        #expect(other.run("item find --service Chat --reveal --passcode file:passcode").text == "travels")
        #expect(other.run("item find --service Bank").status == .notFound)
    }

    @Test("An unencrypted archive of a key that was replaced names the file of that key, which brings it back")
    func archiveOfRetiredKey() throws {
        #expect(home.run("create here.kcb --unencrypted").status == .ok)
        #expect(home.run("device adopt --new-key").status == .ok)
        let refused = home.run("restore here.kcb --keychain new --passcode file:passcode")
        #expect(refused.status == .refused, "\(refused.messages)")
        let name = try #require(refused.messages.firstMatch(of: /import (\S*device\.key\.retired-KC-[A-Z2-7-]+)'/)).1
        #expect(home.run(["device", "import", String(name), "--yes"]).status == .ok)
        let restored = home.run(
            "restore here.kcb --keychain new --passcode file:passcode --archive-passcode file:passcode")
        #expect(restored.status == .ok, "\(restored.messages)")
    }

    @Test("The folder of a new key file is looked for before a secret is asked for")
    func noFolderForKeyFile() throws {
        for command in ["device export", "keychain escrow enable", "protect identity --class complete"] {
            for (place, text) in [("items.jsonl/x", "'items.jsonl' is not a folder"), ("no/x", "'no' does not exist")] {
                let messages = home.run("\(command) -o \(place)").messages
                #expect(messages.contains("error: \(text)"), "\(command): \(messages)")
            }
        }
    }

    @Test("For a copy of the device key that only public keys open, no passphrase is asked, and the option is named")
    func copyForPublicKeys() throws {
        #expect(home.run("keygen -o key.txt").status == .ok)
        let key = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        #expect(home.run("device export -o dk.age -r \(recipient)").status == .ok)
        for line in ["device import dk.age", "device import dk.age --passphrase file:passphrase --yes"] {
            let refused = home.run(line)
            #expect(refused.status == .wrongKey, "\(line)")
            #expect(refused.messages.contains("no passphrase opens 'dk.age': it was made for public keys"))
        }
        let asked = home.run(["device", "import", "dk.age"], terminal: ScriptedTerminal(showsMessages: true))
        #expect(asked.messages.contains("'--identity FILE'"), "\(asked.messages)")
        #expect(home.run("device import dk.age -i key.txt --yes").status == .ok)
    }

    @Test("An archive for public keys only is accepted from this device, a trusted one, or one named by its ID")
    func unknownOrigin() throws {
        #expect(home.run("keygen -o key.txt").status == .ok)
        let key = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        #expect(home.run("create keys.kcb -r \(recipient) --passcode file:passcode").status == .ok)
        let device = try #require(home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/)).0

        let other = try TestHome()
        for name in ["keys.kcb", "key.txt", "passcode"] {
            try other.folder.write("work/" + name, try home.folder.read("work/" + name))
        }
        let line = "restore keys.kcb --keychain login -i key.txt --passcode file:passcode"
        let refused = other.run(line)
        #expect(refused.status == .refused && refused.messages.contains("by device \(device), which is not trusted"))
        #expect(!refused.messages.contains("--accept-origin KC"), "nobody is told to accept what an archive says")
        #expect(other.run(line + " --accept-origin KC-ABCD-EFGH-IJKL-MNOP-QRST").status == .refused)
        #expect(other.run(line + " --accept-origin \(device)").status == .ok)
        #expect(other.run(line).status == .refused)
        #expect(other.run("device trust \(device) laptop").status == .ok)
        #expect(other.run(line).status == .ok)
        #expect(home.run(line).status == .ok)
    }
}
