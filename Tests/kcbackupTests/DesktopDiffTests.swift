import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon.
@Suite("What diff says about the desktop keyring", .waitsForPrograms)
struct DesktopDiffTests {
    private let shell: DesktopShell

    init() throws {
        shell = try DesktopShell(
            desktop: DesktopTests.judge.get(),
            preparation: desktopFunctions + """

                changes() { $KCBACKUP diff "$@" --keychain secret-service: --json |
                  jq -c '[(.added, .removed | length), (.changed | map(.attributes)), .same]'; }

                """)
    }

    @Test("After a restore, diff finds nothing changed, whatever dates the keyring has set")
    func afterRestore() throws {
        let text = try shell.run(
            """
            keyring
            for label in A B; do $DESKTOP add login $label secret$label d 1; done
            $DESKTOP add login C secretC e 2
            $KCBACKUP create --unencrypted a.kcb
            tick
            delete login/1
            $DESKTOP secret login/3 changed
            changes a.kcb
            restore a.kcb --on-conflict overwrite
            changes a.kcb
            restore a.kcb --on-conflict overwrite
            """)
        #expect(
            text == """
                [0,1,[[]],1]
                {"create":1,"update":1,"same":1,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [0,0,[],3]
                {"create":0,"update":0,"same":3,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}

                """)
    }

    @Test("After a restore of a keychain's archive into the keyring, diff finds its items there")
    func ofKeychain() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login other secret d 1
            $KCBACKUP keychain create mid --no-passcode 2>/dev/null
            add() { echo "$1" | $KCBACKUP item add --keychain mid --service mail --account $1 --secret fd:0 >/dev/null; }
            add ada; add bob
            $KCBACKUP create --keychain mid --unencrypted m.kcb
            restore m.kcb --keychain secret-service:
            changes m.kcb
            """)
        #expect(
            text == """
                {"create":2,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [1,0,[],2]

                """)
    }

    @Test("Items of the keyring that swapped their labels come back at once")
    func swapped() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login A secretA d 1
            $DESKTOP add login B secretB d 2
            $KCBACKUP create --unencrypted a.kcb
            dump >before
            label() { $KCBACKUP item update --keychain secret-service: --label $1 --set label=$2 --yes >/dev/null; }
            label A T; label B A; label T B
            restore a.kcb --on-conflict overwrite
            cmp before <(dump)
            changes a.kcb
            restore a.kcb --on-conflict overwrite
            """)
        #expect(
            text == """
                {"create":0,"update":2,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [0,0,[],2]
                {"create":0,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}

                """)
    }
}
