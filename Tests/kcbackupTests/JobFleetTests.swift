import Foundation
import KCByteStreams
import KCCryptography
import KCFleet
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The receipts of a job", .waitsForPrograms)
struct JobFleetTests {
    private let machine: FleetMachine

    init() throws { machine = try FleetMachine() }

    // As a remote that takes archives and no receipts.
    private static let withoutReceipts =
        #"case "$1$*" in copyto*receipts*) echo 'no space' >&2; exit 1;; esac; exec "$REAL" "$@""#

    @Test("A run copies its archive and writes a receipt of it, with what is on the remote and not what is here")
    func receipt() throws {
        #expect(machine.run("run nightly").status == .ok)
        let local = try Set(Path.names(in: machine.home.path("b")).filter { $0.hasSuffix(".kcb") })
        #expect(try machine.archives() == local && local.count == 1)
        let receipt = try #require(machine.receipts().first)
        let archive = try #require(receipt.archives.first)
        let path = machine.folder("archives/\(machine.id)/\(archive.name)")
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(archive.digest == SHA256.hash(bytes.span) && archive.size == UInt64(bytes.count))
        #expect(receipt.result == 0 && receipt.counts.total == 10 && receipt.job == "nightly")
        #expect(receipt.sequence == 1 && receipt.good != nil && receipt.verified == archive.verified)
    }

    @Test("What a job copies has a name that this device gives to no other archive")
    func names() throws {
        #expect(machine.run("run nightly").status == .ok)
        let given = machine.home.home + "/.local/share/kcbackup/archive-names"
        #expect(try Set(Path.names(in: given)) == machine.archives())
    }

    @Test("A receipt lists the jobs of the same fleet, so that one that stops is missed until it is removed")
    func otherJobs() throws {
        let add = "schedule add desk --unencrypted --metadata-readable --to c"
        #expect(machine.run("\(add) --fleet nas:fleet").status == .ok)
        #expect(machine.run("\(add)2 --fleet nas:other".replacing("desk", with: "other")).status == .ok)
        #expect(machine.run("run desk").status == .ok && machine.run("run nightly").status == .ok)
        #expect(try machine.receipts().map(\.jobs) == [["desk", "nightly"], ["desk", "nightly"]])
        machine.home.pass(hours: 30)
        try machine.home.write("machines.txt", "\(machine.id) ada\n")
        #expect(machine.run("run nightly").status == .ok)
        let late = machine.run("fleet status nas:fleet --inventory machines.txt")
        #expect(late.status == .stale && late.text.contains(/ada +late/), "\(late.text)")
        #expect(machine.run("schedule remove desk").status == .ok)
        #expect(machine.run("run nightly").status == .ok)
        #expect(machine.run("fleet status nas:fleet --inventory machines.txt").status == .ok)
    }

