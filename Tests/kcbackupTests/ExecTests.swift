import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Commands that run with secrets", .waitsForPrograms)
struct ExecTests {
    private let shell: ProgramShell

    /// The start of each script: a keychain with the secrets `tulip`, of several lines, and of any byte.
    private static let keychain = """
        "$KCBACKUP" keychain create --no-passcode 2>/dev/null
        printf tulip | "$KCBACKUP" item add --service one --secret fd:0
        (umask 077; printf 'a\\nb\\n' >lines; printf 'a\\0\\377b' >bytes; head -c 200000 /dev/zero | tr '\\0' x >long)
        for name in lines bytes long; do "$KCBACKUP" item add --service $name --secret-file $name; done
        run() { "$KCBACKUP" exec --with T=one -- "$@"; }

        """

    init() throws {
        shell = try ProgramShell()
    }

    private func output(of script: String) throws -> String {
        let outcome = try shell(Self.keychain + script)
        #expect(outcome.errorText == "")
        return outcome.text
    }

    @Test("The command gets the secret in a variable, in place of another one of that name, and all else as it was")
    func variable() throws {
        let text = try output(
            of: """
                export T=old RAW=$'caf\\xe9' EMPTY=
                run sh -c 'echo "$T"; printf %s "$RAW" | od -An -tx1; env | grep -c "^T="; env | grep "^EMPTY="'
                env | sort | grep -v '^\\(T\\|_\\|SHLVL\\)=' >before
                run env | sort | grep -v '^\\(T\\|_\\|SHLVL\\)=' | cmp - before && echo same
                """)
        #expect(text == "tulip\n 63 61 66 e9\n1\nEMPTY=\nsame\n")
    }

