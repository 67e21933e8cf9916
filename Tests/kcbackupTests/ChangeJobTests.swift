import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Backups after each change")
struct ChangeJobTests {
    private func home(_ lines: String...) throws -> TestHome {
        let home = try TestHome()
        for line in ["keychain create --no-passcode", "item add --service a --generate"] + lines {
            let outcome = home.run(line)
            try #require(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        return home
    }

    @Test("A run after changes is one of what has changed since the last run, and not of what was only read")
    func whenChanged() throws {
        let home = try home("schedule add x --unencrypted --to b --on-change")
        func archives() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: home.path("b")).filter { $0.hasSuffix(".kcb") }.count
        }
        for (line, count) in [
            ("item list", 1), ("create --unencrypted other.kcb", 1), ("item add --service b --generate", 2),
            ("verify b", 2), ("run x", 2),
        ] {
            #expect(home.run("run x --when-changed 0s").status == .ok)
            #expect(home.run(line).status == .ok, "\(line)")
            #expect(home.run("run x --when-changed 0s").status == .ok)
            #expect(try archives() == count, "\(line)")
        }
        let idle = home.run("run x --when-changed 0s -v")
        #expect(idle.messages.contains("nothing has changed since the last run of job 'x'"), "\(idle.messages)")
        #expect(home.run("run x --when-changed soon").status == .usage)
    }

    @Test("A change during a run is backed up by the next one, which the same call makes")
    func duringRun() throws {
        let home = try home()
        try home.write(
            "hook",
            "#!/bin/sh\n[ -e \(home.path("told")) ] && exit; touch \(home.path("told"))\n"
                + "printf '%s\\n' '{\"class\":\"genp\",\"attributes\":{\"svce\":\"b\"},\"secret\":\"s\"}' >> "
                + "\(home.path("items.jsonl"))\n", mode: 0o700)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"s"}"# + "\n")
        try home.write("p", "walnut lantern orbit\n")
        let added = home.run([
            "schedule", "add", "x", "--keychain", "file:items.jsonl", "--passphrase", "file:p", "--to", "b",
            "--on-change", "--on-success", home.path("hook"),
        ])
        #expect(added.status == .ok, "\(added.messages)")
        #expect(home.run("run x --when-changed 0s").status == .ok)
        #expect(home.run("list b").text.split(separator: "\n").count == 3, "\(home.run("list b").text)")
    }

    @Test("A job that only changes start is not too old as long as nothing has changed")
    func age() throws {
        let home = try home("schedule add x --unencrypted --to b --on-change", "run x")
        #expect(home.run("status").text.contains("ok, after each change"))
        home.pass(hours: 24 * 365)
        #expect(home.run("status --max-age 26h").status == .ok)
        #expect(home.run("item add --service b --generate").status == .ok)
        let stale = home.run("status --max-age 26h")
        #expect(stale.status == .stale && stale.messages.contains("job 'x'"), "\(stale.messages)")
        #expect(home.run("run x").status == .ok)
        home.pass(hours: 24 * 365)
        #expect(home.run("status --max-age 26h").status == .ok)
        // With a time, runs are due.
        #expect(home.run("schedule edit x --at daily").status == .ok)
        #expect(home.run("schedule list").text.contains("daily, after each change"))
        #expect(home.run("status --max-age 26h").status == .stale)
    }

    @Test("What cannot be watched, and a machine with cron alone, is refused with a hint")
    func refused() throws {
        let home = try home("schedule add y --unencrypted --to c")
        try FileManager.default.createDirectory(atPath: home.path("store"), withIntermediateDirectories: false)
        try home.write("p", "walnut lantern orbit\n")
        for line in [
            "schedule add x --home --unencrypted --to b --on-change",
            "schedule add x --keychain file:store --passphrase file:p --to b --on-change",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .usage && outcome.messages.contains("cannot watch"), "\(outcome.messages)")
            #expect(outcome.messages.contains("--at hourly --if-changed"), "\(outcome.messages)")
        }
        let other = home.run("run y --when-changed 1s")
        #expect(other.messages.contains("'kcbackup schedule edit y --on-change' lets it"), "\(other.messages)")
        try home.write("bin/crontab", "#!/bin/sh\n", mode: 0o700)
        let cron = home.run(
            ["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-change"],
            environment: ["PATH": home.path("bin")])
        #expect(cron.status == .usage && cron.messages.contains("cron alone"), "\(cron.messages)")
        let line = home.run("schedule edit y --on-change")
        #expect(line.status == .ok, "\(line.messages)")
        #expect(home.run("schedule show y --crontab").status == .usage)
    }

    @Test("Doctor examines one job alone, and names one that does not exist")
    func oneJob() throws {
        let home = try home("schedule add x --unencrypted --to b", "schedule add y --unencrypted --to c")
        try FileManager.default.removeItem(atPath: home.path("c"))
        #expect(home.run("doctor").status == .notFound && home.run("doctor y").status == .notFound)
        let fine = home.run("doctor x -v")
        #expect(fine.status == .ok && !fine.messages.contains("job 'y'"), "\(fine.messages)")
        let missing = home.run("doctor z")
        #expect(missing.messages.contains("there is no job 'z'"), "\(missing.messages)")
        #expect(home.run("doctor /srv").status == .usage)
    }

    @Test("Doctor warns of a path unit that is missing, not enabled or failed, and of a change that started no run")
    func doctor() throws {
        let home = try home("schedule add x --unencrypted --to b --on-change", "run x")
        func warnings(_ state: String) throws -> String {
            try home.write("bin/systemctl", "#!/bin/sh\necho \(state)\n", mode: 0o700)
            return home.run(["doctor", "-v"], environment: ["PATH": "\(home.path("bin")):/usr/bin:/bin"]).messages
        }
        #expect(try warnings("active").contains("no path unit of systemd starts it after a change"))
        #expect(home.run("schedule install x").status == .ok)
        #expect(try warnings("active").contains("its path unit is installed, and not enabled"))
        let units = home.home + "/.config/systemd/user"
        try FileManager.default.createDirectory(
            atPath: units + "/paths.target.wants", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: units + "/paths.target.wants/kcbackup-x.changed.path",
            withDestinationPath: units + "/kcbackup-x.changed.path")
        #expect(try warnings("failed").contains("'kcbackup-x.changed.path' has failed"))
        #expect(try !warnings("active").contains("warning"))
        #expect(home.run("item add --service b --generate").status == .ok)
        home.pass(hours: 24 * 3_650)
        #expect(try warnings("active").contains("something has changed since its last run"))
        let removed = home.run("schedule remove x")
        #expect(removed.messages.contains("disable --now kcbackup-x.changed.path' stops the path unit"))
    }
}