    @Test("What has not changed is in the receipt again, with the time at which its copy was last read back")
    func unchanged() throws {
        #expect(machine.run("schedule edit nightly --if-changed").status == .ok)
        for _ in 0..<2 {
            #expect(machine.run("run nightly").status == .ok)
            machine.home.pass(hours: 24)
        }
        let receipts = try machine.receipts()
        #expect(receipts.map(\.archives) == [receipts[0].archives, receipts[0].archives] && receipts.count == 2)
        let (good, before) = (try #require(receipts[1].good), try #require(receipts[0].good))
        #expect(good > before)
        machine.home.pass(hours: 8 * 24)
        #expect(machine.run("run nightly").status == .ok)
        let (verified, earlier) = (try #require(machine.receipts()[2].verified), try #require(receipts[0].verified))
        #expect(verified > earlier)
    }

    @Test("A copy that was cut short on the remote is in no receipt, and ends the run with 19")
    func cutShort() throws {
        #expect(machine.run("schedule edit nightly --if-changed").status == .ok)
        #expect(machine.run("run nightly").status == .ok)
        let name = try #require(machine.archives().first)
        let path = machine.folder("archives/\(machine.id)/\(name)")
        try Data("short".utf8).write(to: URL(fileURLWithPath: path))
        let outcome = machine.run("run nightly")
        #expect(outcome.status == .notCopied && outcome.messages.contains("exists and is another file"))
        let receipt = try #require(machine.receipts().last)
        #expect(receipt.result == 19 && receipt.archives.isEmpty && receipt.verified == nil)
        #expect(try receipt.good == machine.receipts()[0].good)
    }

    @Test("A copy that is known to be damaged is in no receipt of a run that ends before it is read back")
    func damagedBefore() throws {
        var keys: [String] = []
        for name in ["old", "new"] {
            #expect(machine.run("keygen -o \(name)").status == .ok)
            let text = String(decoding: try machine.home.folder.read("work/\(name)"), as: UTF8.self)
            keys.append(String(try #require(text.firstMatch(of: /age1\w+/)).0))
        }
        #expect(machine.run("schedule add y -r \(keys[0]) --to c --fleet nas:fleet --if-changed").status == .ok)
        #expect(machine.run("run y").status == .ok)
        // The copy is another file than the archive here from then on, and is read back after what is to be copied.
        #expect(machine.run("rekey c -i old -r \(keys[1])").status == .ok)
        #expect(machine.run("schedule edit y -r \(keys[1])").status == .ok)
        #expect(machine.run("run y").status == .ok)
        #expect(try machine.receipts().map(\.archives.count) == [1, 1])
        let name = try #require(machine.archives().first)
        let path = machine.folder("archives/\(machine.id)/\(name)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        machine.home.pass(hours: 8 * 24)
        #expect(machine.run("run y").status == .notCopied)

        #expect(machine.run("item add --service new --account new --generate").status == .ok)
        try machine.replaceRclone(
            by: #"case "$1$*" in copyto*archives*) echo 'no such host' >&2; exit 1;; esac; exec "$REAL" "$@""#)
        let outcome = machine.run("run y")
        #expect(outcome.status == .notCopied && outcome.messages.contains("cannot be reached"), "\(outcome.messages)")
        #expect(try machine.receipts().map(\.archives.count) == [1, 1, 0, 0])
    }

    @Test("A run that failed says so in its receipt, with the archives that were found, and keeps its exit code")
    func failed() throws {
        #expect(machine.run("run nightly").status == .ok)
        let keychain = machine.home.home + "/.local/share/kcbackup/keychains/login.keychain"
        try Data("x".utf8).write(to: URL(fileURLWithPath: keychain))
        let outcome = machine.run("run nightly")
        #expect(outcome.status == .damaged)
        let receipts = try machine.receipts()
        #expect(receipts.map(\.result) == [0, 13] && receipts[1].good == receipts[0].good)
        #expect(receipts[1].archives == receipts[0].archives)
    }

    @Test("A receipt that could not be written has one line and 19; a run that failed keeps its code and warns")
    func notWritten() throws {
        try machine.replaceRclone(by: Self.withoutReceipts)
        let outcome = machine.run("run nightly")
        #expect(outcome.status == .notCopied)
        #expect(
            outcome.messages.hasPrefix(
                "kcbackup: error: job 'nightly': the backup is good, but the fleet 'nas:fleet' has no receipt of it: "),
            "\(outcome.messages)")
        #expect(outcome.messages.split(separator: "\n").count { $0.contains("no receipt") } == 1)
        #expect(machine.run("status").text.contains(/nas:fleet +nightly +never/))
        #expect(try machine.archives().count == 1)
        try FileManager.default.removeItem(
            atPath: machine.home.home + "/.local/share/kcbackup/keychains/login.keychain")
        let failed = machine.run("run nightly")
        #expect(failed.status == .notFound && failed.messages.contains("warning: job 'nightly': the fleet 'nas:fleet'"))
    }

    @Test("The number of a receipt that was not written is not used again")
    func numbers() throws {
        try machine.replaceRclone(by: Self.withoutReceipts)
        for _ in 0..<2 { #expect(machine.run("run nightly").status == .notCopied) }
        try machine.restoreRclone()
        #expect(machine.run("run nightly").status == .ok)
        #expect(try machine.receipts().map(\.sequence) == [3])
    }

    @Test("A number that cannot be read ends in no receipt, which doctor finds before, with what mends it")
    func numberLost() throws {
        #expect(machine.run("run nightly").status == .ok)
        let data = machine.home.home + "/.local/share/kcbackup"
        let file = "\(data)/receipt-sequence-\(machine.id)"
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        let doctor = machine.run("doctor")
        #expect(doctor.text.contains("the number of the last receipt cannot be read"), "\(doctor.text)")
        #expect(machine.run("run nightly").status == .notCopied)
        try FileManager.default.removeItem(atPath: file)
        #expect(machine.run("run nightly").status == .ok)
        #expect(try machine.receipts().map(\.sequence) == [1, 1])
    }

    @Test("A run that never began writes none: another one has the lock, or the job is not there")
    func neverBegan() throws {
        let lock = try FileLock(
            machine.home.home + "/.local/share/kcbackup/jobs/nightly.lock", waitingAtMost: .zero)
        withExtendedLifetime(lock) { #expect(machine.run("run nightly").status == .busy) }
        #expect(machine.run("run other").status == .notFound)
        #expect(try machine.receipts().isEmpty)
    }

    @Test("status shows the last receipt in text, JSON, figures and the page, and old ones make it fail")
    func status() throws {
        #expect(machine.run("status").text.contains(/nas:fleet +nightly +never +- +never ran/))
        #expect(machine.run("status --max-age 1h").messages.contains("receipts of job 'nightly' in 'nas:fleet'"))
        let run = machine.run("run nightly --json").text
        let name = try #require(machine.receipts().first).name.path
        #expect(run.contains(#""receipt":"nas:fleet/receipts/2026-03-01/\#(name)""#), "\(run)")
        #expect(machine.run("status").text.contains(/nas:fleet +nightly +2026-03-01/))
        #expect(machine.run("status --json").text.contains(#""jobReceipt":{"to":"nas:fleet","result":"ok","#))
        #expect(
            machine.run("status --prometheus").text.contains(
                #"kcbackup_last_receipt_timestamp_seconds{job="nightly",fleet="nas:fleet"} 1"#))
        #expect(machine.run("status --max-age 1h").status == .ok)
        #expect(!machine.run("doctor").text.contains("nas"))
    }

    @Test("A record of receipts that is damaged is told, and the next run writes a new one")
    func damagedRecord() throws {
        #expect(machine.run("run nightly").status == .ok)
        let file = machine.home.home + "/.local/share/kcbackup/jobs/nightly.receipts"
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        #expect(machine.run("status").text.contains(/nas:fleet +nightly .*damaged/))
        #expect(machine.run("run nightly").status == .ok)
        #expect(machine.run("status").text.contains(/nas:fleet +nightly +2026/))
    }

    @Test("A job leaves its fleet by an edit, and enters another one; what it cannot enter is refused")
    func edits() throws {
        #expect(machine.run("schedule edit nightly --fleet bucket:fleet/").status == .ok)
        #expect(machine.run("schedule list --json").text.contains(#""fleet":"bucket:fleet""#))
        #expect(machine.run("status").text.contains(/bucket:fleet +nightly +never/))
        for (line, status) in [
            ("schedule edit nightly --remove metadata-readable", KCTerminal.ExitStatus.refused),
            ("schedule edit nightly --fleet far:fleet", .notFound),
            ("schedule edit nightly --fleet /mnt/fleet", .usage),
            ("schedule add x --unencrypted --to c --fleet nas:fleet", .refused),
            ("schedule add x --unencrypted --metadata-readable --to c", .usage),
            ("schedule add x --unencrypted --metadata-readable --to c --fleet nas:a --fleet nas:b", .usage),
        ] { #expect(machine.run(line).status == status, "\(line)") }
        #expect(machine.run("schedule edit nightly --remove fleet --remove metadata-readable").status == .ok)
        #expect(machine.run("run nightly").status == .ok)
        #expect(try machine.receipts().isEmpty && machine.archives().isEmpty)
        #expect(!machine.run("status").text.contains("FLEET"))
    }
}
