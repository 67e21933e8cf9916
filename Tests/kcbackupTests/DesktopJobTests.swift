import Foundation
import TestSupport
import Testing

/// Runs jobs with the desktop keyring, in a mount namespace of their own.
@Suite("Jobs with the desktop keyring")
struct DesktopJobTests {
    private static let canMount: Bool = {
        do {
            return try ExternalProgram.run("unshare", ["--map-root-user", "--mount", "true"]).status == 0
        } catch {
            return false
        }
    }()

    @Test(
        "A job finds the session bus without environment variables, and doctor reports a lock or a missing libsecret",
        .enabled(if: canMount, "a namespace of mounts is needed"))
    func job() throws {
        let outcome = try DesktopShell(desktop: DesktopTests.judge.get().program)(
            """
            cat >job <<'END'
            set -e
            mount -t tmpfs none /run
            mkdir -p -m 700 /run/user/0
            address=unix:path=/run/user/0/bus
            dbus-daemon --session --nofork --address=$address 2>/dev/null & system=$!
            until [ -S /run/user/0/bus ]; do :; done
            export DBUS_SESSION_BUS_ADDRESS=$address
            keyring
            printf secret | secret-tool store --label=One service one
            cron() { local status=0; env -i HOME="$HOME" "$KCBACKUP" "$@" </dev/null 2>&1 || status=$?; echo $status; }
            cron schedule add desk --keychain secret-service: --unencrypted --to "$HOME/backups"
            cron run desk
            ls backups | wc -l
            cron doctor | grep -v 'starts it'
            echo Locked:
            end
            gnome-keyring-daemon --foreground --components=secrets >/dev/null 2>&1 & daemon=$!
            gdbus wait --session --timeout 60 org.freedesktop.secrets
            cron doctor | head -1
            cron run desk
            cron run desk -v | grep -c -e --unlock || true
            cron doctor | grep -c -e --unlock || true
            echo Without the library:
            mount --bind /dev/null "$(readlink -f "$(ldconfig -p | grep -o '/.*/libsecret-1.so.0$' | head -1)")"
            cron run desk
            cron doctor | grep -A1 "desk': libsecret,"
            ls backups | wc -l
            cron keychain list
            end
            kill $system
            END
            export -f keyring end
            unshare --map-root-user --mount bash job
            """)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(
            outcome.text == """
                0
                0
                1
                0
                Locked:
                job 'desk': collection 'Login' of the Secret Service is locked
                kcbackup: error: job 'desk': collection 'Login' of the Secret Service is locked
                14
                0
                0
                Without the library:
                kcbackup: error: job 'desk': libsecret, which talks to the desktop keyring, cannot be loaded: 'libsecret-1.so.0' is missing
                14
                job 'desk': libsecret, which talks to the desktop keyring, cannot be loaded: 'libsecret-1.so.0' is missing; its last run failed because of that
                  'apt install libsecret-1-0' installs it
                1
                0

                """)
    }

    @Test("A backup of the keychain mentions the desktop keyring once, on a terminal")
    func told() throws {
        let outcome = try DesktopShell(desktop: DesktopTests.judge.get().program)(
            """
            set -e
            keyring
            $KCBACKUP keychain create --no-passcode 2>/dev/null
            $KCBACKUP create --unencrypted -o 0.kcb
            for number in 1 2; do
              script -qec "$KCBACKUP create --unencrypted -o $number.kcb" /dev/null </dev/null | grep -c 'secret-service:' || true
            done
            """)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text == "1\n0\n")
    }
}
