import Foundation
import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon, with a prompter that answers without a user.
@Suite("The desktop keyring's prompt", .waitsForPrograms)
struct DesktopPromptTests {
    private static let functions = """
        trap 'end -TERM; unprompt' EXIT
        prompter() {
          /usr/bin/python3 '\(Project.path("Tests/kcbackupTests/Desktop/prompter.py"))' "$@" & prompter=$!
          gdbus wait --session --timeout 60 org.gnome.keyring.SystemPrompter
        }
        unprompt() { [ -z "$prompter" ] || { kill "$prompter"; wait "$prompter" || true; } 2>/dev/null; prompter=; }
        prompter=
        # With a terminal, and known by its process.
        attended() {
          local status=0
          script -qec "sh -c 'echo \\$\\$ >pid; exec $*'" /dev/null </dev/null >messages || status=$?
          echo "$status $(tr -d '\\r' <messages | grep -e error: | head -1 | cut -c18-)"
        }
        opened() { until grep -qs open prompts; do :; done; }
        labels() { $KCBACKUP inspect secret-service: --skip-locked --json 2>/dev/null | jq -c '[.collections[] | select(.label != "Login") | [.label, .locked, .items]] | sort'; }
        keyring
        $DESKTOP fill 1 3
        keys
        $KCBACKUP create --keychain secret-service: -r "$key" all.kcb

        """

    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get(), preparation: Self.functions) }

    @Test("The password entered at the prompt unlocks a collection, or becomes the password of a new one")
    func answered() throws {
        let text = try shell.run(
            """
            prompter pw
            lock Collection_5f0
            attended $KCBACKUP create --keychain secret-service: -r $key a.kcb --unlock
            # GNOME Keyring has stored the password in an item that it returns only after a restart.
            $KCBACKUP inspect a.kcb -i key.txt --json | jq -c '.items | length'
            unprompt
            prompter new
            attended $KCBACKUP restore all.kcb -i key.txt --keychain secret-service:New --unlock
            labels
            lock New
            printf old >pw; chmod 600 pw
            status=0; $KCBACKUP inspect secret-service:New --passcode file:pw 2>/dev/null || status=$?; echo $status
            printf new >pw
            $KCBACKUP inspect secret-service:New --passcode file:pw --json | jq -c '.items | length'
            attended $KCBACKUP restore all.kcb -i key.txt --keychain secret-service:New --unlock --json
            grep -o '"plan":{[^}]*}' messages
            sort prompts | uniq -c | sed 's/^ *//'
            """)
        #expect(
            text == """
                3 \("")
                3
                0 \("")
                [["Collection 0",false,3],["New",false,3]]
                12
                3
                0 \("")
                "plan":{"create":0,"update":0,"same":3,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                2 closed
                1 open confirm
                2 open password

                """)
    }

    @Test("A prompt closed without an answer ends the run with status 14, and nothing is written")
    func dismissed() throws {
        let text = try shell.run(
            """
            prompter
            lock Collection_5f0
            attended $KCBACKUP create --keychain secret-service: -r $key a.kcb --unlock
            attended $KCBACKUP restore all.kcb -i key.txt --keychain secret-service:New --unlock
            attended $KCBACKUP inspect secret-service: --unlock
            labels
            ls *.kcb
            """)
        #expect(
            text == """
                14 the prompt of the desktop was closed without a password
                14 the prompt of the desktop was closed without a password
                14 the prompt of the desktop was closed without a password
                [["Collection 0",true,3]]
                all.kcb

                """)
    }

    @Test("If the service or the bus dies during a prompt, the run ends with status 14")
    func died() throws {
        let text = try shell.run(
            """
            touch mode
            prompter
            lock Collection_5f0
            attended $KCBACKUP create --keychain secret-service: -r $key a.kcb --unlock >ended & run=$!
            opened
            end -KILL
            wait $run; cat ended
            rm prompts
            keyring
            attended $KCBACKUP restore all.kcb -i key.txt --keychain secret-service:New --unlock >ended & run=$!
            opened
            end -KILL
            wait $run; cat ended
            keyring
            labels
            rm prompts
            lock Collection_5f0
            attended $KCBACKUP create --keychain secret-service: -r $key a.kcb --unlock >ended & run=$!
            opened
            # The bus is the parent of this shell's parent: dbus-run-session started it.
            kill $(pgrep -P $(ps -o ppid= -p $$) dbus-daemon)
            wait $run; cat ended
            daemon= prompter=
            ls *.kcb
            """)
        #expect(
            text == """
                14 the Secret Service ended while it was in use
                14 the Secret Service ended while it was in use
                [["Collection 0",true,3]]
                14 the Secret Service ended while it was in use
                all.kcb

                """)
    }

    @Test("A signal during a prompt ends the run, the service keeps running, and nothing is written")
    func signals() throws {
        let text = try shell.run(
            """
            touch mode
            prompter
            for signal in INT TERM; do
              lock Collection_5f0
              attended $KCBACKUP create --keychain secret-service: -r $key a.kcb --unlock >ended & run=$!
              opened
              kill -$signal $(cat pid)
              wait $run; cut -d' ' -f1 ended
              rm prompts; unprompt; prompter
              attended $KCBACKUP restore all.kcb -i key.txt --keychain secret-service:New --unlock >ended & run=$!
              opened
              kill -$signal $(cat pid)
              wait $run; cut -d' ' -f1 ended
              rm prompts; unprompt; prompter
            done
            kill -0 $daemon
            labels
            ls *.kcb
            """)
        #expect(
            text == """
                130
                130
                143
                143
                [["Collection 0",true,3]]
                all.kcb

                """)
    }
}
