import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Runs the program against a Secret Service and a session bus that answer wrongly, or not at all.
@Suite("A desktop keyring that misbehaves", .waitsForPrograms)
struct DesktopHostileTests {
    private static let functions = """
        other=
        trap 'done_with' EXIT
        hostile() {
          rm -f calls
          /usr/bin/python3 '\(Project.path("Tests/kcbackupTests/Desktop/hostile.py"))' "$@" & other=$!
        }
        service() {
          hostile "$@"
          gdbus wait --session --timeout 60 org.freedesktop.secrets
        }
        done_with() { { kill $other; wait $other; } 2>/dev/null || true; other=; }
        called() { until grep -qs "$1" calls; do :; done; }
        # The status and what the first line says; each other line must be a hint. A busy machine may need a while, for a list
        # that never ends most of all.
        try() {
          local status=0
          timeout 200 "$@" </dev/null >messages 2>&1 || status=$?
          echo "$status $(head -1 messages | cut -d' ' -f2-)"
          tail -n +2 messages | grep -v '^kcbackup: hint: ' || true
        }
        # With a terminal.
        attended() {
          local status=0
          timeout 200 script -qec "$*" /dev/null </dev/null >messages || status=$?
          echo "$status $(tr -d '\\r' <messages | grep -m 1 error: | cut -d' ' -f2-)"
        }

        """

    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: "/bin/false", preparation: Self.functions) }

    @Test("A bus that does not answer does not stop the backup of a keychain, and is named where it is asked for")
    func stuckBus() throws {
        let text = try shell.run(
            """
            $KCBACKUP keychain create --no-passcode 2>/dev/null
            hostile bus="$HOME/stuck"
            called listening
            export DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/stuck
            attended $KCBACKUP create --unencrypted a.kcb
            for signal in INT TERM; do
              rm calls
              status=0
              # A shell makes its background processes ignore SIGINT; the program catches it all the same.
              $KCBACKUP inspect secret-service: 2>messages & reader=$!
              called connected
              kill -$signal $reader
              wait $reader || status=$?
              echo "$status $(cat messages)"
            done
            ls *.kcb
            """)
        #expect(
            text == """
                0 \("")
                130 kcbackup: error: interrupted; nothing is left half-written under its name
                143 kcbackup: error: interrupted; nothing is left half-written under its name
                a.kcb

                """)
    }

    @Test("A signal ends a run that waits for a service", arguments: ["OpenSession", "ReadAlias", "GetSecrets"])
    func stuckService(method: String) throws {
        let text = try shell.run(
            """
            service \(method)=never
            for signal in INT TERM; do
              rm -f calls
              status=0
              $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>messages & reader=$!
              called \(method)
              kill -$signal $reader
              wait $reader || status=$?
              echo "$status $(grep error: messages)"
            done
            [ ! -e a.kcb ]
            """)
        #expect(
            text == """
                130 kcbackup: error: interrupted; nothing is left half-written under its name
                143 kcbackup: error: interrupted; nothing is left half-written under its name

                """)
    }

    @Test("An interrupted restore says that something may have been written")
    func interruptedRestore() throws {
        let text = try shell.run(
            """
            service
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>/dev/null
            done_with
            service items=none CreateItem=never
            status=0
            $KCBACKUP restore a.kcb 2>messages & writer=$!
            called CreateItem
            kill -INT $writer
            wait $writer || status=$?
            echo $status; cat messages
            """)
        #expect(
            text == """
                130
                kcbackup: error: interrupted while the first items were written
                kcbackup: hint: what was written stays, since there are no transactions there: run the command again to finish it, or see with 'kcbackup undo --dry-run' what it wrote

                """)
    }

    @Test("An answer of another shape ends the run with one line, and nothing is written")
    func malformed() throws {
        let text = try shell.run(
            """
            for method in OpenSession GetAll ReadAlias GetSecrets; do
              for answer in empty number text; do
                service $method=$answer
                try $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
                done_with
              done
            done
            service locked=yes Unlock=text
            attended $KCBACKUP create --keychain secret-service: --unencrypted a.kcb --unlock
            done_with
            service locked=yes Unlock=empty
            attended $KCBACKUP create --keychain secret-service: --unencrypted a.kcb --unlock
            done_with
            [ ! -e a.kcb ]
            """)
        let requests = [
            ("opening a session", 3), ("listing collections", 6), ("reading secrets", 3), ("unlocking a collection", 2),
        ]
        let wrong = "the Secret Service returned an answer that its interface does not define"
        #expect(
            text
                == requests.map { request, count in
                    String(repeating: "13 error: \(request): \(wrong)\n", count: count)
                }.joined())
    }

    @Test("Items and collections that the service lists, but does not return, are named and make a backup incomplete")
    func withheld() throws {
        let text = try shell.run(
            """
            item=/org/freedesktop/secrets/collection/c/2
            for answers in "GetAll@$item=gone" "GetSecrets=gone GetSecret@$item=gone" \
              "GetAll@/org/freedesktop/secrets/collection/c=gone"
            do
              service $answers
              try $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
              $KCBACKUP inspect a.kcb --json | jq -c '[.contents.complete, (.items | length)]'
              rm a.kcb
              try bash -c "$KCBACKUP item list --keychain secret-service: 2>&1 >/dev/null"
              done_with
            done
            # What is listed twice is one item, and a list that never ends is refused.
            service items=twice
            $KCBACKUP inspect secret-service: --json | jq -c '[(.collections | length), (.items | length)]'
            done_with
            service items=more
            try $KCBACKUP inspect secret-service:
            """)
        let start = "warning: "
        let end = ", since the Secret Service lists it and does not return it: "
        func both(_ missing: String) -> String {
            "3 \(start)not in the archive\(missing)\n[false,1]\n3 \(start)left out\(missing)\n"
        }
        let path = "/org/freedesktop/secrets/collection/c"
        let whole = "the Secret Service lists collection '\(path)', and does not return it: its items are "
        #expect(
            text
                == both(end + "'\(path)/2' in collection 'Work'") + both(end + "'Item 2' in collection 'Work'")
                + "3 \(start)\(whole)not in the archive\n[false,0]\n3 \(start)\(whole)left out\n" + """
                    [1,2]
                    13 error: listing collections: the Secret Service returned an answer that its interface does not define

                    """)
    }

    @Test("An open item with hashes as attributes is named and left out, and the others are read")
    func hashes() throws {
        let text = try shell.run(
            """
            service attribute=gkr:compat:hashed:x
            try $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
            $KCBACKUP inspect a.kcb --json | jq -c '[.contents.complete, (.items | map(.attributes.labl))]'
            try bash -c "$KCBACKUP item list --keychain secret-service: 2>&1 >/dev/null"
            try bash -c "$KCBACKUP item find --keychain secret-service: --label 'Item 1' 2>&1 >/dev/null"
            """)
        #expect(
            text == """
                3 warning: not in the archive, since its attributes are hashes: 'Item 2' in collection 'Work'
                [false,["Item 1"]]
                3 warning: left out, since its attributes are hashes: 'Item 2' in collection 'Work'
                3 warning: left out, since its attributes are hashes: 'Item 2' in collection 'Work'

                """)
    }

    @Test("If the archive cannot be read to its end while it is restored, the message says that items were written")
    func brokenArchive() throws {
        let text = try shell.run(
            """
            $KCBACKUP keygen -o key.txt >/dev/null
            for n in $(seq 120); do
              printf '{"class":"genp","attributes":{"svce":"s%d"},"secret":"%s"}\\n' $n "$(head -c 15000 /dev/urandom | base64 -w0)"
            done >items.jsonl
            chmod 600 items.jsonl
            $KCBACKUP create --keychain file:items.jsonl -r "$(grep -o 'age1[a-z0-9]*' key.txt)" a.kcb 2>/dev/null
            service items=none truncate=a.kcb
            try $KCBACKUP restore a.kcb -i key.txt --keychain secret-service:
            grep -c 'what was written stays' messages
            """)
        #expect(text.hasSuffix("\n1\n"))
        #expect(text.contains("after some items were written: ") || text.contains("error: while the first items were"))
    }

    @Test("An item that the service only claims to have made is not counted, and what may have changed is said")
    func claimed() throws {
        let text = try shell.run(
            """
            service
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>/dev/null
            done_with
            for answer in nowhere empty number text; do
              service items=none CreateItem=$answer
              try $KCBACKUP restore a.kcb
              done_with
            done
            printf new >new; chmod 600 new
            service Set=end
            try $KCBACKUP item update --keychain secret-service: --label 'Item 1' --set label=Other --secret file:new
            grep -c 'what was written stays' messages
            """)
        let first = "error: while the first items were written: "
        let wrong = "writing an item: the Secret Service returned an answer that its interface does not define\n"
        #expect(
            text == String(repeating: "13 " + first + wrong, count: 4)
                + "14 " + first + "the Secret Service ended while it was in use\n1\n")
    }

    @Test("What the service would ask its user about first does not count as done")
    func asksFirst() throws {
        let text = try shell.run(
            """
            service
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>/dev/null
            done_with
            service items=none CreateItem=asks
            try $KCBACKUP restore a.kcb
            done_with
            service Delete=asks
            try $KCBACKUP item delete --keychain secret-service: --label 'Item 1' --yes
            """)
        let first = "14 error: while the first items were written: "
        let asks = " an item: the Secret Service requires a prompt, and no user can answer it\n"
        #expect(text == first + "writing" + asks + first + "deleting" + asks)
    }

    @Test("A collection whose label contains a slash is backed up, without a folder of that name")
    func names() throws {
        let text = try shell.run(
            """
            service label=Passwords/Work
            mkdir folder
            $KCBACKUP create --keychain secret-service:Passwords/Work --unencrypted 2>/dev/null
            $KCBACKUP create --keychain secret-service:Passwords/Work --unencrypted folder 2>/dev/null
            $KCBACKUP create --keychain secret-service:Passwords/Work --unencrypted --to series 2>/dev/null
            ls *.kcb folder series | sed 's/[0-9]*-[0-9]*\\.kcb/DATE/; s/KC-.*/DEVICE/'
            """)
        #expect(
            text == """
                secret-service-Passwords_Work-DATE

                folder:
                secret-service-Passwords_Work-DATE

                series:
                secret-service-Passwords_Work-DEVICE

                """)
    }

    @Test(
        "Another user's bus is refused, even if its address has no path",
        .enabled(if: geteuid() == 0, "giving a socket away takes root"))
    func foreignBus() throws {
        let text = try shell.run(
            """
            printf '%s' '<busconfig><type>session</type><listen>unix:abstract=kcbackup-'$$'</listen><policy ' \
              'context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>' \
              '<allow user="*"/></policy></busconfig>' >bus.conf
            chmod 755 .; chmod 644 bus.conf
            mkfifo address
            setpriv --reuid=nobody --clear-groups dbus-daemon --config-file="$PWD/bus.conf" --nofork --print-address=3 \
              3>address & other=$!
            read -r address <address
            try env DBUS_SESSION_BUS_ADDRESS=$address $KCBACKUP inspect secret-service: | sed "s/'.*'/BUS/"
            """)
        #expect(
            text == """
                4 error: the session bus BUS belongs to user 65534, who could read what is restored

                """)
    }

    @Test("Without a keychain, an error says where the desktop keyring is")
    func firstRun() throws {
        let text = try shell.run(
            """
            service
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb 2>/dev/null
            # With the keyring at hand, it is what the commands are about.
            $KCBACKUP item list >/dev/null 2>&1 && echo listed
            printf 'name,url,username,password\\na,https://a.example/,ada,b\\n' >logins.csv
            chmod 600 logins.csv
            try $KCBACKUP import logins.csv; grep -c 'keychain secret-service:' messages
            $KCBACKUP import logins.csv --dry-run 2>&1 >/dev/null | grep -c 'keychain secret-service:'
            try $KCBACKUP undo
            done_with
            try $KCBACKUP item list; grep -c desktop messages || true
            export DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/none
            try $KCBACKUP create --unencrypted; grep -o 'the desktop keyring.*' messages
            """)
        #expect(
            text == """
                listed
                10 error: there is no keychain 'login'
                1
                1
                10 error: no earlier state of the desktop keyring is kept
                10 error: there is no keychain 'login'
                0
                10 error: there is no keychain 'login'
                the desktop keyring cannot be reached: '--keychain secret-service:' says why

                """)
    }
}