@Suite(
    "Backups after each change, by a real service manager", .waitsForPrograms,
    .enabled(
        if: geteuid() == 0 && Path.isFile("/usr/lib/systemd/systemd"), "systemd is not installed, or needs root"))
struct ServiceManagerTests {
    @Test("A burst of changes makes one archive, a file put in place of another one, and reading makes none")
    func pathUnit() throws {
        let folder = try TemporaryFolder()
        let script = """
            set -e
            mount -t tmpfs none /run
            mkdir -p /run/systemd/system /run/user/0; chmod 700 /run/user/0
            export XDG_RUNTIME_DIR=/run/user/0 HOME=$PWD
            kc() { "$0" "$@" -q; }
            /usr/lib/systemd/systemd --user >manager 2>&1 </dev/null & manager=$!
            trap 'kill $manager' EXIT
            pause() { read -r -t "$1" _ <> <(:) || :; }
            kc keychain create --no-passcode
            kc item add --service a --generate
            kc schedule add x --unencrypted --to b --on-change
            kc schedule install x >/dev/null
            sed -i 's/--when-changed 30s/--when-changed 1s/' .config/systemd/user/*.service
            for _ in $(seq 100); do [ ! -S /run/user/0/systemd/private ] || break; pause 0.1; done
            systemctl --user daemon-reload
            systemctl --user enable --now kcbackup-x.changed.path 2>/dev/null
            # Waits until the service has run, and all that it could be asked for.
            quiet() {
              local still=0
              for _ in $(seq 300); do
                case $(systemctl --user is-active kcbackup-x.changed.service) in
                  inactive) still=$((still + 1)) ;;
                  *) still=0 ;;
                esac
                [ $still -lt 8 ] || return 0
                pause 0.2
              done
            }
            count() { quiet; ls b | grep -c kcb || :; }
            echo "start $(count)"
            for name in b c d; do kc item add --service $name --generate; done
            echo "burst $(count)"
            kc item list >/dev/null; kc create --unencrypted other.kcb
            echo "read $(count)"
            file=.local/share/kcbackup/keychains/login.keychain
            cp $file old; kc item add --service e --generate; echo "added $(count)"
            cp old new; mv new $file
            echo "replaced $(count)"
            systemctl --user is-active kcbackup-x.changed.path
            systemctl --user stop kcbackup-x.changed.path
            kc item add --service f --generate
            systemctl --user start kcbackup-x.changed.path
            echo "stopped $(count)"
            """
        let outcome = try ExternalProgram.run(
            "unshare", ["-m", "--propagation", "private", "bash", "-c", script, ExternalProgram.built("kcbackup")],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], in: folder.path)
        #expect(
            outcome.text == "start 1\nburst 2\nread 2\nadded 3\nreplaced 4\nactive\nstopped 5\n",
            "\(outcome.text)\(outcome.errorText)")
    }
}
