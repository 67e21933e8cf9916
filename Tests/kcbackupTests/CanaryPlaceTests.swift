import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Looks for canaries on the bus of a desktop, and in the blocks of disks and of swap space.
@Suite("No bus, no disk and no swap space has a secret", .waitsForPrograms)
struct CanaryPlaceTests {
    @Test("Secrets that go to the desktop keyring and come from it are encrypted on the bus")
    func bus() throws {
        let proof = ProofCount("traces of the session bus of a desktop with nine verbs")
        let shell = try DesktopShell(desktop: "/bin/false", preparation: "keys\ncd \"$HOME\"")
        try CanaryWatch.writeInputs(to: shell.path("."))
        let found = try shell.run(
            """
            keyring
            $KCBACKUP keychain create --no-passcode -q 2>/dev/null
            $KCBACKUP import logins.csv -q 2>/dev/null
            $KCBACKUP create -r "$key" a.kcb -q
            say() {
              gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.NameHasOwner "$1" >/dev/null
            }
            record() {
              dbus-monitor --session --binary >"$1" & monitor=$!
              until say "start of $1" && grep -qa "start of $1" "$1"; do kill -0 $monitor; done
            }
            recorded() {
              say "end of $1"
              until grep -qa "end of $1" "$1"; do kill -0 $monitor; done
              kill $monitor
              wait $monitor || true
            }
            record trace
            $KCBACKUP restore a.kcb -i key.txt --keychain secret-service: -q
            $KCBACKUP item list --keychain secret-service: -v >/dev/null
            $KCBACKUP item find --keychain secret-service: --server a7.example --reveal >revealed
            $KCBACKUP item add --keychain secret-service: --service z --secret file:new -q
            $KCBACKUP item update --keychain secret-service: --service z --secret file:old -q
            $KCBACKUP create --keychain secret-service: -r "$key" b.kcb -q
            $KCBACKUP export --keychain secret-service: --to csv --plaintext -o out.csv -q 2>/dev/null
            $KCBACKUP item delete --keychain secret-service: --service z --yes -q
            $KCBACKUP undo --keychain secret-service: --yes -q
            recorded trace
            record told
            say "$(cat new)"
            recorded told
            grep -ac a7.example trace
            """)
        #expect(Int(found.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 > 0, "the trace has no name of an item")
        func holds(_ name: String) throws -> Bool {
            Canary.isIn([UInt8](try Data(contentsOf: URL(filePath: shell.path(name)))))
        }
        // Which shows that secrets were sent, and that a trace shows what is not encrypted.
        #expect(try holds("revealed") && holds("out.csv") && holds("told"))
        let isTold = try holds("trace")
        #expect(!isTold)
        proof.add(isTold ? 1 : 0)
        try proof.record()
    }

    @Test("A service that offers no encryption, at once or for a later session, is refused")
    func plainBus() throws {
        let hostile = Project.path("Tests/kcbackupTests/Desktop/hostile.py")
        let text = try DesktopShell(desktop: "/bin/false").run(
            """
            for words in sessions=0 'sessions=1 owns=org.kde.kwalletd5'; do
              rm -f calls
              /usr/bin/python3 '\(hostile)' $words & other=$!
              gdbus wait --session --timeout 60 org.freedesktop.secrets
              status=0
              $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>messages || status=$?
              echo "$status $(head -1 messages)"
              grep -c GetSecrets calls || true
              kill $other
              wait $other || true
            done
            ls *.kcb || true
            """)
        let refusal = """
            4 kcbackup: error: the Secret Service offers no encrypted session; secrets are not sent in the clear
            0

            """
        #expect(text == refusal + refusal)
    }

    /// Verbs in a home on a disk of its own, whose secrets come from another disk.
    private static let verbs = """
        kc keychain create --no-passcode
        kc keygen -o key.txt
        key=$(grep -o 'age1[0-9a-z]*' key.txt)
        kc import "$IN/canaries.jsonl"
        kc create -r "$key" a.kcb
        kc create --unencrypted --to backups
        kc item add --service z --secret "file:$IN/new"
        kc undo --yes
        kc keychain create other --no-passcode
        kc restore a.kcb -i key.txt --keychain other
        kc keychain set-passcode other --new-passcode "file:$IN/old"
        """

    /// More of them, with an import that does not fit into the memory that it takes.
    private static let more = """
        kc import "$IN/export.1pux"
        kc import "$IN/secrets.yaml"
        kc import "$IN/keepass.xml"
        kc create --passphrase "file:$IN/old" p.kcb
        kc verify p.kcb --passphrase "file:$IN/old"
        kc restore p.kcb --passphrase "file:$IN/old" --replace --yes
        kc rekey a.kcb -i key.txt --new-passphrase "file:$IN/new"
        kc export --to kdbx --password "file:$IN/new" -o out.kdbx
        kc keychain set-passcode other --passcode "file:$IN/old" --new-passcode "file:$IN/new"
        kc keychain delete other --confirm other
        kc item delete --service c7 --yes
        kc create --home --unencrypted --to homes
        kc recovery make -o kit.txt
        kc device export --passphrase "file:$IN/old" -o device.age
        python3 "$SCRIPTS/inputs.py" "$IN" "$STEM" 120000
        kc keychain create large --no-passcode
        kc import "$IN/canaries.jsonl" --into large
        """

