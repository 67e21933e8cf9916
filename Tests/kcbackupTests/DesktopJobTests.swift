import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Runs jobs with the desktop keyring, in a mount namespace of their own.
@Suite("Jobs with the desktop keyring", .waitsForPrograms)
struct DesktopJobTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get()) }

    @Test(
        "A job finds the session bus without environment variables, and doctor reports a lock or a missing libsecret",
        .enabled(if: MountNamespace.isAvailable, "mounting takes root"))
    func job() throws {
        let outcome = try shell(
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
        let text = try shell.run(
            """
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
        #expect(
            text == """
                0
                3
                kcbackup: warning: collection 'Collection 0' is locked: its 11 items are not in the archive
                3
                "collection 'Collection 0' is locked, and in no new archive"
                ["secret-service:",1,["desk"]]
                15

                """)
    }

    @Test("An item over a limit is named, and neither adds an archive to each run nor stops pruning")
    func overLimit() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login A s1 d 1
            $KCBACKUP schedule add desk --keychain secret-service: --unencrypted --to b --if-changed --keep-last 1 >/dev/null
            back() { local status=0; $KCBACKUP run desk || status=$?; echo "$status $(ls b | wc -l)"; }
            back 2>&1
            $DESKTOP add login big s svc "$(head -c 70000 /dev/zero | tr '\\0' x)"
            back 2>&1
            back 2>/dev/null
            # The incomplete archive before this one is removed, and the complete one stays.
            $DESKTOP add login B s2 d 2
            back 2>/dev/null
            $KCBACKUP list b --columns items,state | sed -n "1,3p"
            path=/org/freedesktop/secrets/collection/login/2 bus org.freedesktop.Secret.Item.Delete >/dev/null
            back
            $KCBACKUP list b --columns items,state | sed -n "1,3p"
            """)
        #expect(
            text == """
                0 1
                kcbackup: error: job 'desk': 1 item could not be read, and is in no new archive: 'big'
                3 2
                3 2
                3 2
                ITEMS  STATE
                    1  ok
                    2  incomplete
                0 2
                ITEMS  STATE
                    2  incomplete
                    2  ok

                """)
    }

    @Test("A service without collections is no keyring to back up")
    func noCollections() throws {
        let text = try shell.run(
            """
            gnome-keyring-daemon --components=secrets --foreground >"$HOME/daemon.log" 2>&1 & daemon=$!
            gdbus wait --session --timeout 60 org.freedesktop.secrets
            try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(grep -o 'the Secret Service has no collection' messages)"; }
            try $KCBACKUP create --keychain secret-service: --unencrypted e.kcb
            ls *.kcb 2>/dev/null || true
            $KCBACKUP schedule add desk --keychain secret-service: --unencrypted --to b 2>/dev/null >&2
            try $KCBACKUP run desk
            try $KCBACKUP doctor >/dev/null
            $KCBACKUP doctor 2>&1 | grep -o 'the Secret Service has no collection' | head -1
            $KCBACKUP inspect secret-service:
            """)
        #expect(
            text == """
                14 the Secret Service has no collection
                14 the Secret Service has no collection
                the Secret Service has no collection
                desktop keyring: 0 items

                """)
    }

    @Test(
        "A job with the desktop keyring runs under its own unit, which a system unit could not be",
        .enabled(if: UnitSandbox.isThere, "systemd-analyze, libseccomp and Python are needed"))
    func unit() throws {
        let text = try shell.run(
            UnitSandbox.function + """
                keyring
                printf secret | secret-tool store --label=One service one
                $KCBACKUP schedule add desk --keychain secret-service: --unencrypted --to backups -q 2>/dev/null
                service desk >desk.service
                grep Families desk.service
                bus=DBUS_SESSION_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS
                unit desk.service "$bus"
                ls backups | wc -l
                # The test itself: without sockets, the bus cannot be reached.
                sed s/AF_UNIX/none/ desk.service >closed.service
                unit closed.service "$bus" | grep -o -e 'cannot be reached' -e '^14'
                $KCBACKUP schedule show desk --system 2>&1 || echo $?
                $KCBACKUP schedule install desk --system 2>&1 || echo $?
                """)
        let refusal = """
            kcbackup: error: '--system' is not for job 'desk': a system unit has no session bus, and so no desktop keyring
            kcbackup: hint: 'kcbackup schedule install desk' installs it for its user, while they are logged in
            64

            """
        #expect(text == "RestrictAddressFamilies=AF_UNIX\n0\n1\ncannot be reached\n14\n\(refusal)\(refusal)")
    }

    @Test("A desktop keyring that no run of a job of the home has found is told by doctor, and status knows its job")
    func jobOfHome() throws {
        let text = try shell.run(
            """
            $KCBACKUP schedule add h --home --unencrypted --to b 2>/dev/null
            env -u DBUS_SESSION_BUS_ADDRESS $KCBACKUP run h 2>/dev/null || true
            keyring
            printf secret | secret-tool store --label=One service one
            $KCBACKUP doctor 2>&1 | grep -o 'no backup of the desktop keyring' || echo none
            $KCBACKUP run h 2>/dev/null || true
            $KCBACKUP doctor 2>&1 | grep -o 'no backup of the desktop keyring' || echo none
            $KCBACKUP status --json | jq -c '.backupsOf[] | [.keychain, .archives, .inJobs]'
            $KCBACKUP status -v 2>&1 | grep -o 'is in no job' || echo none
            """)
        #expect(text == "no backup of the desktop keyring\nnone\n[\"secret-service:\",1,[\"h\"]]\nnone\n")
    }

    @Test("Doctor warns of a desktop keyring that no job backs up, if it can look without starting or asking anything")
    func noJob() throws {
        let text = try shell.run(
            """
            # The commands below are about this warning, and not about what starts the job.
            doctor() { $KCBACKUP doctor 2>&1 | grep -o 'the desktop keyring is in no job' || echo none; }
            $KCBACKUP keychain create --no-passcode 2>/dev/null
            $KCBACKUP schedule add nightly --all --unencrypted --to b 2>/dev/null
            echo 'no service:'; doctor
            gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.NameHasOwner org.freedesktop.secrets
            keyring
            echo 'no items:'; doctor
            printf secret | secret-tool store --label=One service one
            echo 'an item:'; doctor
            $KCBACKUP doctor --json | jq -c '.warnings[] | select(.job == null) | .message' | grep -c 'secret-service:'
            lock login
            echo 'locked:'; doctor
            $KCBACKUP schedule add desk --keychain secret-service: --unencrypted --to c --skip-locked 2>/dev/null
            echo 'in a job:'; doctor
            rm -r .local/share/kcbackup
            $KCBACKUP create --all --unencrypted --to d 2>&1 || echo $?
            """)
        #expect(
            text == """
                no service:
                none
                (false,)
                no items:
                none
                an item:
                the desktop keyring is in no job
                1
                locked:
                the desktop keyring is in no job
                in a job:
                none
                kcbackup: error: there is no keychain to back up
                kcbackup: hint: 'kcbackup keychain create' makes the first one
                kcbackup: hint: the desktop keyring is backed up with '--keychain secret-service:' instead of '--all'
                10

                """)
    }
}