    @Test("The command is the same process, with the signals, mask, descriptors and input of the caller")
    func process() throws {
        let text = try output(
            of: """
                exec 7<<<seven
                sh -c 'echo $$; exec "$KCBACKUP" exec --with T=one -- sh -c "echo \\$\\$"' | uniq | wc -l
                echo input | run cat
                run cat /dev/fd/7
                (umask 027; run sh -c umask)
                env T=x grep '^Sig[IB]' /proc/self/status >usual
                run grep '^Sig[IB]' /proc/self/status | cmp - usual && echo usual
                (trap '' PIPE QUIT INT TERM; run grep '^SigIgn' /proc/self/status | tail -c 5)
                run sh -c 'kill -TERM $$' 2>/dev/null; echo $?
                run sh -c 'exit 17'; echo $?
                run sh -c 'ulimit -c'
                """)
        #expect(
            text == """
                1
                input
                seven
                0027
                usual
                5006
                143
                17
                0

                """)
    }

    @Test("A file has the secret byte for byte, can be read again, and by children, and cannot be changed")
    func files() throws {
        let text = try output(
            of: """
                "$KCBACKUP" exec --with-file A=lines --with-file B=bytes -- sh -c '
                    cat "$A" "$A" | od -An -c; sh -c "cat \\"$B\\"" | od -An -tx1
                    stat -Lc %a "$A"
                    (echo x >"$A") 2>/dev/null || echo refused
                    case $A in /dev/fd/[0-9]) echo low;; esac
                    env | grep -c tulip
                    readlink "$B"'
                "$KCBACKUP" exec --with A=lines -- sh -c 'printf %s "$A" | od -An -c'
                "$KCBACKUP" exec --with A=bytes -- true 2>&1 | grep -c 'a zero byte'
                "$KCBACKUP" exec --with-file L=long -- sh -c 'wc -c <"$L"'
                "$KCBACKUP" exec --with-file A=one --with B=one -- sh -c 'cat "$A"; echo " $B"'
                """)
        #expect(
            text == """
                   a  \\n   b  \\n   a  \\n   b  \\n
                 61 00 ff 62
                400
                refused
                0
                /memfd:secret (deleted)
                   a  \\n   b  \\n
                1
                200000
                tulip tulip

                """)
    }

    @Test("A descriptor from which the passcode came is not inherited, and the rest of standard input is")
    func descriptors() throws {
        let text = try output(
            of: """
                (umask 077; echo walnut >passcode; printf 'walnut\\nrest\\n' >both)
                "$KCBACKUP" keychain create other --passcode file:passcode 2>/dev/null
                printf lily | "$KCBACKUP" item add --service one --secret fd:0 --keychain other --passcode file:passcode
                other() { "$KCBACKUP" exec --keychain other --with T=one "$@"; }
                other --passcode fd:5 -- sh -c 'echo $T; [ -e /proc/self/fd/5 ] || echo closed; cat /dev/fd/6' \\
                    5<passcode 6<<<six
                other --passcode fd:0 -- sh -c 'echo $T; cat' < <(cat both)
                """)
        #expect(text == "lily\nclosed\nsix\nlily\nrest\n")
    }

    @Test("Standard input that was closed is empty for the command, and not a file to write")
    func closedInput() throws {
        let text = try output(of: "run sh -c 'cat || echo failed; echo $T; echo x >&0 || echo not' <&- 2>/dev/null\n")
        #expect(text == "tulip\nnot\n")
    }

    @Test("A command that cannot be run ends with 126 or 127, and says why")
    func notRun() throws {
        let outcome = try shell(
            Self.keychain + """
                touch plain; mkdir folder
                printf 'echo "script $T"\\n' >script; chmod +x script
                run ./script
                for name in nowhere ./nowhere ./plain ./folder ''; do run "$name"; echo $?; done
                "$KCBACKUP" exec --with T=long -- true; echo $?
                run ./nowhere 2>&- ; echo $?
                """)
        #expect(outcome.text == "script tulip\n127\n127\n126\n126\n127\n126\n127\n")
        #expect(
            outcome.errorText.components(separatedBy: "\n").filter { $0.contains("error: ") } == [
                "kcbackup: error: there is no command 'nowhere' in PATH",
                "kcbackup: error: './nowhere' does not exist, or the interpreter that its first line names does not",
                "kcbackup: error: './plain' cannot be run: permission denied",
                "kcbackup: error: './folder' is a folder, not a program",
                "kcbackup: error: there is no command '' in PATH",
                "kcbackup: error: the arguments and variables of 'true' are more than the system passes on",
            ])
    }

    @Test("The secret of an item that another program changed is not given")
    func changedItem() throws {
        let home = try TestHome()
        for line in ["keychain create --no-passcode", "item add --service one --generate"] {
            #expect(home.run(line).status == .ok)
        }
        let file = SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain")
        try file.run("UPDATE genp SET svce = CAST('two' AS BLOB) WHERE svce = CAST('one' AS BLOB)")
        let outcome = home.run("exec --with T=two -- command")
        #expect(outcome.status == .damaged && outcome.text == "")
        #expect(outcome.messages.hasPrefix("kcbackup: error: the seal of the item for 'T' does not fit"))
    }

    @Test(
        "A variable that chooses code is refused, and one that holds a secret is not",
        arguments: [
            ("GIT_EXEC_PATH", true), ("OPENSSL_MODULES", true), ("DOTNET_STARTUP_HOOKS", true),
            ("PYTHONBREAKPOINT", true),
            ("HOME", true), ("XDG_CONFIG_HOME", true), ("LD_PRELOAD", true), ("LD_AUDIT", true), ("GCONV_PATH", true),
            ("BASH_ENV", true), ("GIT_ASKPASS", true), ("GIT_CONFIG_VALUE_0", true), ("npm_config_node_options", true),
            ("MAVEN_OPTS", true), ("MAKEFLAGS", true), ("RUSTC_WRAPPER", true), ("RESTIC_PASSWORD_COMMAND", true),
            ("BORG_PASSCOMMAND", true), ("SSH_AUTH_SOCK", true), ("KEY", false), ("T", false), ("API_TOKEN", false),
            ("PGPASSWORD", false), ("GIT_TOKEN", false), ("NODE_AUTH_TOKEN", false), ("SSH_PRIVATE_KEY", false),
            ("AWS_SECRET_ACCESS_KEY", false), ("RUBYGEMS_API_KEY", false), ("GOOGLE_APPLICATION_CREDENTIALS", false),
            ("KUBECONFIG", false), ("RESTIC_PASSWORD", false), ("BORG_PASSPHRASE", false), ("DATABASE_URL", false),
        ])
    func codeVariables(name: String, isRefused: Bool) {
        do {
            try EnvironmentName.check(name, of: .with)
            #expect(!isRefused)
        } catch {
            #expect(isRefused)
        }
    }
}
