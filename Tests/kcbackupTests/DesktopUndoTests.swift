import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs the program against a real GNOME Keyring daemon.
@Suite("Undoing and finishing restores into the desktop keyring", .waitsForPrograms, .traced)
struct DesktopUndoTests {
    private let shell: DesktopShell

    /// `change` makes a copy of the keyring, then changes all its secrets; `breakOff` puts the copy back, and breaks a
    /// restore of `a.kcb` off after it has changed some of them again.
    private static let functions = """
        change() {
          end -TERM; cp -r .local/share/keyrings old; keyring
          printf new >new; chmod 600 new
          tick
          $KCBACKUP item update --keychain secret-service: --class genp --secret file:new --set accessible=aku \\
            --no-undo --yes --passcode file:pw
        }
        breakOff() {
          end -TERM; rm -r .local/share/keyrings; mv old .local/share/keyrings; keyring
          slowly $KCBACKUP restore a.kcb --passcode file:pw 2>messages
          until secret-tool search kcbackup:accessible aku 2>/dev/null | grep -q label; do step; done
          end -KILL
          finish && return 1 || [ $? = 14 ]
          grep -q 'run the command again to finish it' messages
          keyring
        }

        """

    init() throws {
        shell = try DesktopShell(
            desktop: DesktopTests.judge.get(), preparation: Self.functions + desktopFunctions)
    }

    @Test(
        "An empty secret that was set on purpose stays, and one that a killed daemon left is filled in, if the record is genuine"
    )
    func emptySecret() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login A secret d 1
            $KCBACKUP create --unencrypted a.kcb
            tick
            $DESKTOP secret login/1 ''
            restore a.kcb
            states=.local/share/kcbackup/undo/secret-service
            $KCBACKUP restore a.kcb --on-conflict overwrite
            # The record of a restore that added the item.
            delete login/1
            $STRACE -qq -f -o /dev/null -e trace=unlink,unlinkat -e inject=unlink,unlinkat:error=EIO \\
              $KCBACKUP restore a.kcb 2>messages
            grep -o 'warning: a kept state could not be removed' messages
            record=$(echo $states/unfinished-*); cp -p $record kept
            item=$(bus org.freedesktop.Secret.Service.SearchItems "{'d': '1'}" | grep -o 'login/[0-9]*')
            for policy in keep newer; do
              $DESKTOP secret $item ''
              cp -p kept $record
              restore a.kcb --on-conflict $policy
              ls $states | grep -c unfinished || true
            done
            dump | grep -c 736563726574
            # One that this device did not write so is not used.
            $DESKTOP secret $item ''
            cp -p kept $record; echo >>$record
            restore a.kcb 2>messages
            grep -o 'warning: the record of a restore that was broken off' messages
            """)
        #expect(
            text == """
                {"create":0,"update":0,"same":0,"keep":1,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                warning: a kept state could not be removed
                {"create":1,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                0
                {"create":1,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                0
                1
                {"create":0,"update":0,"same":0,"keep":1,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                warning: the record of a restore that was broken off

                """)
    }

    @Test(
        "A restore that was broken off is finished by the next run of it, and undo goes back to the state before both")
    func finished() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 60
            dump | sort >before
            change
            dump | sort >archived
            $KCBACKUP create --unencrypted a.kcb
            breakOff
            # A restore of something else that has nothing to write leaves the first one to be finished.
            $KCBACKUP create --unencrypted --passcode file:pw half.kcb
            restore half.kcb --passcode file:pw | jq '.create + .update'
            restore a.kcb --passcode file:pw | jq '.create + .keep'
            cmp archived <(dump | sort)
            $KCBACKUP undo --keychain secret-service: --yes --quiet
            cmp before <(dump | sort)
            """)
        #expect(text == "0\n0\n")
    }

    @Test("Undo of a restore that was finished after another change takes back the finishing alone")
    func changedBeforeFinishing() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 60
            change
            $KCBACKUP create --unencrypted a.kcb
            breakOff
            $KCBACKUP item list --keychain secret-service: --passcode file:pw >/dev/null
            $KCBACKUP item add --keychain secret-service: --service mine --account ada --secret file:pw >/dev/null
            dump | sort >before
            restore a.kcb --passcode file:pw | jq '.update > 0'
            $KCBACKUP undo --keychain secret-service: --yes --quiet
            cmp before <(dump | sort)
            """)
        #expect(text == "true\n")
    }

    @Test("What a user saved after a restore was broken off is not overwritten when the restore is finished")
    func savedMeanwhile() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 60
            change
            $KCBACKUP create --unencrypted a.kcb
            breakOff
            $KCBACKUP item list --keychain secret-service: --passcode file:pw >/dev/null
            for number in 1 60; do $DESKTOP secret Collection_5f0/$number mine; done
            restore a.kcb --passcode file:pw | jq '.create, .keep'
            $DESKTOP dump | grep -c '|6d696e65$'
            """)
        #expect(text == "0\n2\n2\n")
    }

