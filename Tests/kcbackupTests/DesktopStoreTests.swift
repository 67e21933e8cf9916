import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs commands that name no keychain, where there is a desktop keyring.
@Suite("Without a named keychain", .waitsForPrograms)
struct DesktopStoreTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get()) }

    private static let functions = """
        try() { local status=0; "$@" 2>&1 || status=$?; echo "= $status"; }
        login() {
          $KCBACKUP keychain create --no-passcode 2>/dev/null
          printf '{"class":"genp","attributes":{"svce":"mine"},"secret":"x"}\\n' >items.jsonl
          [ "$1" = empty ] || $KCBACKUP import items.jsonl 2>/dev/null
        }
        add() { printf secret | secret-tool store --label=One service one; }
        answer() { printf "$1\\n" | script -qec "${*:2}" /dev/null | tr -d '\\r'; }

        """

    private func run(_ script: String) throws -> String { try shell.run(Self.functions + script) }

    @Test("A job that names nothing is bound to the desktop keyring where there is no keychain")
    func job() throws {
        let text = try run(
            """
            keyring; add
            $KCBACKUP schedule add desk --unencrypted --to b
            $KCBACKUP schedule list --json | jq -c '.jobs[].create[2:]'
            $KCBACKUP schedule show desk | grep Families
            $KCBACKUP schedule show desk --system 2>/dev/null || echo $?
            $KCBACKUP run desk
            login
            # The job, and the folder, keep to the keyring.
            $KCBACKUP run desk
            $KCBACKUP create --unencrypted --to b
            $KCBACKUP list b --columns keychain,items
            """)
        #expect(
            text == """
                ["--unencrypted","--keychain","secret-service:"]
                RestrictAddressFamilies=AF_UNIX
                64
                KEYCHAIN        ITEMS
                secret-service      1
                secret-service      1
                secret-service      1

                """)
    }

    @Test("Where a keychain and the desktop keyring both have items, a script names one, and a choice is remembered")
    func bothHaveItems() throws {
        let text = try run(
            """
            keyring; add; login
            try $KCBACKUP create --unencrypted x.kcb
            try $KCBACKUP create --unencrypted --to b
            try $KCBACKUP schedule add desk --unencrypted --to b
            ls *.kcb b 2>/dev/null || true
            $KCBACKUP keychain default
            answer "" "$KCBACKUP create --unencrypted x.kcb" | tail -1
            answer d "$KCBACKUP create --unencrypted d.kcb" | grep -v '^d$' | head -2
            $KCBACKUP keychain default
            $KCBACKUP create --unencrypted d2.kcb
            $KCBACKUP item list --columns service | tail -1
            $KCBACKUP keychain default login
            $KCBACKUP create --unencrypted k.kcb
            for file in d2 k; do $KCBACKUP inspect $file.kcb --json | jq -r .source.kind; done
            $KCBACKUP keychain default secret-service:
            """)
        let refusal = """
            kcbackup: error: keychain 'login' and the desktop keyring both have items; name one of them
            kcbackup: hint: '--keychain secret-service:' is the desktop keyring, '--keychain login' the keychain
            kcbackup: hint: 'kcbackup keychain default secret-service:' or '… default login' chooses one for later commands
            = 64

            """
        #expect(
            text == refusal + refusal + refusal + """
                login
                Back up the desktop keyring (d) or keychain 'login' (k)? kcbackup: error: not confirmed; nothing was changed
                keychain 'login' and the desktop keyring both have items
                Back up the desktop keyring (d) or keychain 'login' (k)? from now on, commands without '--keychain' use the desktop keyring: 'kcbackup keychain default' shows and changes it
                secret-service:
                one
                login
                secret-service
                keychain
                secret-service:

                """)
    }

    @Test("An empty store beside a full one is never backed up unless it is named")
    func empty() throws {
        let text = try run(
            """
            keyring; add; login empty
            try $KCBACKUP create --unencrypted x.kcb | grep -v hint
            $KCBACKUP keychain default login
            try $KCBACKUP create --unencrypted x.kcb | grep -v hint
            try $KCBACKUP create --keychain login --unencrypted x.kcb
            secret-tool clear service one
            $KCBACKUP import items.jsonl 2>/dev/null
            $KCBACKUP keychain default secret-service:
            try $KCBACKUP create --unencrypted y.kcb | grep -v hint
            # Deleting the chosen keychain is no choice of the next one.
            $KCBACKUP keychain default login
            $KCBACKUP keychain delete --confirm login 2>/dev/null
            $KCBACKUP keychain default --json
            $KCBACKUP undo --list --json
            """)
        let refusal =
            "kcbackup: error: keychain 'login' is empty, and the desktop keyring has items; name one of them\n= 64\n"
        #expect(
            text == refusal + "login\n" + refusal + """
                kcbackup: warning: x.kcb holds no items of keychain 'login'
                = 0
                secret-service:
                kcbackup: error: the desktop keyring is empty, and keychain 'login' has items; name one of them
                = 64
                login
                {"default":"secret-service:","chosen":false}
                {"keychain":"secret-service:","undo":[]}

                """)
    }

    @Test("With the desktop keyring alone, lists, undo, status and doctor are about it")
    func alone() throws {
        let text = try run(
            """
            keyring; add
            $KCBACKUP item list --columns service
            $KCBACKUP item find one | grep ^service
            try $KCBACKUP undo
            try $KCBACKUP undo --list
            try $KCBACKUP status
            try $KCBACKUP doctor
            $KCBACKUP create --unencrypted x.kcb
            printf other | secret-tool store --label=One service one
            $KCBACKUP restore x.kcb --on-conflict overwrite 2>/dev/null
            $KCBACKUP undo --yes
            secret-tool lookup service one; echo
            try $KCBACKUP doctor
            """)
        #expect(
            text == """
                SERVICE
                one
                service          one
                kcbackup: error: no earlier state of the desktop keyring is kept
                kcbackup: hint: one is kept before each command that changes items
                kcbackup: hint: 'kcbackup restore ARCHIVE --keychain secret-service:' restores a backup
                = 10
                = 0
                KEYCHAIN         LAST GOOD (UTC)  AGE  ARCHIVES  JOBS
                secret-service:  never            -           0  none
                = 0
                no job backs anything up
                  'kcbackup schedule add desk --keychain secret-service: --to FOLDER -r age1…' makes one for the desktop keyring
                = 10
                other
                no job backs anything up
                  'kcbackup schedule add desk --keychain secret-service: --to FOLDER -r age1…' makes one for the desktop keyring
                = 10

                """)
    }

    @Test("Doctor reports a desktop keyring with backups and without a job once, as a warning")
    func warnedOnce() throws {
        let text = try run(
            """
            keyring; add; login
            $KCBACKUP create --keychain secret-service: --unencrypted --to b
            $KCBACKUP schedule add nightly --all --unencrypted --to c
            mkdir bin; printf '#!/bin/sh\\necho "0 3 * * * kcbackup run nightly"\\n' >bin/crontab; chmod +x bin/crontab
            PATH=$PWD/bin:$PATH try $KCBACKUP doctor | grep -v hint
            """)
        #expect(
            text == """
                kcbackup: warning: the desktop keyring is in no job: 'kcbackup schedule add desk --keychain secret-service: --to FOLDER -r age1…' makes one for the desktop keyring
                = 0

                """)
    }
}

@Suite("A chosen desktop keyring that is out of reach")
struct UnreachableKeyringTests {
    @Test(
        "'create' says why it cannot be opened, instead of calling it empty",
        arguments: [[:], ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]])
    func create(environment: [String: String]) throws {
        let home = try TestHome(inMemory: true)
        for command in [
            "keychain create --no-passcode", "item add --service mine --no-secret", "keychain default secret-service:",
        ] { #expect(home.run(command).status == .ok) }
        for target in ["x.kcb", "--to b"] {
            let words = "create --unencrypted \(target)".split(separator: " ").map(String.init)
            for terminal in [ScriptedTerminal(), ScriptedTerminal(answers: [])] {
                let outcome = home.run(words, terminal: terminal, environment: environment)
                #expect(outcome.status == .locked)
                #expect(!outcome.messages.contains("empty"), "\(outcome.messages)")
            }
        }
        let status = home.run("status -v")
        #expect(status.text.contains(/secret-service: +never/), "\(status.text)")
        #expect(status.messages.contains("only archives in folders of backups are on record here"))
    }
}
