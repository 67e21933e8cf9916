import Foundation
import KCTestSupport
import Testing

@Suite("Too few threads or too little memory", .waitsForPrograms)
struct ShortResourcesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a script with a function `run`, which runs the program within a limit and prints its status.
    private func shell(limit: String, _ script: String) throws -> ExternalProgram.Outcome {
        let prologue = """
            set -u
            chmod 711 .
            # Root may make any number of threads, so that another user is asked.
            user=64321
            as=
            mkdir home
            if [ "$(id -u)" -eq 0 ]; then
                as="setpriv --reuid=$user --regid=$user --clear-groups"
                install -m 755 "$KCBACKUP" kcbackup
                KCBACKUP=$PWD/kcbackup
            fi
            cd home
            export HOME=$PWD
            umask 077
            echo walnut-stapler-93 > code
            for n in $(seq 100); do
                printf '{"class":"genp","attributes":{"acct":"%s","svce":"s"},"secret":"%09000d"}\\n' $n $n
            done > items.jsonl
            [ -z "$as" ] || chown -R $user:$user .
            run() {
                timeout -k 5 120 $as \(limit) "$KCBACKUP" "$@" >out 2>err </dev/null
                echo "$? $1 $2"
            }
            """
        return try ExternalProgram.run(
            "bash", ["-c", prologue + "\n" + script],
            environment: [
                "HOME": folder.path, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "KCBACKUP": try ExternalProgram.built("kcbackup"), "SWIFT_BACKTRACE": "enable=no",
            ],
            in: folder.path)
    }

    /// Few of them derive a key from a passcode, which takes a second.
    private static let verbs = """
        run keychain create --no-passcode
        run keychain create coded --passcode file:code
        run keychain list
        run keychain info coded
        run keychain set-settings coded --lock-after 100 --passcode file:code
        run import items.jsonl
        run item add --service a --secret file:code
        run item list
        run item find --service a --reveal
        run item update --service a --set labl=b
        run keygen -o id.txt
        run device show
        run device list
        run create a.kcb --passphrase file:code
        run create b.kcb -r "$(grep -o 'age1[a-z0-9]*' id.txt | head -1)"
        run create c.kcb --unencrypted
        run verify a.kcb --passphrase file:code
        run inspect b.kcb -i id.txt
        run restore b.kcb -i id.txt
        run restore c.kcb
        run item delete --service a
        run keychain lock coded
        """

    @Test("No verb hangs or fails if no thread can be created")
    func noThreads() throws {
        let outcome = try shell(limit: "prlimit --nproc=1", Self.verbs)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 22)
        #expect(lines.filter { !$0.hasPrefix("0 ") } == [], "\(outcome.errorText)")
    }

    @Test("No verb hangs if address space is short", arguments: [120, 200, 260, 320])
    func noMemory(megabytes: Int) throws {
        let outcome = try shell(limit: "prlimit --nproc=1 --as=\(megabytes)000000", Self.verbs)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 22)
        // Killed by `timeout`, with SIGTERM or SIGKILL.
        #expect(lines.filter { $0.hasPrefix("124 ") || $0.hasPrefix("137 ") } == [], "\(outcome.errorText)")
    }
}
