import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Items of other programs that are bound to another device")
struct BoundItemTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        let items = [("free", nil), ("bound", "aku"), ("open", "dku"), ("coded", "akpu"), ("later", "ck")]
            .enumerated().map { index, item in
                """
                [\(index + 1)]
                item-type=0
                display-name=\(item.0)
                secret=of \(item.0)
                mtime=1600000000
                ctime=1600000000

                [\(index + 1):attribute0]
                name=site
                type=string
                value=\(item.0)

                """
                    + (item.1.map {
                        """
                        [\(index + 1):attribute1]
                        name=kcbackup:accessible
                        type=string
                        value=\($0)

                        """
                    } ?? "")
            }
        try home.write("login.keyring", "[keyring]\ndisplay-name=Login\n\n" + items.joined(separator: "\n"))
        try home.write("passphrase", "correct horse\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    private static let lines = [
        "stays behind: ThisDeviceOnly: it is bound to the device that the file comes from\n  'bound'\n  'open'\n",
        "stays behind: 'coded': WhenPasscodeSetThisDeviceOnly: never leaves its keychain",
    ]

    @Test("A keyring file of another device reveals no item that is marked as bound to that device")
    func imported() throws {
        let outcome = home.run("import login.keyring")
        #expect(outcome.status == .ok)
        for line in Self.lines { #expect(outcome.messages.contains(line)) }
        let held = home.run("item find --class genp --reveal --json").text
        #expect(held.contains("of free") && held.contains("of later"))
        for name in ["bound", "open", "coded"] { #expect(!held.contains(name)) }
        let json = home.run("import login.keyring --dry-run --json").text
        #expect(
            json.contains(
                #""leftBehind":[{"name":"bound","reason":"bound-elsewhere"},{"name":"open","reason":"bound-elsewhere"},"#
                    + #"{"name":"coded","reason":"passcode-bound"}]"#))
    }

    @Test("An archive of such a file does not hold these items either")
    func archived() throws {
        let outcome = home.run("create --keychain file:login.keyring a.kcb --passphrase file:passphrase")
        #expect(outcome.status == .ok)
        for line in Self.lines { #expect(outcome.messages.contains(line)) }
        let text = home.run("inspect a.kcb --passphrase file:passphrase --json").text
        #expect(text.contains("later"))
        for name in ["bound", "open", "coded"] { #expect(!text.contains(name)) }
    }

    @Test("An update that lifts the binding to this device says so, on a terminal and off it")
    func lifted() {
        for name in ["oak", "yew", "fir"] {
            let line = "item add --service \(name) --no-secret --accessible WhenUnlockedThisDeviceOnly"
            #expect(home.run(line).status == .ok)
        }
        let one = home.run("item update --service oak --set accessible=WhenUnlocked")
        #expect(
            one.messages
                == "kcbackup: warning: 1 item was ThisDeviceOnly: from now on, backups of it open on any device, and "
                + "exports contain it\n")
        #expect(home.run("item update --service oak --set accessible=AfterFirstUnlock").messages == "")
        #expect(home.run("item update --service yew --set accessible=AfterFirstUnlockThisDeviceOnly").messages == "")
        let all = home.run("item update --class genp --set pdmn=ak --yes")
        #expect(all.messages.contains("warning: 2 items were ThisDeviceOnly: from now on, backups of them open on any"))
    }
}
