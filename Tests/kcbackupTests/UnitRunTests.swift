import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

/// The requirements of `Desktop/unit.py`, which runs a service under the restrictions of its unit.
enum UnitSandbox {
    static let isThere: Bool = {
        let script = "import ctypes; ctypes.CDLL('libseccomp.so.2')"
        do {
            return try ExternalProgram.locate("systemd-analyze") != nil
                && ExternalProgram.run("/usr/bin/python3", ["-c", script]).status == 0
        } catch {
            return false
        }
    }()

    /// Shell functions: `service` prints the service of a job, and `unit FILE` runs one, with `$HOME` and the given
    /// variables, and prints its status.
    static let function = """
        service() { "$KCBACKUP" schedule show "$@" | sed -n '/^# .*timer$/q;/^# /d;p'; }
        unit() {
          local status=0
          /usr/bin/python3 '\(Project.path("Tests/kcbackupTests/Desktop/unit.py"))' "$@" HOME="$HOME" 2>&1 || status=$?
          echo $status
        }

        """
}

@Suite(
    "Jobs under the restrictions of their units", .waitsForPrograms,
    .enabled(if: UnitSandbox.isThere, "systemd-analyze, libseccomp and Python are needed"))
struct UnitRunTests {
    private func run(_ script: String) throws -> String {
        let folder = try TemporaryFolder(inMemory: true)
        let outcome = try ExternalProgram.run(
            // A unit has an environment of its own, in which a keychain of the costs of tests does not open.
            "bash", ["-c", "set -e\nunset KCBACKUP_LOWEST_COSTS\n" + UnitSandbox.function + script],
            environment: [
                "HOME": folder.path, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "USER": "root",
                "KCBACKUP": try ExternalProgram.built("kcbackup"),
            ], in: folder.path)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        return outcome.text
    }

    @Test("A job of a keychain with a passcode runs under its unit, which forbids sockets and other programs' means")
    func keychain() throws {
        let text = try run(
            """
            umask 077
            echo walnut lantern orbit >passcode
            $KCBACKUP keychain create --passcode file:passcode -q
            $KCBACKUP item add --service a --no-secret --passcode file:passcode -q
            $KCBACKUP schedule add nightly --unencrypted --passcode file:passcode --to b --keep-last 1 -q
            service nightly >nightly.service
            unit nightly.service
            unit nightly.service
            ls b | wc -l
            """)
        #expect(text == "0\n0\n1\n")
    }

    @Test("A job of another program's file reads it in a sandbox within that of its unit")
    func file() throws {
        let text = try run(
            """
            umask 077
            printf 'url,username,password\\nhttps://a.example,ada,pw\\n' >a.csv
            echo walnut lantern orbit >phrase
            $KCBACKUP keychain create --no-passcode -q
            $KCBACKUP schedule add nightly --keychain file:a.csv --passphrase file:phrase --to b -q
            service nightly >nightly.service
            unit nightly.service
            ls b | grep -c kcb
            """)
        #expect(text == "0\n1\n")
    }

    @Test(
        "A job runs under its system unit, which can write to the backups and the keychain and to nothing else",
        .enabled(if: geteuid() == 0, "mounting takes root"))
    func system() throws {
        let text = try run(
            """
            $KCBACKUP keychain create --no-passcode -q
            mkdir k
            $KCBACKUP keychain create --keychain "$PWD/k/x.keychain" --no-passcode -q || $KCBACKUP keychain create "$PWD/k/x.keychain" --no-passcode -q
            echo walnut >secret; chmod 600 secret
            $KCBACKUP item add --keychain "$PWD/k/x.keychain" --service a --secret file:secret -q
            $KCBACKUP schedule add nightly --unencrypted --keychain "$PWD/k/x.keychain" --to 'b $c' -q
            rmdir 'b $c'
            service nightly --system 2>said >nightly.service
            grep -o "'kcbackup run nightly --change' makes it" said
            mkdir -m 700 'b $c'
            service nightly --system >nightly.service
            export -f unit
            unshare -m bash -c 'unit nightly.service; touch k/y "b \\$c/y"; touch x' 2>&1 || echo $?
            ls 'b $c' | grep -c kcb
            """)
        #expect(
            text
                == "'kcbackup run nightly --change' makes it\n0\ntouch: cannot touch 'x': Read-only file system\n1\n1\n",
            "\(text)")
    }

    @Test("A job with commands, or of a store of pass, has a unit that restricts no program")
    func programs() throws {
        let text = try run(
            """
            $KCBACKUP keychain create --no-passcode -q
            $KCBACKUP item add --service a --no-secret -q
            mkdir store; echo ada >store/.gpg-id
            $KCBACKUP schedule add told --unencrypted --to b --on-failure 'mail -s no ada' -q
            $KCBACKUP schedule add asked --unencrypted --to b --passcode 'cmd:pass show x' -q
            $KCBACKUP schedule add store --keychain file:store --to c --passphrase cred:phrase -q
            touch missing
            $KCBACKUP schedule add elsewhere --keychain file:missing --to d --passphrase cred:phrase -q
            rm missing
            touch items.jsonl
            $KCBACKUP schedule add items --keychain file:items.jsonl --to e --passphrase cred:phrase -q
            for job in told asked store elsewhere items; do
              service $job --system 2>/dev/null | grep -c -e SystemCallFilter -e ProtectHome -e NoNew -e Families || true
            done
            GNUPGHOME=$PWD/keys service store | grep -c "GNUPGHOME=$PWD/keys"
            unit <(service told)
            """)
        #expect(text == "0\n0\n0\n0\n6\n1\n0\n")
    }

    @Test("A system unit hides no temporary file that its job needs")
    func temporary() throws {
        let text = try run(
            """
            $KCBACKUP keychain create --no-passcode -q
            $KCBACKUP schedule add nightly --unencrypted --to b -q
            $KCBACKUP schedule add temporary --unencrypted --to $(mktemp -d /tmp/kcbackup-XXXXXX) -q
            for job in nightly temporary; do service $job --system 2>/dev/null | grep -c PrivateTmp || true; done
            rmdir "$($KCBACKUP schedule list --json | grep -o '/tmp/kcbackup-[A-Za-z0-9]*' | head -1)"
            """)
        #expect(text == "1\n0\n")
    }

    @Test("A job reads an encrypted file of public keys each night with the passphrase it was given")
    func recipientsFile() throws {
        let text = try run(
            """
            umask 077
            $KCBACKUP keychain create --no-passcode -q
            $KCBACKUP keygen -o key -q
            sed -n 's/^# public key: //p' key >keys
            echo walnut lantern orbit >phrase
            $KCBACKUP schedule add nightly -R keys --recipients-passphrase file:phrase --to b -q
            $KCBACKUP schedule list --json | grep -c '"--recipients-passphrase","file:/'
            """)
        #expect(text == "1\n")
    }
}