    @Test(
        "No block of the disk has a secret, not even of a file that was deleted",
        .enabled(if: geteuid() == 0 && ExternalProgram.locate("mkfs.ext4") != nil, "mounting takes root and mkfs.ext4"))
    func disk() throws {
        let proof = ProofCount("raw images of a disk with home and temporary folder")
        let folder = try TemporaryFolder(inMemory: true)
        for name in ["in", "disk"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
        }
        try CanaryWatch.writeInputs(to: folder.path("in"))
        let isWhole = Environment.has("CANARIES", "all")
        let script = """
            set -eu
            truncate -s \(isWhole ? 512 : 32)M image
            mkfs.ext4 -q image
            mount -o loop image disk
            mkdir -m 700 disk/home disk/tmp
            cd disk/home
            export HOME=$PWD TMPDIR=${PWD%/home}/tmp
            kc() { "$KCBACKUP" "$@" -q </dev/null >/dev/null 2>"$IN/messages" || { cat "$IN/messages"; return 1; }; }
            \(Self.verbs)
            \(isWhole ? Self.more : "")
            # Deleted once it is on the disk.
            echo 'a text that was deleted' >deleted
            sync deleted
            rm deleted
            cd ../..
            umount disk
            """
        let ran = try ExternalProgram.run(
            "unshare", ["--mount", "bash", "-c", script],
            environment: [
                "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "KCBACKUP": try ExternalProgram.built("kcbackup"),
                "IN": folder.path("in"), "SCRIPTS": CanaryWatch.scripts, "STEM": Canary.stem,
                "SWIFT_BACKTRACE": "enable=no",
            ],
            in: folder.path)
        try #require(ran.status == 0, "\(ran.text)\(ran.errorText)")
        let image = try folder.read("image")
        #expect(Canary.isIn(image, [Array("a text that was deleted".utf8)]))
        let isTold = Canary.isIn(image)
        #expect(!isTold)
        proof.add(isTold ? 1 : 0)
        try proof.record()
    }

    /// Verbs without a passcode or passphrase, which OpenSSL copies.
    private static let swapped = """
        kc import canaries.jsonl --on-conflict overwrite
        kc import logins.csv
        kc create -r "$KEY" a.kcb
        kc verify a.kcb -i key.txt
        kc item add --service z --secret file:new
        kc item find --service c7 --reveal
        kc undo --yes
        kc keychain create other --no-passcode
        kc restore a.kcb -i key.txt --keychain other
        kc export --to csv --plaintext -o out.csv
        """

    @Test(
        "Swap space gets no secret, even if all memory is paged out again and again",
        .enabled(
            if: Environment.has("CANARIES", "all") && geteuid() == 0 && ExternalProgram.locate("swapon") != nil,
            "CANARIES=all makes swap space, as root"))
    func swap() throws {
        let proof = ProofCount("swap space after ten verbs whose memory was paged out at each tenth system call")
        let folder = try TemporaryFolder()
        func bash(_ script: String) throws -> ExternalProgram.Outcome {
            try ExternalProgram.run("bash", ["-euc", script], in: folder.path)
        }
        let made = try bash("umask 077; dd if=/dev/zero of=swap bs=1M count=256; mkswap swap; sync swap; swapon swap")
        try #require(made.status == 0, "\(made.errorText)")
        let script = "export MARK='a text that is swapped'\n" + Self.swapped.replacing("\n", with: " >>told\n")
        let watched = Result { try CanaryWatch(inMemory: false)(script + " >>told\n", every: 10, pagesOut: true) }
        // The pages that the kernel wrote are on the disk, and not in its cache of the file.
        let ended = try bash("swapoff swap; sync; dd if=swap iflag=nocache count=0")
        #expect(ended.status == 0, "\(ended.errorText)")
        let outcome = try watched.get()
        #expect(outcome.all(.end).allSatisfy { $0.status == 0 }, "\(outcome.text)")
        let image = try folder.read("swap")
        #expect(Canary.isIn(image, [Array("a text that is swapped".utf8)]))
        // Each secret has the stem four times: more than OpenSSL keeps of what it hashes, and than other tests have in their
        // memory, which the kernel may have swapped out.
        let isTold = Canary.isIn(image, Canary.spellings(of: String(repeating: Canary.stem, count: 4)))
        #expect(!isTold)
        proof.add(isTold ? 1 : 0)
        try proof.record()
    }
}
