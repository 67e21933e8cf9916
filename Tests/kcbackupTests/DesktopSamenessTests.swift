import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import kcbackup

/// Runs the program against a real GNOME Keyring daemon.
@Suite("Which items of the desktop keyring are the same")
struct DesktopSamenessTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get().program) }

    private func run(_ script: String) throws -> String {
        let outcome = try shell("set -e\n" + Self.functions + script)
        #expect(outcome.status == 0, "\(outcome.text)\n\(outcome.errorText)")
        return outcome.text
    }

    private static let functions = """
        printf pw >pw; chmod 600 pw
        # GNOME Keyring adds this schema whenever it reads its file again.
        dump() { $DESKTOP dump | sed 's/ xdg:schema=org.freedesktop.Secret.Generic//'; }
        restore() { $KCBACKUP restore "$@" --json | jq -c .plan; }
        delete() { path=/org/freedesktop/secrets/collection/$1 bus org.freedesktop.Secret.Item.Delete >/dev/null; }
        try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }

        """

    @Test("Of several items with the same attributes, a restore brings back the missing one and leaves the others")
    func sameAttributes() throws {
        let text = try run(
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
                {"create":3,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":3}
                ["D"]

                """)
    }

    @Test("Two collections with the same label come back once, however often they are restored")
    func sameLabel() throws {
        let text = try run(
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

    @Test("Undo brings back items that are in no archive, and changes only the collection that was named")
    func undo() throws {
        let text = try run(
            """
            keyring
            $DESKTOP make Work
            $DESKTOP add login mail old a 1; $DESKTOP add Work vpn old b 1
            $KCBACKUP create --unencrypted a.kcb
            $KCBACKUP item update --keychain secret-service: --label vpn --set accessible=akpu
            for item in login/1 Work/1; do $DESKTOP secret $item precious; done
            dump >before
            $KCBACKUP restore a.kcb --on-conflict overwrite
            dump | grep -c 6f6c64
            for label in '' Work none; do
              $KCBACKUP restore --list-undo --keychain secret-service:$label --json | jq -c '[.undo[].items]'
            done
            $KCBACKUP restore --undo --keychain secret-service:Work
            diff before <(dump) | grep -o '^[<>] [A-Z][a-z]*'
            $KCBACKUP restore --undo --keychain secret-service:
            # The newest state is that before the first undo.
            diff before <(dump) | grep -o '^[<>] [A-Z][a-z]*'
            try $KCBACKUP restore --undo --keychain secret-service:none
            """)
        #expect(
            text == """
                2
                [2]
                [1]
                []
                < Login
                > Login
                < Login
                < Work
                > Login
                > Work
                10 error: there is no such state of keychain 'secret-service:none'

                """)
    }

    @Test("Undo unlocks what is locked, and a damaged state does not hide the others")
    func lockedUndo() throws {
        let text = try run(
            """
            keyring
            $DESKTOP make Work; $DESKTOP add Work vpn old b 1; $DESKTOP add login mail old a 1
            $KCBACKUP create --unencrypted a.kcb
            for round in 1 2; do
              $DESKTOP secret Work/1 changed$round; $KCBACKUP restore a.kcb --on-conflict overwrite
            done
            lock Work
            try $KCBACKUP restore --undo --keychain secret-service:
            try $KCBACKUP restore --undo --keychain secret-service: --unlock </dev/null
            try $KCBACKUP restore --list-undo --keychain secret-service: --passcode file:pw
            try $KCBACKUP restore --undo --keychain secret-service: --passcode file:pw
            dump | grep -c 6368616e67656432
            states=.local/share/kcbackup/undo/secret-service
            printf garbage >$states/$(ls $states | head -1)
            try $KCBACKUP restore --list-undo --keychain secret-service: --json | sed "s|'.*'|FILE|" | grep -v '^{'
            $KCBACKUP restore --list-undo --keychain secret-service: --json 2>/dev/null | jq '.undo | length'
            """)
        #expect(
            text == """
                14 error: collection 'Work' of the Secret Service is locked
                64 error: '--unlock' needs a terminal
                64 error: '--list-undo' and '--passcode' exclude each other
                0 
                1
                3 warning: FILE is not a kcbackup archive
                2

                """)
    }

    @Test("A backup of an unchanged keyring is skipped, and one of a changed keyring is not")
    func unchanged() throws {
        let text = try run(
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

    @Test("An open item with hashes as attributes is named, and never written")
    func hashes() throws {
        let text = try run(
            """
            keyring
            printf s | secret-tool store --label=good service good
            printf s | secret-tool store --label=odd gkr:compat:hashed:x 1
            try $KCBACKUP create --unencrypted a.kcb
            printf '%s\\n' '{"class":"genp","attributes":{"svce":"s8"},"extra":{"gkr:compat:hashed:y":"1","token":"x\\u0000y"},"secret":"s"}' >h.jsonl
            chmod 600 h.jsonl
            $KCBACKUP create --keychain file:h.jsonl --passphrase file:pw h.kcb 2>/dev/null
            $KCBACKUP restore h.kcb --passphrase file:pw --keychain secret-service: --json | jq -c '.unmapped[].notSetExtra'
            dump | grep -c hashed:y || true
            """)
        #expect(
            text == """
                3 warning: not in the archive, since its attributes are hashes: 'odd' in collection 'Login'
                ["gkr:compat:hashed:y","token"]
                0

                """)
    }

    @Test("Kept states are in order, even within a second and after the clock was set back")
    func names() throws {
        let now = try #require(Timestamp(microseconds: 1_700_000_000_000_000))
        var names: [DesktopStateName] = []
        for _ in 0..<12 { names.append(DesktopStateName(at: now, after: names.last)) }
        names.append(DesktopStateName(at: now.advanced(byMicroseconds: -5_000_000), after: names.last))
        names.append(DesktopStateName(at: now.advanced(byMicroseconds: 5_000_000), after: names.last))
        #expect(names.map(\.file).compactMap { DesktopStateName(file: $0) }.shuffled().sorted() == names)
        #expect(Set(names.map(\.file)).count == names.count)
        #expect(names[1].file == "20231114T221320Z-2.kcb")
        #expect(DesktopStateName(file: "x.kcb") == nil)
        #expect(DesktopStateName(file: "20231114T221320Z-0.kcb") == nil)
    }
}
