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

    @Test("A backup without a locked collection is incomplete, but not refused as a loss; status shows the keyring")
    func skipped() throws {
        let outcome = try DesktopShell(desktop: DesktopTests.judge.get().program)(
            """
            set -e
            keyring
            $DESKTOP fill 1 10
            back() { local status=0; $KCBACKUP create --keychain secret-service: --unencrypted --to backups "$@" 2>messages || status=$?; echo $status; }
            back
            lock Collection_5f0
            back --skip-locked
            cat messages
            $KCBACKUP schedule add desk --keychain secret-service: --unencrypted --to backups --skip-locked >/dev/null
            $KCBACKUP run desk 2>/dev/null || echo $?
            $KCBACKUP status --json | jq -c '.jobs[].message, (.backupsOf[] | [.keychain, .archives, .inJobs])'
            printf pw >pw; chmod 600 pw
            # A loss since the last complete backup is noticed, although the one in between had fewer items.
            $KCBACKUP inspect secret-service: --passcode file:pw >/dev/null
            for item in $(path=/org/freedesktop/secrets/collection/Collection_5f0 \
              bus org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Items |
              grep -o "/org[^']*" | tail -6); do
              path=$item bus org.freedesktop.Secret.Item.Delete >/dev/null
            done
            back
            """)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(
            outcome.text == """
                0
                3
                kcbackup: warning: collection 'Collection 0' is locked: its 11 items are not in the archive
                3
                "collection 'Collection 0' is locked, and in no new archive"
                ["secret-service:",1,["desk"]]
                15

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
