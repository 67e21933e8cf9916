import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon.
@Suite("The desktop keyring", .waitsForPrograms)
struct DesktopTests {
    /// `Desktop/desktop.c`, compiled once.
    static let judge = Result { () throws -> String in
        let program = try TemporaryFolder.untilExit().path("desktop")
        let made = try ExternalProgram.run(
            "bash",
            [
                "-c",
                "cc -o '\(program)' '\(Project.path("Tests/kcbackupTests/Desktop/desktop.c"))' "
                    + "$(pkg-config --cflags --libs libsecret-1)",
            ])
        try #require(made.status == 0, "\(made.errorText)")
        return program
    }

    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: Self.judge.get(), preparation: "keys") }

    /// The number of items: few by default, because GNOME Keyring searches all of them for each request.
    private static let size = Int(ProcessInfo.processInfo.environment["DESKTOP_ITEMS"] ?? "") ?? 150

    @Test("Items in many collections are restored exactly, even if the daemon dies meanwhile", .traced)
    func everyItem() throws {
        let counts = try shell.run(
            """
            keyring
            $DESKTOP fill 30 \(Self.size)
            $DESKTOP dump >before
            # A daemon that is killed while it is read.
            slowly $KCBACKUP create --keychain secret-service: -r "$key" broken.kcb 2>broken
            step; step; step
            end -KILL
            finish && exit 1 || [ $? = 14 ]
            [ ! -e broken.kcb ]
            grep -q 'ended while it was in use' broken
            keyring
            $KCBACKUP create --keychain secret-service: --passcode file:pw -r "$key" all.kcb
            end
            # Another home folder, another daemon, which dies once: the restore is run again.
            rm -r .local/share/keyrings
            keyring
            slowly $KCBACKUP restore all.kcb -i key.txt --passcode file:pw 2>broken
            until ls .local/share/keyrings | grep -q Collection_20; do step; done
            end -KILL
            finish && exit 1 || [ $? = 14 ]
            grep -q 'after some items were written: the Secret Service ended' broken
            grep -q 'run the command again to finish it' broken
            keyring
            $KCBACKUP restore all.kcb -i key.txt --passcode file:pw
            $DESKTOP dump >after
            cmp before after
            wc -l <after
            secret-tool lookup service host0.example.org | od -An -tx1
            $KCBACKUP restore all.kcb -i key.txt --json | jq -c .plan
            """)
        let lines = counts.split(separator: "\n")
        // Every 17th item exists twice.
        let count = (0..<Self.size).count + (0..<Self.size).count { $0 % 17 == 3 }
        #expect(lines.first == "\(count)")
        #expect(lines.last?.contains(#""create":0,"update":0,"same":\#(count)"#) == true)
    }

    @Test("A locked collection is refused or reported as left out, never read as if it were empty")
    func locked() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 2 10
            lock Collection_5f0
            run() { local status=0; "$@" 2>messages || status=$?; echo "$status $(grep -c . messages) $(ls *.kcb 2>/dev/null)"; }
            run $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            run $KCBACKUP create --keychain secret-service: --skip-locked -r "$key" b.kcb
            cat messages
            $KCBACKUP inspect b.kcb -i key.txt --json | jq -c .contents.complete
            run $KCBACKUP export --archive b.kcb -i key.txt --to csv --plaintext -o b.csv
            grep -o '5 items are not in the archive: .*' messages
            run $KCBACKUP export --archive b.kcb -i key.txt --to csv --plaintext --require-all -o c.csv
            run $KCBACKUP create --keychain "secret-service:Collection 0" --unencrypted c.kcb
            printf wrong >pw; chmod 600 pw
            run $KCBACKUP create --keychain secret-service: --passcode file:pw -r "$key" c.kcb
            # Never unlocked since the daemon started: there are only hashes of attributes.
            end
            gnome-keyring-daemon --foreground --components=secrets >/dev/null 2>&1 & daemon=$!
            gdbus wait --session --timeout 60 org.freedesktop.secrets
            run $KCBACKUP create --keychain secret-service: -r "$key" c.kcb
            run $KCBACKUP create --keychain secret-service: --skip-locked -r "$key" d.kcb
            $KCBACKUP inspect d.kcb -i key.txt | grep -c gkr: || true
            """)
        #expect(
            text == """
                14 5 \("")
                3 1 b.kcb
                kcbackup: warning: collection 'Collection 0' is locked: its 5 items are not in the archive
                false
                3 8 b.kcb
                5 items are not in the archive: left out, or not readable, when it was made
                4 9 b.kcb
                14 5 b.kcb
                12 1 b.kcb
                14 5 b.kcb
                3 3 b.kcb
                d.kcb
                0

                """)
    }

    @Test("Without a keychain, the first backup is of the keyring, and a cron job finds the bus set up by systemd")
    func cron() throws {
        let text = try shell.run(
            """
            # As systemd does it: the address follows from the folder.
            dbus-daemon --session --nofork --address="unix:path=$XDG_RUNTIME_DIR/bus" & system=$!
            until [ -S "$XDG_RUNTIME_DIR/bus" ]; do :; done
            export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
            keyring
            $DESKTOP fill 1 3
            rm -rf .local/share/kcbackup
            env -i HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$KCBACKUP" create -r "$key" -v </dev/null 2>&1 |
              sed 's/KC-[A-Z0-9-]*/KC-…/; s/[0-9]*-[0-9]*\\.kcb/DATE.kcb/; s/, [0-9.]* KiB//'
            env -i HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$KCBACKUP" create -r "$key" </dev/null
            # After logout the bus is gone.
            end
            kill $system; wait $system || true
            rm -f "$XDG_RUNTIME_DIR/bus"
            status=0
            env -i HOME="$HOME" "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" "$KCBACKUP" create --keychain secret-service: \
              -r "$key" </dev/null 2>messages || status=$?
            echo $status; head -1 messages | cut -c1-79
            status=0
            env -i HOME="$HOME" "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" "$KCBACKUP" restore "$(ls *.kcb | head -1)" \
              -i key.txt </dev/null 2>messages || status=$?
            echo $status; grep 'restores into a keychain' messages
            """)
        #expect(
            text == """
                there is no kcbackup keychain here: this backs up the desktop keyring (--keychain secret-service:)
                this device is now KC-…; keep a copy of its key: 'kcbackup device export -o FILE.age'
                secret-service-DATE.kcb: 3 items of the desktop keyring
                all of it restores on any device that has the key
                14
                kcbackup: error: there is no session bus: no user is logged in to a desktop (lo
                14
                kcbackup: hint: '--keychain NAME' restores into a keychain of kcbackup

                """)
    }

    @Test("Each reason why no Secret Service is available has its own message")
    func absent() throws {
        let text = try shell.run(
            """
            try() { local status=0; "$@" create --keychain secret-service: -r "$key" x.kcb 2>messages || status=$?
              echo "$status $(grep -m 1 kcbackup: messages | sed "s#$HOME#~#g" | cut -c18-66)"; }
            try env DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/none $KCBACKUP
            mkfifo pipe
            try env DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/pipe $KCBACKUP
            printf '%s' '<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>' \
              '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>' >bus.conf
            try dbus-run-session --config-file=bus.conf -- $KCBACKUP
            try env -u DBUS_SESSION_BUS_ADDRESS $KCBACKUP
            status=0; $KCBACKUP keychain info --keychain secret-service: 2>messages || status=$?; echo $status
            ls *.kcb 2>/dev/null || true
            """)
        #expect(
            text == """
                14 the session bus at 'unix:path=~/none' cannot be r
                4 '~/pipe' should be the socket of the session bus,
                14 no Secret Service runs on the session bus, and no
                14 there is no session bus: no user is logged in to 
                64

                """)
    }

    @Test("Only items that are deleted during a backup are missing from it", .traced)
    func deleted() throws {
        _ = try shell.run(
            """
            keyring
            $DESKTOP fill 1 300
            export path=/org/freedesktop/secrets/collection/Collection_5f0
            slowly $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            step; step; step
            for item in $(bus org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Items |
              grep -o "/org[^']*" | tail -8); do
              path=$item bus org.freedesktop.Secret.Item.Delete >/dev/null
            done
            finish
            $KCBACKUP verify a.kcb -i key.txt
            count=$($KCBACKUP inspect a.kcb -i key.txt --json | jq '.items | length')
            [ "$count" = $($DESKTOP count) ]
            """)
    }

    @Test("Keychain items are restored into the keyring and back, and what the keyring cannot store is reported")
    func fromKeychain() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 6
            $KCBACKUP keychain create work --no-passcode 2>/dev/null
            head -c 1048576 /dev/urandom >secret
            { printf '{"class":"genp","attributes":{"svce":"Big","acct":"ada","labl":"\\\\u001b[31mred","icmt":"mine"},"secret":{"base64":"'
              base64 -w0 secret; printf '"}}\\n'
              printf '{"class":"inet","attributes":{"srvr":"mail.example.org","acct":"ada","ptcl":1768776048,"pdmn":"aku"},"secret":"x"}\\n'
              printf '{"class":"cert","attributes":{"ctyp":3,"issr":{"base64":"AA=="},"slnr":{"base64":"AQ=="}},"secret":"der"}\\n'
            } >items.jsonl
            chmod 600 items.jsonl
            $KCBACKUP import items.jsonl --into work
            $KCBACKUP create --keychain work --unencrypted work.kcb
            status=0; $KCBACKUP restore work.kcb --keychain "secret-service:Collection 0" --give-up-device-binding \\
              >report --json || status=$?
            echo $status; jq -c '.plan, [.unmapped[].notSet], [.failing[].problem]' report
            secret-tool lookup service Big account ada | cmp - secret
            secret-tool search --all server mail.example.org 2>&1 | grep -E 'attribute|schema' | sort
            # Back into a keychain, and from there into a keyring that is empty.
            $DESKTOP dump >before
            $KCBACKUP create --keychain secret-service: --unencrypted all.kcb
            $KCBACKUP restore all.kcb --keychain copy --yes 2>/dev/null || $KCBACKUP restore all.kcb --keychain copy
            $KCBACKUP create --keychain copy -r "$key" copy.kcb
            end; rm -r .local/share/keyrings; keyring
            $KCBACKUP restore copy.kcb -i key.txt --keychain secret-service: --passcode file:pw --give-up-device-binding
            $DESKTOP dump >after
            cmp before after
            $KCBACKUP inspect copy.kcb -i key.txt --json | jq -r '.items[] | select(.class=="inet") | .attributes.pdmn' | sort -u
            """)
        #expect(
            text == """
                3
                {"create":2,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":1,"not-selected":0,"remove":0}
                [["cdat","icmt","mdat"],["cdat","mdat"]]
                ["no-place"]
                attribute.kcbackup:accessible = aku
                attribute.protocol = imap
                attribute.server = mail.example.org
                attribute.user = ada
                schema = org.gnome.keyring.NetworkPassword
                ak
                aku

                """)
    }

    @Test("A restore resolves conflicts, and undo brings back the previous state")
    func undo() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 5
            $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            secret-tool search --all service host0.example.org 2>&1 | grep '^label' | cat -A
            printf new | secret-tool store --label=New \
              --collection=/org/freedesktop/secrets/collection/Collection_5f0 service host4.example.org user ada xdg:schema org.example.Thing
            $DESKTOP dump >changed
            $KCBACKUP restore a.kcb -i key.txt --json --dry-run | jq -c .plan
            $KCBACKUP restore a.kcb -i key.txt --on-conflict overwrite
            $KCBACKUP undo --list --keychain secret-service: --json | jq '.undo | length'
            ! cmp -s changed <($DESKTOP dump)
            $KCBACKUP undo --keychain secret-service: --yes --quiet
            cmp changed <($DESKTOP dump)
            printf more | secret-tool store --label=More service more
            $KCBACKUP restore a.kcb -i key.txt --replace --yes --json | jq -c .plan
            secret-tool lookup service more || echo gone
            $KCBACKUP restore a.kcb -i key.txt host3 --json | jq -c .plan
            """)
        #expect(
            text == """
                label = Item^I0$
                {"create":0,"update":0,"same":5,"keep":1,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                1
                {"create":0,"update":1,"same":5,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":1}
                gone
                {"create":0,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":4,"remove":0}

                """)
    }

    @Test("A keyring and its file are the same for diff, whatever schemas the items have")
    func schemas() throws {
        let text = try shell.run(
            """
            keyring
            store() { printf s | secret-tool store --label="Item $((++count))" "$@"; }
            count=0
            store xdg:schema org.gnome.keyring.NetworkPassword server h user u port 22 protocol smb
            store xdg:schema org.git.Password server h user u protocol https
            store xdg:schema org.epiphany.FormPassword uri https://a@example.org/x username u
            store xdg:schema org.freedesktop.NetworkManager.Connection connection-uuid 1 setting-name wifi setting-key psk
            store xdg:schema org.gnome.Evolution.Data.Source e-source-uid 7
            store xdg:schema org.gnome.OnlineAccounts goa-identity g
            store xdg:schema chrome_libsecret_os_crypt_password_v2 application chrome
            store xdg:schema org.gnome.keyring.Note note 1
            store unique ssh-store:/home/ada/.ssh/id
            store service s username u kcbackup:accessible ck
            $DESKTOP add login bare s n 1
            $KCBACKUP create --keychain secret-service: -r "$key" service.kcb
            end -TERM
            $KCBACKUP create --keychain file:.local/share/keyrings/login.keyring --password file:pw -r "$key" file.kcb
            $KCBACKUP diff service.kcb file.kcb -i key.txt
            # The daemon adds its schema to the bare item when it reads the file.
            keyring
            $KCBACKUP diff service.kcb --keychain secret-service: -i key.txt
            """)
        #expect(text == "11 the same\n11 the same\n")
    }

    @Test("A backup of a keyring file changes nothing when restored into the running daemon")
    func fileOfKeyring() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 20
            # Several items with the same attributes, more than the file keeps in order.
            for n in 1 2 3 4 5 6 7 8 9; do $DESKTOP add Collection_5f0 same secret$n d 1; done
            printf plain | secret-tool store --label=Plain service plain
            $DESKTOP dump >before
            # The first backup makes the device key.
            $KCBACKUP create --keychain secret-service: --unencrypted first.kcb
            file=$(echo .local/share/keyrings/Collection_0.keyring)
            $KCBACKUP create --keychain "file:$file" --password file:pw -r "$key" file.kcb
            $KCBACKUP restore file.kcb -i key.txt --keychain secret-service: --json | jq -c .plan
            cmp before <($DESKTOP dump)
            $KCBACKUP diff file.kcb --keychain "secret-service:Collection 0" -i key.txt --json |
              jq -c '[.added, .removed, [.changed[] | select(.secret == "changed")]] | map(length)'
            """)
        #expect(
            text == """
                {"create":0,"update":0,"same":30,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [0,0,0]

                """)
    }
}
