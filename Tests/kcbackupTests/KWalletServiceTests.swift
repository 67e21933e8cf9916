import Foundation
import KCTestSupport
import Testing

/// Runs the program against the Secret Service of a real KWallet, which is opened as at login.
@Suite("The desktop keyring in KWallet", .waitsForPrograms)
struct KWalletServiceTests {
    private static let isWanted =
        ExternalProgram.locate("kwalletd5") != nil && ProcessInfo.processInfo.environment["DESKTOP_ITEMS"] != nil

    private static let functions = """
        export QT_QPA_PLATFORM=offscreen
        trap 'end -KILL' EXIT
        mkdir -p .config
        settings() {
          printf '%s\\n' '[Wallet]' Enabled=true 'First Use=false' "Prompt on Open=$1" 'Default Wallet=kdewallet' \\
            '[org.freedesktop.secrets]' apiEnabled=true >.config/kwalletrc
        }
        settings false
        path=/org/freedesktop/secrets/collection/kdewallet
        started() {
          gdbus wait --session --timeout 60 org.freedesktop.secrets
          until [ -e .local/share/kwalletd/kdewallet.kwl ] && kwallet isOpen kdewallet | grep -q "$1"; do
            kill -0 $daemon
          done
        }
        login() {
          /usr/bin/python3 '\(Project.path("Tests/kcbackupTests/Desktop/kwallet.py"))' pw >kwallet.log 2>&1 & daemon=$!
          started true
        }
        kwallet() {
          local method=$1; shift
          gdbus call --session -d org.kde.kwalletd5 -o /modules/kwalletd5 -m "org.kde.KWallet.$method" "$@"
        }
        # It writes its file seconds after a change, or when it is closed.
        logout() { kwallet closeAllWallets >/dev/null; end -TERM; }
        # The service lists the wallets that there are when it starts.
        login; logout; login
        keys

        """

    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get(), preparation: Self.functions) }

    @Test(
        "Items moved from GNOME Keyring to KWallet are unchanged, even after a new login or a second restore",
        .enabled(if: isWanted, "'make desktop' runs it, with KWallet"))
    func moved() throws {
        let text = try shell.run(
            """
            logout
            keyring
            $DESKTOP fill 1 40
            plain() { sed 's#application/octet-stream#text/plain#' | sort; }
            $DESKTOP dump | sed 's/^Collection 0/kdewallet/' | plain >before
            $KCBACKUP create --keychain secret-service: -r "$key" gnome.kcb
            end
            login
            restore() { $KCBACKUP restore "$1" -i key.txt --keychain secret-service:kdewallet --json | jq -c .plan; }
            restore gnome.kcb
            restore gnome.kcb
            cmp before <($DESKTOP dump | plain)
            $KCBACKUP create --keychain secret-service: -r "$key" kde.kcb
            logout
            login
            $KCBACKUP diff kde.kcb --keychain secret-service: -i key.txt
            cmp before <($DESKTOP dump | plain)
            secret-tool clear service host3.example.org
            restore kde.kcb
            cmp before <($DESKTOP dump | plain)
            $KCBACKUP item list --keychain secret-service: --service host3.example.org --json | jq '.items | length'
            """)
        let lines = text.split(separator: "\n").map { $0.prefix { $0 != "k" } }
        #expect(
            lines == [
                #"{"create":43,"update":0,"same":0,""#, #"{"create":0,"update":0,"same":43,""#, "43 the same",
                #"{"create":2,"update":0,"same":41,""#, "2",
            ])
    }

    @Test(
        "Passwords of KDE programs are restored and changed in place, even after others were deleted",
        .enabled(if: isWanted, "'make desktop' runs it, with KWallet"))
    func native() throws {
        let text = try shell.run(
            """
            # Names without attributes: nothing but the label tells them apart.
            handle=$(kwallet open kdewallet 0 test | grep -o '[0-9]*')
            kwallet createFolder "$handle" Passwords test >/dev/null
            for name in one two three; do
              kwallet writePassword "$handle" Passwords $name "secret of $name" test >/dev/null
            done
            read() { kwallet readPassword "$handle" Passwords $1 test; }
            $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            $KCBACKUP item list --keychain secret-service: --json | jq -c '[.items[].attributes.labl] | sort'
            kwallet removeEntry "$handle" Passwords one test >/dev/null
            $KCBACKUP restore a.kcb -i key.txt --on-conflict overwrite --json | jq -c .plan
            for name in one two three; do read $name; done
            printf other >other; chmod 600 other
            $KCBACKUP item update --keychain secret-service: --label Passwords/two --secret file:other
            read two
            $KCBACKUP item update --keychain secret-service: --label Passwords/two --set label=Passwords/four
            read four
            $KCBACKUP item list --keychain secret-service: --json | jq -c '[.items[].attributes.labl] | sort'
            """)
        #expect(
            text == """
                ["Passwords/one","Passwords/three","Passwords/two"]
                {"create":1,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                ('secret of one',)
                ('secret of two',)
                ('secret of three',)
                ('other',)
                ('other',)
                ["Passwords/four","Passwords/one","Passwords/three"]

                """)
    }

    @Test(
        "Labels that KWallet reads as folders or numbers, and secrets that are not text, are restored exactly",
        .enabled(if: isWanted, "'make desktop' runs it, with KWallet"))
    func labels() throws {
        let text = try shell.run(
            """
            number=0
            for label in /b b/ x__3_ __7_ '' a/b/c 'Secret Service/q' 'Secret Service/' é/ü // same same; do
              number=$((number + 1))
              jq -nc --arg l "$label" --arg s "s$number" '{class:"genp",attributes:{svce:$s,labl:$l},secret:("of "+$l)}'
            done >items.jsonl
            for secret in 77u/YWJj /wA= AGE= ''; do
              echo '{"class":"genp","attributes":{"svce":"'$secret'"},"secret":{"base64":"'$secret'"}}' >>items.jsonl
            done
            chmod 600 items.jsonl
            $KCBACKUP create --keychain file:items.jsonl -r "$key" items.kcb
            for round in 1 2; do
              $KCBACKUP restore items.kcb -i key.txt --keychain secret-service: --json | jq -c .plan
            done
            """)
        let plans = text.split(separator: "\n").map { $0.prefix { $0 != "k" } }
        #expect(plans == [#"{"create":16,"update":0,"same":0,""#, #"{"create":0,"update":0,"same":16,""#])
    }

    @Test(
        "A closed wallet is refused or reported as left out, and one opened at login needs no terminal",
        .enabled(if: isWanted, "'make desktop' runs it, with KWallet"))
    func locked() throws {
        let text = try shell.run(
            """
            try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }
            printf secret | secret-tool store --label=One service one
            try $KCBACKUP create --keychain secret-service: -r "$key" open.kcb
            logout
            login
            # Only to be had with a question that nobody could answer here.
            settings true
            try $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            logout
            settings false
            kwalletd5 >kwallet.log 2>&1 & daemon=$!
            started false
            try $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            try $KCBACKUP create --keychain secret-service: --passcode file:pw -r "$key" a.kcb
            try $KCBACKUP restore open.kcb -i key.txt --keychain secret-service:New --passcode file:pw
            try $KCBACKUP create --keychain secret-service: --skip-locked -r "$key" b.kcb
            ls *.kcb
            """)
        #expect(
            text == """
                0 \("")
                14 error: collection 'kdewallet' of the Secret Service is locked
                14 error: collection 'kdewallet' of the Secret Service is locked
                14 error: this Secret Service accepts passwords only in its own prompt
                14 error: this Secret Service accepts passwords only in its own prompt
                3 warning: collection 'kdewallet' is locked: its item is not in the archive
                b.kcb
                open.kcb

                """)
    }
}