    @Test("Undo lists what it takes back, asks, and takes back what a restore added")
    func undoOfAdding() throws {
        let text = try shell.run(
            """
            keyring
            try $KCBACKUP undo --keychain secret-service:; tail -2 messages | cut -d"'" -f2
            $DESKTOP add login A a1 d 1
            $KCBACKUP create --unencrypted a.kcb
            delete login/1
            $DESKTOP add login mine m e 1
            dump >before
            $KCBACKUP restore a.kcb
            $KCBACKUP undo --keychain secret-service: --dry-run --yes
            # Without a terminal nobody can be asked.
            try $KCBACKUP undo --keychain secret-service: </dev/null | cut -c1; grep -o 'error: .*' messages
            $KCBACKUP undo --keychain secret-service: --yes 2>&1
            cmp before <(dump)
            $KCBACKUP undo --keychain secret-service: --json | jq -c '[.items, .itemsBefore, (.vanishing | length)]'
            dump | grep -c .
            # A restore that changes nothing keeps no state.
            for round in 1 2 3; do $KCBACKUP restore a.kcb --replace --yes 2>/dev/null; done
            ls .local/share/kcbackup/undo/secret-service | wc -l
            try $KCBACKUP undo x --keychain secret-service:; tail -1 messages | cut -d"'" -f2
            """)
        #expect(
            text.replacing(/[0-9-]{10} [0-9:]{8} UTC/, with: "MOMENT") == """
                10 error: no earlier state of the desktop keyring is kept
                kcbackup: hint: one is kept before each command that changes items
                kcbackup restore ARCHIVE --keychain secret-service:
                would be removed: generic password 'A'
                would take back 'restore' of MOMENT in the desktop keyring: 1 removed
                4
                error: there is no terminal to ask on: Take back 'restore' of MOMENT, and remove 1 item?
                removed: generic password 'A'
                [2,1,0]
                2
                2
                10 error: there is no such state of the desktop keyring
                kcbackup undo --list --keychain secret-service:

                """)
    }

    @Test("Undo brings back items that are in no archive, and changes only the collection that was named")
    func undo() throws {
        let text = try shell.run(
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
              $KCBACKUP undo --list --keychain secret-service:$label --json | jq -c '[.undo[].items]'
            done
            $KCBACKUP undo --keychain secret-service:Work --yes --quiet
            diff before <(dump) | grep -o '^[<>] [A-Z][a-z]*'
            $KCBACKUP undo --keychain secret-service: --yes --quiet
            # The newest state is that before the first undo.
            diff before <(dump) | grep -o '^[<>] [A-Z][a-z]*'
            try $KCBACKUP undo --keychain secret-service:none
            """)
        #expect(
            text == """
                2
                [2,2]
                [1,1]
                []
                < Login
                > Login
                < Login
                < Work
                > Login
                > Work
                10 error: no earlier state of collection 'none' of the Secret Service is kept

                """)
    }

    @Test("Undo unlocks what is locked, and a damaged state does not hide the others")
    func lockedUndo() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP make Work; $DESKTOP add Work vpn old b 1; $DESKTOP add login mail old a 1
            $KCBACKUP create --unencrypted a.kcb
            for round in 1 2; do
              $DESKTOP secret Work/1 changed$round; $KCBACKUP restore a.kcb --on-conflict overwrite
            done
            lock Work
            try $KCBACKUP undo --keychain secret-service:
            try $KCBACKUP undo --keychain secret-service: --unlock </dev/null
            try $KCBACKUP undo --list --keychain secret-service: --passcode file:pw
            try $KCBACKUP undo --keychain secret-service: --passcode file:pw --yes --quiet
            dump | grep -c 6368616e67656432
            states=.local/share/kcbackup/undo/secret-service
            printf garbage >$states/$(ls $states | head -1)
            try $KCBACKUP undo --list --keychain secret-service: --json \\
              | sed "s|'.*'|FILE|; s|state [^ ]*|state NAME|" | grep -v '^{'
            $KCBACKUP undo --list --keychain secret-service: --json 2>/dev/null \\
              | jq -c '.undo[] | has("made") and has("command")'
            printf garbage >$states/$(ls $states | tail -1)
            try $KCBACKUP undo --keychain secret-service: --yes | sed "s|'.*'|FILE|; s|state [^ ]*|state NAME|"
            grep -o 'hint: .*' messages
            """)
        #expect(
            text == """
                14 error: collection 'Work' of the Secret Service is locked
                64 error: '--unlock' needs a terminal
                64 error: '--list' and '--passcode' exclude each other
                0 
                1
                3 warning: state NAME of the desktop keyring: FILE is not a kcbackup archive
                true
                13 error: state NAME of the desktop keyring: FILE is not a kcbackup archive
                hint: 'kcbackup undo --list --keychain secret-service:' shows the others, and 'kcbackup undo STATE --keychain secret-service:' brings one of them back

                """)
    }
}
