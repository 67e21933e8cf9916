import Foundation
import KCCryptography
import KCDeviceIdentity
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("A device whose key is in a TPM")
struct SealedDeviceTests {
    private let home: TestHome
    private let id: String

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("wrong", "guess\n")
        try home.write("passphrase", "correct horse\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank","pdmn":"aku"},"secret":"bound"}"#)
        for line in [
            "keychain create --passcode file:passcode --held-by tpm", "import items.jsonl --passcode file:passcode",
        ] {
            let outcome = home.run(line)
            try #require(outcome.status == .ok, "\(outcome.messages)")
        }
        id = try #require(home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/).map { String($0.0) })
    }

    private func holder() -> String {
        let show = home.run("device show --json")
        return show.text.firstMatch(of: /"holder":"([a-z]+)"/).map { String($0.1) } ?? show.messages
    }

    private func opens(_ words: String = "") -> Bool {
        home.run("item find --service Bank --reveal --passcode file:passcode\(words)").text.contains("bound")
    }

    @Test("Made with the first keychain, the key was in no file")
    func born() throws {
        #expect(opens())
        #expect(home.run("device show").text.contains("since 2026-03-01; it was made there"))
        let files = try home.folder.list().filter { $0.contains("device.key") }
        #expect(files == ["home/.local/share/kcbackup/device.key"])
        #expect(try !String(decoding: home.folder.read(files[0]), as: UTF8.self).contains("KCBACKUP-DEVICE-KEY"))
    }

    @Test("It leaves the TPM for who knows its ID and a passcode, and comes back")
    func unseal() throws {
        #expect(home.run("device unseal --confirm \(id) --passcode file:wrong").status == .wrongKey)
        #expect(home.run("device unseal --confirm \(id)").status == .usage)
        #expect(holder() == "tpm")
        #expect(home.run("device unseal --confirm \(id) --passcode file:passcode").status == .ok)
        #expect(holder() == "file" && opens())
        #expect(home.run("device unseal --confirm \(id)").status == .exists)
        #expect(home.run("device seal --without-archive --yes").status == .ok)
        #expect(holder() == "tpm" && opens())
    }

    @Test("A copy is on record, and brings everything back on another board")
    func otherBoard() throws {
        let copy = "device export -o key.age --passphrase file:passphrase"
        #expect(home.run("\(copy) --confirm \(id) --passcode file:wrong").status == .wrongKey)
        #expect(home.run("\(copy) --confirm \(id) --passcode file:passcode").status == .ok)
        #expect(home.run("device show").text.contains("and copied on 2026-03-01"))
        home.chip.clear()
        for line in ["keychain info", "item list", "device adopt --keep-key", "create x.kcb --unencrypted"] {
            let outcome = home.run(line)
            #expect(outcome.status == .refused && outcome.messages.contains("held by another TPM"), "\(line)")
        }
        #expect(home.run("device show").text.contains(id))
        #expect(home.run("device import key.age --passphrase file:passphrase --yes").status == .ok)
        #expect(holder() == "file" && opens())
    }

    @Test("Where the TPM cannot be used, every verb says why, and none takes another way")
    func failures() throws {
        let reasons: [(ChipFailure, KCTerminal.ExitStatus, String)] = [
            (.noAccess(path: "/dev/tpmrm0"), .locked, "this user may not use the TPM"),
            (.libraryMissing("libtss2-esys.so.0"), .locked, "is missing"),
            (.ownerPassword, .refused, "owner password"), (.tampered, .refused, "altered on its way"),
            (.damaged, .damaged, "altered in the file"),
        ]
        for (failure, status, words) in reasons {
            home.chip.fail("unseal", failure)
            for line in ["item list", "keychain create other --no-passcode", "create x.kcb --unencrypted", "doctor"] {
                let outcome = home.run(line)
                #expect((outcome.messages + outcome.text).contains(words), "\(line): \(outcome.messages)")
                #expect(outcome.status == status, "\(line)")
            }
        }
        #expect(try home.folder.list().filter { $0.hasSuffix(".kcb") || $0.contains("other") } == [])
        home.chip.fail("unseal", nil)
        #expect(opens())
    }

    @Test("What needs no secret needs no TPM")
    func withoutChip() throws {
        #expect(home.run("create a.kcb --passphrase file:passphrase --passcode file:passcode").status == .ok)
        let before = home.chip.openings
        home.chip.set(absent: true)
        let show = home.run("device show")
        #expect(
            show.status == .ok && show.text.contains("ssh-ed25519") && show.messages.contains("there is no TPM here"))
        #expect(home.run("inspect a.kcb").status == .ok)
        let listing = home.run("inspect a.kcb --passphrase file:passphrase")
        #expect(listing.status == .ok && listing.text.contains("this device"), "\(listing.text)")
        #expect(home.run("device show --json").text.contains("\"holder\":\"tpm\""))
        #expect(home.chip.openings == before)
    }

    @Test("'device show' says what the TPM has proved, and no more")
    func proof() throws {
        let path = home.home + "/.local/share/kcbackup/device.key"
        let genuine = try String(contentsOfFile: path, encoding: .utf8)
        func shown(_ line: String) -> String {
            let outcome = home.run(line)
            #expect(outcome.status == .ok && outcome.text.contains(id), "\(outcome.messages)")
            return outcome.text
        }
        #expect(shown("device show").contains("holder   the TPM of this machine, since 2026-03-01"))
        #expect(shown("device show --json").contains(#""holder":"tpm","opens":true,"born":"tpm""#))
        // A line that hides a copy, or claims one, with the checksum that anybody can make.
        let lines = genuine.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.hasPrefix("check ") }
        var altered = genuine.split(separator: "\n").filter { $0.hasPrefix("#") }
        for line in lines {
            altered.append(line)
            if line.hasPrefix("born ") { altered.append("copied 2026-02-02") }
        }
        try Data(checked(altered).utf8).write(to: URL(filePath: path))
        #expect(shown("device show").contains("holder   a TPM, and the file was altered since"))
        #expect(shown("device show --json").contains(#""holder":"tpm","opens":false,"chip""#))
        try Data(genuine.utf8).write(to: URL(filePath: path))
        home.chip.set(absent: true)
        #expect(
            shown("device show").contains("holder   a TPM, as the file says; that of this machine could not be asked"))
        #expect(!shown("device show --json").contains("opens"))
        // The same home on another machine, or after the TPM was cleared.
        home.chip.set(absent: false)
        home.chip.clear()
        #expect(shown("device show").contains("holder   another TPM, or that of this machine before it was cleared"))
        #expect(shown("device show --json").contains(#""holder":"tpm","opens":false,"chip""#))
    }

    /// The text of a key file with these lines before its checksum.
    private func checked(_ lines: [Substring]) -> String {
        let text = lines.map { $0 + "\n" }.joined()
        return text + "check \(SHA256.hash(Array(text.utf8).span).hex)\n"
    }

    @Test("A new device stays in the TPM unless its user says otherwise, and in a file unless they say so")
    func renewal() throws {
        #expect(home.run("device adopt --keep-key --held-by tpm").status == .usage)
        #expect(home.run("device adopt --new-key").status == .ok)
        #expect(holder() == "tpm")
        home.chip.set(absent: true)
        let refused = home.run("device adopt --new-key")
        #expect(refused.status == .locked && refused.messages.contains("there is no TPM here"))
        #expect(home.run("device adopt --new-key --held-by file").status == .ok)
        #expect(holder() == "file")
        #expect(home.run("device adopt --new-key").status == .ok)
        #expect(holder() == "file")
        home.chip.set(absent: false)
        #expect(home.run("device adopt --new-key --held-by tpm").status == .ok)
        #expect(holder() == "tpm")
    }

    @Test("Without a TPM, a first keychain that wants one is not made, and asks nothing")
    func noFirstKeychain() throws {
        let other = try TestHome()
        try other.write("passcode", "walnut lantern\n")
        other.chip.set(absent: true)
        #expect(other.run("keychain create --passcode file:passcode --held-by tpm").status == .locked)
        #expect(try other.folder.list().filter { $0.contains("device.key") || $0.contains("keychain") } == [])
        #expect(other.run("keychain create --passcode file:passcode").status == .ok)
        #expect(other.run("keychain create more --no-passcode --held-by tpm").status == .exists)
        #expect(other.run("keychain create more --no-passcode --held-by file").status == .ok)
        #expect(other.run("device seal --without-archive --yes").status == .locked)
        #expect(other.run("device show --json").text.contains("\"holder\":\"file\""))
    }

    @Test("An unencrypted backup warns while no encrypted one could bring the keychain back")
    func warning() throws {
        let words = "no encrypted archive of keychain 'login' that is younger than 30 days"
        #expect(home.run("create a.kcb --unencrypted").messages.contains(words))
        #expect(home.run("doctor").messages.contains(words) || home.run("doctor").text.contains(words))
        let encrypted = "create --to backups --passphrase file:passphrase --passcode file:passcode"
        #expect(!home.run(encrypted).messages.contains(words))
        #expect(!home.run("create b.kcb --unencrypted").messages.contains(words))
        #expect(home.run("device unseal --confirm \(id) --passcode file:passcode").status == .ok)
        home.pass(hours: 31 * 24)
        #expect(!home.run("create c.kcb --unencrypted").messages.contains(words))
        #expect(home.run("device seal --yes").status == .refused)
        #expect(home.run(encrypted + " --if-changed").status == .ok)
        #expect(home.run("device seal --yes").status == .ok)
        // An archive that is gone brings nothing back.
        for name in try home.folder.list() where name.hasPrefix("work/backups/") && name.hasSuffix(".kcb") {
            try FileManager.default.removeItem(atPath: home.folder.path(name))
        }
        #expect(home.run("create d.kcb --unencrypted").messages.contains(words))
    }

    @Test("A unit of the system may use the TPM, and no other device")
    func units() throws {
        #expect(home.run("schedule add nightly --unencrypted --to backups").status == .ok)
        let sealed = home.run("schedule show nightly --system").text
        #expect(sealed.contains("\nDeviceAllow=/dev/tpmrm0 rw\n") && sealed.contains("\nDevicePolicy=closed\n"))
        #expect(sealed.contains("\nSupplementaryGroups=tss\n") && !sealed.contains("PrivateDevices"))
        #expect(!home.run("schedule show nightly").text.contains("DeviceAllow"))
        #expect(home.run("device unseal --confirm \(id) --passcode file:passcode").status == .ok)
        let plain = home.run("schedule show nightly --system").text
        #expect(plain.contains("\nPrivateDevices=yes\n") && !plain.contains("DeviceAllow"))
    }

    @Test("An option that proves the owner is refused where nobody asks for proof")
    func surplusProof() throws {
        #expect(home.run("device unseal --confirm \(id) --passcode file:passcode").status == .ok)
        let outcome = home.run("device export -o key.age --passphrase file:passphrase --confirm \(id)")
        #expect(outcome.status == .usage && outcome.messages.contains("a file holds this one"))
    }
}
