import Foundation
import KCKernelKeyring
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The tables in docs/json.md.
struct JSONManual {
    struct Member {
        let name: String
        let mayBeAbsent: Bool
    }

    /// The commands and members that were printed so far, to find those that are listed but never printed.
    struct Seen {
        var commands: Set<String> = []
        var members: [String: Set<String>] = [:]
    }

    private(set) var commands: [String: Set<String>] = [:]
    private(set) var parts: [String: [Member]] = [:]

    // The table that describes the value of each member.
    private static let partNames = [
        "archive": "archive", "contents": "contents", "origin": "origin", "counts": "counts", "imported": "counts",
        "plan": "plan", "keychain": "keychain", "keychains": "keychain", "states": "state", "strength": "strength",
        "device": "device", "chip": "chip", "export": "export", "exported": "counts", "unheld": "item",
        "altered": "item",
        "devices": "trusted device", "items": "item", "omitted": "item", "damaged": "item", "staysBehind": "item",
        "failing": "item", "vanishing": "item", "source": "source", "undo": "kept state", "verdict": "verdict",
        "error": "error", "results": "result", "backups": "backup", "decisions": "decision", "jobs": "job",
        "backupsOf": "backup state", "missing": "missing backup", "newestReplaced": "missing backup",
        "problems": "problem", "copies": "copy", "unreadableCatalogues": "error",
        "units": "unit",
        "keysOf": "keys of", "escrow": "escrow", "tokens": "token",
        "drill": "drill", "with": "archive", "added": "item",
        "notEntered": "not entered", "unreadable": "unreadable job", "kept": "item", "unclear": "item",
        "replaced": "item", "beside": "item", "leftBehind": "left behind",
        "holds": "foreign file", "parts": "kind", "leftOut": "kind", "refused": "refused", "marked": "item",
        "jobCopies": "job copies", "jobReceipt": "job receipt", "machines": "machine", "runs": "machine run",
        "rejected": "rejected file", "found": "found item",
        "kit": "kit", "kits": "kit", "archives": "opened archive",
        "home": "home", "sources": "home source", "leftFiles": "left file", "unreadFiles": "unread file",
        "appKeyrings": "app keyring", "files": "protected file",
        "removed": "item", "changed": "change", "before": "item", "after": "item",
    ]

    init(_ text: String) {
        let output = text.components(separatedBy: "\n## Output\n").last ?? ""
        var part = ""
        var last = ""
        for line in output.components(separatedBy: "\n") {
            defer { last = line }
            let cells = line.components(separatedBy: " | ")
            guard line.hasPrefix("| "), cells.count == 2 else { continue }
            if !line.contains("`") || last == "" {
                part = String(cells[0].dropFirst(2))
                continue
            }
            let left = String(cells[0].dropFirst(2))
            if part == "command" {
                let members = Set(Self.quoted(cells[1]))
                for command in left.components(separatedBy: ", ") {
                    commands[command.replacing("`", with: "")] = members
                }
            } else {
                let mayBeAbsent = cells[1].contains("absent")
                parts[part, default: []] += Self.quoted(left).map { Member(name: $0, mayBeAbsent: mayBeAbsent) }
            }
        }
    }

