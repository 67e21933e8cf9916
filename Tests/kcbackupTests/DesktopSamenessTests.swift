import Foundation
import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon.
@Suite("Which items of the desktop keyring are the same", .waitsForPrograms)
struct DesktopSamenessTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get(), preparation: desktopFunctions) }

    @Test("Of several items with the same attributes, a restore brings back the missing one and leaves the others")
    func sameAttributes() throws {
        let text = try shell.run(
            """
            keyring
            for label in A B C; do $DESKTOP add login $label secret$label d 1; done
            $DESKTOP secret login/1 changed
            dump >before
            $KCBACKUP create --unencrypted a.kcb
            delete login/1
            restore a.kcb
            cmp before <(dump)
            restore a.kcb
            delete login/2
            $DESKTOP add login D secretD d 1
            $KCBACKUP restore a.kcb --replace --yes --json | jq -c '.plan, [.vanishing[].attributes.labl]'
            cmp before <(dump)
            """)
        #expect(
            text == """
                {"create":1,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":3,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":1,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":1}
                ["D"]

                """)
    }

    @Test("A keychain between two keyrings loses none of the items with the same attributes")
    func byWayOfKeychain() throws {
        let text = try shell.run(
            """
            keyring
            $KCBACKUP keychain create mid --no-passcode 2>/dev/null
            pass() {
              $KCBACKUP create --keychain secret-service: --unencrypted $1.kcb
              $KCBACKUP restore $1.kcb --keychain mid --on-conflict overwrite --json | jq -c '.plan.create'
            }
            uuids() { $KCBACKUP item list --keychain mid --json | jq -r '.items[] | "\\(.attributes.labl) \\(.uuid)"' | sort; }
            # When the daemon reads its file again, other items get its schema and count as changed.
            changes() { $KCBACKUP diff "$@" --json | jq -c '[(.added, .removed | map(.attributes.labl)),
              (.changed | map(select(.secretChange == "changed").after.attributes.labl))]'; }
            $DESKTOP add login B sB e 1; $DESKTOP add login C sC e 1
            pass 1
            uuids >before
            # A comes first by label, so that the others get other numbers; then it is deleted again, and B changes.
            $DESKTOP add login A sA e 1
            pass 2
            uuids | grep -v ^A | cmp before -
            changes 1.kcb 2.kcb
            delete login/3
            $DESKTOP secret login/1 newB
            pass 3
            uuids | grep -v ^A | cmp before -
            changes 2.kcb --keychain secret-service:
            $KCBACKUP create --keychain mid --unencrypted m.kcb
            end -TERM; rm -r .local/share/keyrings; keyring
            $KCBACKUP restore m.kcb --keychain secret-service:
            dump
            """)
        #expect(
            text == """
                2
                1
                [["A"],[],[]]
                0
                [[],["A"],["B"]]
                Login | A | e=1 | text/plain |7341
                Login | B | e=1 | text/plain |6e657742
                Login | C | e=1 | text/plain |7343

                """)
    }

    @Test("What is in no archive does not travel by way of the state for undo")
    func stateOfUndo() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login P pp svc p; $DESKTOP add login A s1 svc a
            $KCBACKUP create --unencrypted a.kcb
            $KCBACKUP item update --keychain secret-service: --label P --set accessible=akpu --no-undo >/dev/null
            $DESKTOP secret login/2 changed
            $KCBACKUP restore a.kcb --on-conflict overwrite --label A
            state=$(ls .local/share/kcbackup/undo/secret-service/*.kcb)
            $KCBACKUP keychain create mid --no-passcode 2>/dev/null
            $KCBACKUP restore "$state" --keychain mid --json | jq -c '[.plan.create, .plan."stay-behind"]'
            $KCBACKUP item list --keychain mid --json | jq -r '.items[].attributes.labl'
            $KCBACKUP export --archive "$state" --to csv --plaintext -o out.csv >/dev/null 2>&1 || true
            grep -c -e changed -e pp out.csv
            # The keyring gets it back.
            path=/org/freedesktop/secrets/collection/login/1 bus org.freedesktop.Secret.Item.Delete >/dev/null
            $KCBACKUP restore "$state" --json | jq -c '[.plan.create, .plan."stay-behind"]'
            dump
            """)
        #expect(
            text == """
                [1,1]
                A
                1
                [1,0]
                Login | A | svc=a | text/plain |7331
                Login | P | kcbackup:accessible=akpu svc=p | text/plain |7070

                """)
    }

    @Test("Two collections with the same label come back once, however often they are restored")
    func sameLabel() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP make Work; $DESKTOP make Work; $DESKTOP make Work
            # The first one is empty; the others are made again in their order, whatever that of their items is.
            for n in 1 2 3 4 5; do $DESKTOP add Work_5f1 one$n s1 a $n; $DESKTOP add Work_5f2 two$n s2 b $n; done
            dump >before
            $KCBACKUP create --unencrypted a.kcb
            end -TERM; rm -r .local/share/keyrings; keyring
            for round in 1 2; do
              restore a.kcb --passcode file:pw
              cmp before <(dump)
            done
            $KCBACKUP inspect secret-service: --json | jq -c '[.collections[] | select(.label == "Work").items]'
            # Two Unicode forms of one label are two collections, and each can be named.
            printf 'Caf\\303\\251' >nfc; printf 'Cafe\\314\\201' >nfd
            $DESKTOP make "$(cat nfc)"
            $KCBACKUP inspect "secret-service:$(cat nfd)" --json | jq -c '.collections[0].items'
            $DESKTOP make "$(cat nfd)"
            collection=$(bus org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Service Collections |
              grep -o 'Cafe[_a-z0-9]*')
            $DESKTOP add $collection x s a 1
            for form in nfc nfd; do
              $KCBACKUP inspect "secret-service:$(cat $form)" --json | jq -c '.collections[0].items'
            done
            """)
        #expect(
            text == """
                {"create":10,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":10,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [5,5]
                0
                0
                1

                """)
    }

    @Test("Of two collections with the same items, the one that was deleted comes back, and the other one stays")
    func sameContents() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP make Work; $DESKTOP make Work
            $DESKTOP add Work mail first k a; $DESKTOP add Work_5f1 mail second k a
            dump | sort >before
            $KCBACKUP create --unencrypted a.kcb
            path=/org/freedesktop/secrets/collection/Work bus org.freedesktop.Secret.Collection.Delete >/dev/null
            restore a.kcb --passcode file:pw
            cmp before <(dump | sort)
            # A locked collection could be either of them.
            lock Work
            try $KCBACKUP restore a.kcb --on-conflict overwrite
            """)
        #expect(
            text == """
                {"create":1,"update":0,"same":1,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                14 error: collection 'Work' of the Secret Service is locked

                """)
    }

    @Test("A backup of an unchanged keyring is skipped, and one of a changed keyring is not")
    func unchanged() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 5
            for round in 1 2; do
              $KCBACKUP create --unencrypted --keychain secret-service: --to d --if-changed 2>/dev/null
              ls d | grep -c kcb
            done
            $DESKTOP secret Collection_5f0/1 changed
            $KCBACKUP create --unencrypted --keychain secret-service: --to d --if-changed 2>/dev/null
            ls d | grep -c kcb
            $KCBACKUP verify d >/dev/null 2>&1
            restore "$(ls -t d/*.kcb | head -1)"
            """)
        #expect(
            text == """
                1
                1
                2
                {"create":0,"update":0,"same":6,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}

                """)
    }

    @Test("An item without a secret is named, since it gets an empty one")
    func noSecret() throws {
        let text = try shell.run(
            """
            keyring
            printf '%s\\n' '{"class":"genp","attributes":{"svce":"none"}}' '{"class":"genp","attributes":{"svce":"empty"},"secret":""}' >n.jsonl
            chmod 600 n.jsonl
            $KCBACKUP import n.jsonl --into secret-service: --dry-run 2>&1 | grep -o 'not stored.*'
            $KCBACKUP import n.jsonl --into secret-service: --json | jq -c '[.unmapped[].secretMade]'
            """)
        #expect(
            text == """
                not stored by the Secret Service: generic password 'none': that it has no secret
                [null,true]

                """)
    }

    @Test("An item with hashes as attributes is never written")
    func hashes() throws {
        let text = try shell.run(
            """
            keyring
            printf '%s\\n' '{"class":"genp","attributes":{"svce":"s8"},"extra":{"gkr:compat:hashed:y":"1","token":"x\\u0000y"},"secret":"s"}' >h.jsonl
            chmod 600 h.jsonl
            $KCBACKUP create --keychain file:h.jsonl --passphrase file:pw h.kcb 2>/dev/null
            $KCBACKUP restore h.kcb --passphrase file:pw --keychain secret-service: --json | jq -c '.unmapped[].notSetExtra'
            dump | grep -c hashed:y || true
            """)
        #expect(
            text == """
                ["gkr:compat:hashed:y","token"]
                0

                """)
    }
}

/// Functions for scripts about what a restore into the desktop keyring changes.
let desktopFunctions = """
    keys
    # GNOME Keyring adds this schema whenever it reads its file again.
    dump() { $DESKTOP dump | sed 's/ xdg:schema=org.freedesktop.Secret.Generic//'; }
    restore() { $KCBACKUP restore "$@" --json | jq -c .plan; }
    delete() { path=/org/freedesktop/secrets/collection/$1 bus org.freedesktop.Secret.Item.Delete >/dev/null; }
    # Dates have seconds.
    tick() { local now=$(date +%s); until [ $(date +%s) -gt $now ]; do :; done; }
    try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }

    """
