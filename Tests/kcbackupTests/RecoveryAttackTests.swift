import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// A fault in a forged archive, and the message with which the script must refuse it.
struct RecoveryAttack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let message: String
    let change: RecoveryForger.Change

    init(
        _ name: String, _ message: String, lines: String = ":", members: String = ":", container: String = ":"
    ) {
        testDescription = name
        self.message = message
        change = RecoveryForger.Change(lines: lines, members: members, container: container)
    }

    // Line 2 of each stream is the first item, a password.
    static let all: [RecoveryAttack] = [
        .init(
            "a secret with a line feed and a path", "a line of the secrets is not as expected",
            lines: #"sed -i '2s|"secret":"[^"]*"|"secret":"QUJD\\n'$PWD'/../escaped QUJD"|' secrets"#),
        .init(
            "a UUID with a line feed at its end", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/"uuid":"\([^"]*\)"/"uuid":"\1\\n"/' metadata secrets"#),
        .init(
            "a path for a UUID", "a line of the metadata is not as expected",
            lines: #"sed -i '2s|"uuid":"[^"]*"|"uuid":"../../../../../../../../../tmp/xx"|' metadata secrets"#),
        .init(
            "a UUID in capitals", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/"uuid":"[^"]*"/"uuid":"5A3B1E00-0000-4000-8000-000000000001"/' metadata secrets"#),
        .init(
            "two items of one UUID", "two items have the UUID",
            lines: #"sed -i '2,3s/"uuid":"[^"]*"/"uuid":"5a3b1e00-0000-4000-8000-000000000099"/' metadata secrets"#),
        .init(
            "base 64 that is not canonical", "a secret is not base 64",
            lines: #"""
                sed -i '2s/"size":[0-9]*/"size":1/' metadata
                sed -i '2s/"secret":"[^"]*"/"secret":"QR=="/' secrets
                """#),
        .init(
            "base 64 in two pieces", "a secret is not base 64",
            lines: #"""
                sed -i '2s/"size":[0-9]*/"size":2/' metadata
                sed -i '2s/"secret":"[^"]*"/"secret":"QQ==QQ=="/' secrets
                """#),
        .init(
            "a secret of another size", "does not have the size",
            lines: #"sed -i '2s/"size":[0-9]*/"size":1/' metadata"#),
        .init(
            "a secret left out", "is not of the kind", lines: #"sed -i '2s/,"secret":"[^"]*"//' secrets"#),
        .init(
            "a sealed secret passed off as one that travels", "is not of the kind",
            lines: #"sed -i 's/"travels":"this-device"/"travels":"any-device"/' metadata"#),
        .init(
            "the secrets of two items exchanged", "the streams list different items",
            lines: "sed -i '2{h;d};3G' secrets"),
        .init(
            "an account that is a number", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/"attributes":{/&"acct":5,/' metadata"#),
        .init(
            "an escape that the format does not have", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/"svce":"/&\\n/' metadata"#),
        .init(
            "a name that is not UTF-8", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/"svce":"/&\xe9/' metadata"#),
        .init(
            "something behind the attributes", "a line of the metadata is not as expected",
            lines: #"sed -i '2s/}$/,"more":1}/' metadata"#),
        .init("an item removed", "the last lines count", lines: "sed -i 2d metadata secrets"),
        .init(
            "fewer items stated", "the last lines count",
            lines: #"sed -i '$s/"items":{"genp":[0-9]*/"items":{"genp":1/' metadata secrets"#),
        .init(
            "complete, with a damaged item", "contradict themselves",
            lines: #"sed -i '$s/"damaged":0/"damaged":1/' metadata secrets"#),
        .init(
            "other counts in each stream", "the two last lines differ",
            lines: #"sed -i '$s/"omitted":[0-9]*/"omitted":9/' metadata"#),
        .init("a line behind the last one", "does not fit", lines: "printf '{}\\n' >> metadata"),
        .init(
            "the hash of another header", "does not fit the secrets or the header",
            lines: "header=$(printf '%064d' 0)"),
        .init(
            "streams of another archive ID", "the metadata belongs to another archive",
            lines: #"sed -i '1s/"archive":"[^"]*"/"archive":"'$(printf '%064d' 0)'"/' metadata"#),
        .init(
            "a header that says unencrypted", "the header is not that of an encrypted archive",
            lines: "sed -i s/encrypted/unencrypted/ kcbackup.json"),
        .init(
            "a header of another device", "signed it",
            lines: "sed -i s/$device/KC-AAAA-AAAA-AAAA-AAAA-AAAA/ kcbackup.json"),
        .init(
            "checksums that leave a stream out", "the checksums do not fit",
            members: "members='kcbackup.json metadata.jsonl.gz.age'",
            container: "members=$(echo $members | "
                + "sed 's/metadata.jsonl.gz.age/& secrets.jsonl.gz.age/')"),
        .init(
            "checksums of one file more", "the checksums do not fit",
            members: "members=\"$members metadata\"", container: "members=$(echo $members | sed 's/ metadata / /')"),
        .init(
            "the signature of an RSA key, whose bytes its owner may choose", "not by an Ed25519 key",
            container: """
                ssh-keygen -q -t rsa -b 2048 -N '' -f ../rsa
                rm SHA256SUMS.sig
                ssh-keygen -q -Y sign -n kcbackup -f ../rsa SHA256SUMS
                rm ../rsa ../rsa.pub
                """),
        .init(
            "a stream that is not gzip", "the metadata do not decompress",
            members: "age -r $RECIPIENT metadata > metadata.jsonl.gz.age"),
        .init(
            "a stream for another key", "age does not open the secrets with this key",
            members: "age-keygen -o ../other; age -r $(age-keygen -y ../other) secrets > secrets.jsonl.gz.age"),
        .init(
            "a signature that is none", "the signature does not fit",
            container: "echo hello > SHA256SUMS.sig"),
        .init(
            "a member of a terabyte that takes no room", "its members are not as expected",
            container: "rm secrets.jsonl.gz.age; truncate -s 1T secrets.jsonl.gz.age; options='--format=pax -S'"),
        .init(
            "a signature larger than one can be", "a member of the archive is too large",
            container: "head -c 2000 /dev/zero > SHA256SUMS.sig"),
        .init(
            "another member", "its members are not as expected", container: #"members="$members metadata""#),
        .init(
            "a member twice", "its members are not as expected",
            container: #"members="$members kcbackup.json"; options=--hard-dereference"#),
        .init(
            "members in another order", "its members are not as expected",
            container: "members=$(echo $members | tr ' ' '\\n' | sort -r)"),
        .init(
            "a member with an absolute path", "its members are not as expected",
            container: #"members="$members $PWD/metadata"; options=-P"#),
        .init(
            "a member above the folder", "its members are not as expected",
            container: #"touch ../escaped; members="$members ../escaped"; options=-P"#),
        .init(
            "a symbolic link for a member", "not a private file",
            container: "mv secrets.jsonl.gz.age ../elsewhere; ln -s ../elsewhere secrets.jsonl.gz.age"),
        .init(
            "a hard link for a member", "not a private file",
            container: "rm secrets.jsonl.gz.age; ln metadata.jsonl.gz.age secrets.jsonl.gz.age"),
        .init(
            "a folder for a member", "its members are not as expected",
            container: "rm secrets.jsonl.gz.age; mkdir secrets.jsonl.gz.age; options=--no-recursion"),
    ]
}

@Suite(
    "Recovery of forged archives without kcbackup", .waitsForPrograms,
    .enabled(if: RecoveryRecipe.missing.isEmpty, Comment(rawValue: RecoveryRecipe.skipped)))
struct RecoveryAttackTests {
    /// A home with an archive, which each test copies.
    private static let prepared = Result { () throws -> TestHome in
        let home = try TestHome()
        try home.write("keychain.jsonl", try NumberedSamples().text)
        try home.write("passcode", "0000 passcode\n")
        for line in [
            "keychain create --passcode file:passcode", "import keychain.jsonl --passcode file:passcode",
            "keygen -o key.txt",
        ] {
            let outcome = home.run(line)
            try #require(outcome.status == .ok, "\(outcome.messages)")
        }
        let key = try recipient(of: home)
        let made = home.run("create laptop.kcb --passcode file:passcode -r \(key)")
        try #require(made.status == .ok, "\(made.messages)")
        return home
    }

    let home: TestHome
    let recipient: String

    init() throws {
        home = try TestHome(copying: Self.prepared.get())
        recipient = try Self.recipient(of: home)
    }

    private static func recipient(of home: TestHome) throws -> String {
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /# public key: (age1\w+)/)).1)
    }

    func create(_ name: String, _ options: String) throws {
        let outcome = home.run("create \(name) --passcode file:passcode \(options)")
        try #require(outcome.status == .ok, "\(outcome.messages)")
    }

    func forge(_ change: RecoveryForger.Change, of archive: String = "laptop.kcb") throws -> String {
        let forger = RecoveryForger(folder: home.folder)
        return try forger.forge(home.path(archive), key: home.path("key.txt"), recipient: recipient, change)
    }

    func expectRefusal(
        _ recovered: Recovered, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(recovered.status == 1, sourceLocation: sourceLocation)
        #expect(recovered.errors.contains(message), "\(recovered.errors)", sourceLocation: sourceLocation)
        #expect(try recovered.folder.list().filter { $0.hasPrefix("recovered") } == [], sourceLocation: sourceLocation)
    }

    @Test("A forged archive without a fault is opened, so that a refusal is due to the fault")
    func control() throws {
        let recovered = try RecoveryRecipe.run(on: forge(.init()), identity: home.path("key.txt"))
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(recovered.errors.contains("may be forged"))
    }

    /// Spellings of the neutral point, under which the signature with the same point and 0 fits every message.
    @Test(
        "A signature by a key of small order is refused: anybody can make it, for every message",
        arguments: ["01\(Self.zeros)00", "01\(Self.zeros)80", "EE\(Self.ones)7F", "EE\(Self.ones)FF"])
    func smallOrder(key: String) throws {
        let neutral = "01" + String(repeating: "00", count: 31)
        let forged = try forge(
            .init(
                lines: """
                    public=$(printf \(key) | basenc --base16 -d | sha256sum | cut -c 1-64 | tr a-f A-F)
                    device=$(printf %s "$public" | basenc --base16 -d | base32 -w 0 | cut -c 1-20 | sed 's/..../-&/g; s/^/KC/')
                    sed -i 's/"device":"[^"]*"/"device":"'$device'"/' kcbackup.json
                    """,
                container: """
                    field() { printf %08X $((${#1} / 2)); printf %s "$1"; }
                    text() { printf %s "$1" | basenc --base16 -w 0; }
                    kind=$(field "$(text ssh-ed25519)")
                    blob=$(text SSHSIG)00000001$(field "$kind$(field \(key))")$(field "$(text kcbackup)")00000000
                    blob+=$(field "$(text sha512)")$(field "$kind$(field \(neutral)\(String(repeating: "00", count: 32)))")
                    { echo '-----BEGIN SSH SIGNATURE-----'; printf %s "$blob" | basenc --base16 -d | base64 -w 70
                      echo '-----END SSH SIGNATURE-----'; } > SHA256SUMS.sig
                    """))
        try expectRefusal(
            RecoveryRecipe.run(on: forged, identity: home.path("key.txt")),
            "the signature is by a key that signs anything")
    }

    private static let zeros = String(repeating: "00", count: 30)
    private static let ones = String(repeating: "FF", count: 30)

    /// `make proof` makes all forgeries; every fourth is tried otherwise.
    private static let chosen = RecoveryAttack.all.enumerated()
        .filter { Environment.has("RECOVERY", "all") || $0.offset.isMultiple(of: 4) }.map(\.element)

    @Test("A forged archive is refused, and no file is written", arguments: chosen)
    func attack(_ attack: RecoveryAttack) throws {
        let forged = try forge(attack.change)
        let before = try home.folder.list()
        try expectRefusal(RecoveryRecipe.run(on: forged, identity: home.path("key.txt")), attack.message)
        #expect(try home.folder.list() == before)
    }

    @Test(
        "Members of two archives, combined under a new signature, are refused", arguments: ["metadata", "secrets"])
    func splice(stream: String) throws {
        try create("other.kcb", "-r \(recipient)")
        let forged = try forge(
            .init(members: "tar -xf '\(home.path("other.kcb"))' \(stream).jsonl.gz.age"))
        try expectRefusal(
            RecoveryRecipe.run(on: forged, identity: home.path("key.txt")),
            stream == "metadata" ? "the metadata belongs to another archive" : "the secrets belong to another archive")
    }

    @Test(
        "A genuine unencrypted archive with foreign encrypted streams added, or in place of its own, is refused",
        arguments: [("", "is unencrypted"), ("rm *.jsonl.gz", "the checksums do not fit")])
    func foreignStreamsUnderAGenuineSignature(change: String, message: String) throws {
        try create("here.kcb", "--unencrypted")
        let script = """
            set -e
            mkdir parts && cd parts
            tar -xf ../here.kcb && tar -xf ../laptop.kcb metadata.jsonl.gz.age secrets.jsonl.gz.age
            \(change)
            tar -cf ../mixed.kcb --mode=600 kcbackup.json $(ls *.gz) *.age SHA256SUMS SHA256SUMS.sig
            """
        let outcome = try ExternalProgram.run("bash", ["-c", script], in: home.path(""))
        try #require(outcome.status == 0 || change != "", "\(outcome.errorText)")
        let recovered = try RecoveryRecipe.run(on: home.path("mixed.kcb"), identity: home.path("key.txt"))
        try expectRefusal(recovered, message)
    }

    @Test("An identity without a passphrase, or of another archive, is not accepted as the passphrase's identity")
    func identityWithoutPassphrase() throws {
        try home.write("passphrase", "horse\n")
        try create("locked.kcb", "-r \(recipient) --passphrase file:passphrase")
        let open = try forge(.init(members: "cp '\(home.path("key.txt"))' identity.age"), of: "locked.kcb")
        try expectRefusal(RecoveryRecipe.run(on: open), "is not locked with a passphrase")
    }

    @Test("An archive of a device other than the named one is refused")
    func otherDevice() throws {
        let recovered = try RecoveryRecipe.run(
            on: home.path("laptop.kcb"), identity: home.path("key.txt"), device: "KC-AAAA-AAAA-AAAA-AAAA-AAAA")
        try expectRefusal(recovered, "and not by KC-AAAA")
    }
}