    private static func quoted(_ cell: String) -> [String] { cell.matches(of: /`([^`]*)`/).map { String($0.1) } }

    /// The differences between the tables and `members`, including their nested objects.
    func faults(in members: [String: Any], _ seen: inout Seen) -> [String] {
        var faults: [String] = []
        for (name, value) in members {
            guard let part = Self.partNames[name] else { continue }
            let objects = (value as? [[String: Any]]) ?? (value as? [String: Any]).map { [$0] } ?? []
            for object in objects {
                let listed = parts[part] ?? []
                let names = Set(listed.map(\.name))
                let unlisted = Set(object.keys).subtracting(names)
                if !unlisted.isEmpty { faults.append("\(part) has \(unlisted.sorted()), which are not listed") }
                for member in listed where !member.mayBeAbsent && object[member.name] == nil {
                    faults.append("\(part) lacks \(member.name)")
                }
                seen.members[part, default: []].formUnion(object.keys)
                faults += self.faults(in: object, &seen)
            }
        }
        return faults
    }
}

/// Command lines that make every verb print every member.
struct JSONHome {
    struct Step {
        let row: String
        let line: [String]
        var status: Int32 = 0
        /// True to run the step with a kernel that refuses to keep keys.
        var isRefused = false
        /// A keychain whose file is damaged before the step.
        var damaged: String?
        /// A job whose file is damaged before the step.
        var damagedJob: String?
        /// A backup folder whose archives are removed before the step.
        var gone: String?
        /// True to leave the oldest of those archives there.
        var keepsOldest = false
        /// True to run the step where rclone is not installed.
        var lacksRclone = false
    }

    let home: TestHome

    /// The command line of a step, with the ID of this device where it says DEVICE.
    func words(of step: Step) -> [String] {
        guard step.line.contains("DEVICE") else { return step.line }
        let device = home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/).map { String($0.0) } ?? ""
        return step.line.map { $0 == "DEVICE" ? device : $0 }
    }

    init() throws {
        home = try TestHome()
        try home.write("../home/.netrc", "machine example.org login ada password tulip\n")
        try home.write("../home/.gnupg/random_seed", "made anew")
        // A name that is too long for a file, but not for a folder on the way, is none that can be backed up.
        try home.write("../home/.ssh/" + String(repeating: "deep/", count: 31) + "key", "x")
        try home.write(
            "../home/.var/app/org.example.App/data/keyrings/default.keyring",
            [UInt8](
                try Data(
                    contentsOf: URL(
                        filePath: Project.path("Tests/KCForeignFormatsTests/Fixtures/oo7/default.keyring")))))
        try home.write("system-connections/home.nmconnection", "[connection]\nid=home\nuuid=1\ntype=wifi\n")
        try home.write("passcode", "walnut lantern\n")
        try home.write("new", "other lantern\n")
        try home.write("passphrase", "correct horse\n")
        let first = "0b1b25a8-d837-4f51-a693-4442d2b04834"
        let second = "1c2c36b9-d837-4f51-a693-4442d2b04834"
        try home.write(
            "items.jsonl",
            """
            {"class":"genp","uuid":"\(first)","attributes":{"svce":"Chat","acct":"ada"},"secret":"travels"}
            {"class":"genp","uuid":"\(second)","attributes":{"svce":"Bank","acct":"ada","pdmn":"aku"},"extra":{"x":"y"},"secret":"bound"}
            {"class":"genp","attributes":{"svce":"Vault","acct":"ada","pdmn":"akpu"},"secret":"stays"}
            {"class":"inet","attributes":{"srvr":"mail.example.org","acct":"ada"}}

            """)
        // An entry of each kind: imported, marked, refused, and left out.
        try home.write(
            "netrc",
            "machine a login b password c\nmachine a login b password d\nmachine e login f\n"
                + "machine i login j password k\nmachine g login \(String(repeating: "x", count: 70_000)) password h\n")
        // A code, and another one that depends on a counter.
        try home.write("codes", "otpauth://totp/a?secret=MZXQ\notpauth://hotp/b?secret=MZXQ&counter=1\n")
        try home.write("changed", "machine i login j password l\n")
        try home.write(
            "bound.keyring",
            """
            [keyring]
            display-name=Login

            [1]
            item-type=0
            display-name=bound
            secret=x
            mtime=1600000000
            ctime=1600000000

            [1:attribute0]
            name=kcbackup:accessible
            type=string
            value=aku

            """)
        // The unique key of one archived item on another one, which is not restored.
        try home.write(
            "taken.jsonl",
            """
            {"class":"genp","uuid":"\(first)","attributes":{"svce":"Talk","acct":"ada"},"secret":"travels"}
            {"class":"genp","uuid":"\(second)","attributes":{"svce":"Chat","acct":"ada"},"secret":"travels"}

            """)
        try FleetFiles(home).writeOfEveryKind()
        for (name, content) in try Self.archiveOfAnotherDevice() { try home.folder.write("work/" + name, content) }
        let device = String(decoding: try home.folder.read("work/far-device"), as: UTF8.self)
        try home.write("far.txt", "\(device) far\n")
        for name in ["far.kcb", "note"] {
            try home.write("remote/far-fleet/archives/\(device)/\(name)", home.folder.read("work/far.kcb"))
        }
    }

    /// An archive that another device made, the key that opens it, and the ID of that device.
    private static func archiveOfAnotherDevice() throws -> [(String, [UInt8])] {
        let other = try TestHome()
        try other.write(
            "items.jsonl",
            #"{"class":"genp","attributes":{"svce":"Far","acct":"ada","pdmn":"cku"},"secret":"bound"}"# + "\n"
                + #"{"class":"inet","attributes":{"srvr":"far.example.org","acct":"ada","labl":"Far"}}"# + "\n")
        for line in ["keychain create --no-passcode", "import items.jsonl", "keygen -o far-key"] {
            #expect(other.run(line).status == .ok)
        }
        let device = try #require(other.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/)).0
        let recipient = try recipient(of: "far-key", in: other)
        #expect(other.run("create -r \(recipient) far.kcb").status == .ok)
        return [
            ("far.kcb", try other.folder.read("work/far.kcb")), ("far-key", try other.folder.read("work/far-key")),
            ("far-device", Array(device.utf8)),
        ]
    }

    private static func recipient(of name: String, in home: TestHome) throws -> String {
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    /// Makes a kit and writes its key into a file; its fingerprint.
    private func typedKit() throws -> String {
        #expect(home.run("recovery make -o first-kit").status == .ok)
        let sheet = String(decoding: try home.folder.read("work/first-kit"), as: UTF8.self)
        let lines = sheet.matches(of: /(?m)^  [1-4]   ([A-Z0-9 ]+)   [A-Z0-9]$/).map { $0.1.replacing(" ", with: "") }
        try home.write("kit-key", "AGE-SECRET-KEY-1\(lines.joined())\n")
        return String(try #require(home.run("recovery list").text.firstMatch(of: /[0-9a-f]{4}-[0-9a-f]{4}/)).0)
    }

    func steps() throws -> [Step] {
        let far = String(decoding: try home.folder.read("work/far-device"), as: UTF8.self)
        #expect(home.run("keygen -o inspect-key").status == .ok)
        let inspector = try Self.recipient(of: "inspect-key", in: home)
        func step(_ row: String, _ line: String, _ status: Int32 = 0) -> Step {
            Step(row: row, line: line.split(separator: " ").map(String.init), status: status)
        }
        let passcode = "--passcode file:passcode"
        let passphrase = "--passphrase file:passphrase"
        return [
            step("error", "verify missing.kcb", 10),
            step("keychain create", "keychain create \(passcode)"),
            step("import", "import items.jsonl \(passcode)"),
            step("import", "import netrc \(passcode)", 3),
            step("import", "import changed --on-conflict keep \(passcode)"),
            step("import --check", "import changed --check \(passcode)", 3),
            step("import", "import bound.keyring --dry-run \(passcode)"),
            step("diff of files", "diff netrc changed", 3),
            step("diff of a file and a keychain", "diff changed --keychain login \(passcode)"),
            step("inspect of another program's file", "inspect netrc", 3),
            step(
                "create of another program's file",
                "create --keychain file:netrc netrc.kcb --passphrase file:passphrase", 3),
            step("item add", "item add --class genp --service a --account b --secret file:passphrase \(passcode)"),
            step("item update", "item update --service a --set icmt=x \(passcode)"),
            step("item list", "item list"),
            step("item find", "item find --service Chat --reveal \(passcode)"),
            step("item find", "item find --keychain file:codes --class genp --code"),
            step("export", "export --to csv --plaintext -o passwords.csv \(passcode)"),
            step("item delete", "item delete --service a"),
            step("create", "create laptop.kcb \(passphrase) \(passcode)"),
            step("create", "create here.kcb --unencrypted"),
            step(
                "create",
                "create keys.kcb \(passcode) -r \(try Self.recipient(of: "far-key", in: home)) --inspect-recipient \(inspector)"
            ),
            step("create --to", "create --unencrypted --to backups"),
            step("create of the files of the home", "create --keychain home: --unencrypted files.kcb", 3),
            step("inspect of the files of the home", "inspect home:", 3),
            step("create --to", "create --unencrypted --home --to everything", 3),
            step("restore --home", "restore --home everything --dry-run", 3),
            step("recovery make", "recovery make -o kit --comment safe"),
            step("recovery make", "recovery make -o shares --shares 2of3"),
            step("recovery list", "recovery list"),
            step("protect files", "protect netrc --class complete \(passcode)"),
            step("protect files", "protect codes --class none --dry-run"),
            step("protect status", "protect status netrc.age codes"),
            step("unprotect", "unprotect netrc.age \(passcode)"),
            step("protect identity", "protect identity -o identity"),
            step("recovery check", "recovery check -i kit-key"),
            step("recovery check of another machine's kit", "recovery check -i far-key far.kcb"),
            step("recovery retire", "recovery retire \(try typedKit())"),
            step("copy", "copy laptop.kcb --to nas:backups"),
            step("copy", "copy backups --to nas:backups --metadata-readable"),
            step("list REMOTE:PATH", "list nas:backups"),
            step("fleet status", "fleet status bucket:fleet --inventory machines.txt", 17),
            step("fleet index", "fleet index nas:far-fleet -i far-key --inventory far.txt -o fleet.index", 3),
            step("fleet search", "fleet search fleet.index far"),
            step("fleet export", "fleet export fleet.index -o fleet.jsonl.gz"),
            step("create --to", "create --unencrypted --to backups --if-changed"),
            step("list", "list backups"),
            step("prune", "prune backups --keep-last 1"),
            step("create --to", "create --unencrypted --to backups"),
            step("prune", "prune backups --keep-last 1"),
            step("list", "list backups"),
            step("prune --undo", "prune backups --undo"),
            step("create --to", "create \(passcode) -r \(try Self.recipient(of: "far-key", in: home)) --to keyed"),
            step("rekey", "rekey keyed -i far-key -r \(inspector)"),
            step("list --keys", "list --keys keyed -i inspect-key"),
            step("doctor", "doctor", 10),
            step(
                "schedule add",
                "schedule add nightly --unencrypted --to nightly --keep-last 1 --on-success true --on-failure true "
                    + "--hook-timeout 1m"),
            step("schedule edit", "schedule edit nightly --keep-last 2"),
            step("schedule edit", "schedule edit nightly --on-change"),
            step("schedule list", "schedule list"),
            step("schedule edit", "schedule edit nightly --remove on-change"),
            step("schedule list", "schedule list"),
            step("schedule show", "schedule show nightly"),
            step("schedule show --crontab", "schedule show nightly --crontab"),
            step("schedule install", "schedule install nightly"),
            step("run", "run nightly"),
            step("status", "status"),
            step(
                "schedule add",
                "schedule add far --unencrypted --metadata-readable --to far --copy-to nas:far --verify-copies 2"),
            step("status", "status"),
            step("run of a job that copies", "run far"),
            step("run of a job that copies", "run far"),
            step("run of a job that copies", "run far"),
            Step(
                row: "run whose copies failed", line: ["run", "far"], status: 19, gone: "remote/far", keepsOldest: true),
            Step(row: "run whose copies failed", line: ["run", "far"], status: 19, lacksRclone: true),
            step("status", "status", 19),
            step("schedule remove", "schedule remove far"),
            step("schedule add", "schedule add many --unencrypted --metadata-readable --to many --fleet nas:many"),
            step("run of a job of a fleet", "run many"),
            Step(row: "run without a receipt", line: ["run", "many"], status: 19, lacksRclone: true),
            step("status", "status", 19),
            step("schedule remove", "schedule remove many"),
            step("doctor REMOTE:PATH", "doctor nas:backups"),
            step("doctor REMOTE:PATH of a bucket", "doctor bucket:backups"),
            step("schedule add", "schedule add locked --to locked \(passphrase)"),
            step("run that failed", "run locked", 14),
            step("status", "status", 14),
            step("doctor", "doctor", 14),
            Step(row: "schedule list", line: ["schedule", "list"], status: 13, damagedJob: "locked"),
            step("schedule remove", "schedule remove locked"),
            step("verify with an inspect key", "verify keys.kcb -i inspect-key", 3),
            step("inspect of the outside", "inspect laptop.kcb"),
            step("verify of the outside", "verify laptop.kcb --outside"),
            step("inspect", "inspect laptop.kcb \(passphrase) --for-device \(far)"),
            step("inspect", "inspect here.kcb"),
            step("verify", "verify laptop.kcb \(passphrase)"),
            step("verify", "verify here.kcb", 3),
            step("verify --drill", "verify --drill far.kcb -i far-key"),
            step("create --to", "create \(passphrase) \(passcode) --to drilled"),
            step("verify --drill", "verify --drill drilled \(passphrase)"),
            step("list", "list drilled"),
            Step(row: "status", line: ["status"], status: 10, gone: "drilled"),
            step("list --rebuild", "list --rebuild drilled --yes"),
            step("list --rebuild", "list --rebuild ."),
            step("item update", "item update --service Bank --set icmt=x \(passcode)"),
            step("diff --keychain", "diff laptop.kcb --keychain login \(passphrase) \(passcode)"),
            step("diff", "diff keys.kcb far.kcb -i far-key", 0),
            step("restore", "restore laptop.kcb \(passphrase) \(passcode) --dry-run"),
            step("keychain create", "keychain create taken \(passcode)"),
            step("import", "import taken.jsonl --into taken \(passcode)"),
            step(
                "restore",
                "restore laptop.kcb --service Chat --on-conflict overwrite --keychain taken \(passphrase) \(passcode)",
                3),
            step(
                "restore", "restore laptop.kcb --replace --yes --keychain taken \(passphrase) \(passcode)"),
            step("undo --list", "undo --list --keychain taken"),
            step("undo", "undo --keychain taken"),
            Step(
                row: "undo of a damaged file",
                line: ["undo", "--yes", "--keychain", "taken"], damaged: "taken"),
            step("device list", "device list"),
            step("device trust", "device trust \(far) far"),
            step("verify", "verify far.kcb -i far-key"),
            step("restore", "restore far.kcb -i far-key \(passcode)"),
            step("device untrust", "device untrust \(far)"),
            step("keychain escrow enable", "keychain escrow enable -o escrow \(passcode)"),
            step("keychain token add", "keychain token add blue \(passcode)"),
            step("keychain token list", "keychain token list"),
            step("keychain info", "keychain info"),
            step("keychain token remove", "keychain token remove blue"),
            step("keychain escrow revoke", "keychain escrow revoke"),
            step("keychain unlock", "keychain unlock \(passcode)"),
            step("keychain set-settings", "keychain set-settings --lock-after 60"),
            step("keychain lock", "keychain lock --all"),
            step("import --remove-from-file", "import ~/.netrc --remove-from-file \(passcode)"),
        ]
            // Enough wrong passcodes that the next attempt has to wait for more than the minute between two runs.
            + (1...10).map { _ in step("error", "keychain unlock --passcode file:passphrase", 12) } + [
                step("keychain info", "keychain info"),
                Step(row: "keychain info", line: ["keychain", "info"], isRefused: true),
                step("keychain create without a passcode", "keychain create plain --no-passcode"),
                step(
                    "keychain set-passcode without one",
                    "keychain set-passcode taken --no-passcode --yes \(passcode)"),
                step("keychain set-passcode", "keychain set-passcode \(passcode) --new-passcode file:new"),
                step("keychain delete", "keychain delete taken --confirm taken"),
                step("keygen", "keygen -o key"),
                step("device show", "device show"),
                step("device adopt", "device adopt --keep-key"),
                step("device export", "device export -o key.age \(passphrase)"),
                step("device import", "device import key.age --yes \(passphrase)"),
                step("device seal", "device seal --without-archive --yes"),
                step("device show", "device show"),
                step("device export", "device export -o sealed.age --confirm DEVICE \(passphrase) --passcode file:new"),
                step("device show", "device show"),
                step("device unseal", "device unseal --confirm DEVICE --passcode file:new"),
                step("keychain list", "keychain list"),
                step("keychain default", "keychain default"),
                step("protect files", "protect netrc --class none"),
                step("device adopt", "device adopt --new-key"),
                step("protect status", "protect status netrc.age", 4),
                step("keychain list", "keychain list", 3),
                step("create --to", "create --all --unencrypted --to all", 4),
            ]
    }
}
