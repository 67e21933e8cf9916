"""Copies on real servers, with every rclone that is named: what kcbackup promises, broken off at every step, and raced.

    python test.py KCBACKUP FOLDER RCLONE...     FOLDER is made, and removed if everything passed
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from servers import S3, SSH, TOOLS, WebDAV, clean_environment, run

OK, REFUSED, NOT_FOUND, EXISTS, IO = 0, 4, 10, 16, 74


class Failed(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failed(text)


def wait(condition, seconds=60):
    """False if it is not met in this time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Machine:
    """A home with a keychain and archives `a.kcb`, which differ between the folders `0` to `3`."""

    def __init__(self, kcbackup, folder):
        self.kcbackup, self.home = kcbackup, Path(folder)
        self.home.mkdir(parents=True)
        (self.home / "secret").write_text("s3cret")
        (self.home / "secret").chmod(0o600)
        self.environment = clean_environment(HOME=str(self.home), NO_COLOR="1")
        self.expect(OK, "keychain", "create", "--no-passcode")
        self.expect(OK, "item", "add", "--service", "Mail", "--account", "ada", "--secret", "file:secret")
        self.expect(OK, "keygen", "-o", "key")
        self.recipient = re.search("age1\\w+", (self.home / "key").read_text())[0]
        for number in range(4):
            (self.home / str(number)).mkdir()
            self.expect(OK, "create", "-r", self.recipient, "-o", f"{number}/a.kcb")

    def use(self, rclone, definitions):
        """Makes `rclone` the one that is found, with these remotes."""
        tools = self.home / "bin"
        shutil.rmtree(tools, ignore_errors=True)
        tools.mkdir()
        (tools / "rclone").symlink_to(rclone)
        config = self.home / "rclone.conf"
        config.write_text("".join(
            f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in options.items())
            for name, options in definitions.items()))
        config.chmod(0o600)
        # No other folder, or another version could be found.
        self.environment.update(PATH=str(tools), RCLONE_CONFIG=str(config))

    def start(self, *words, **environment):
        return subprocess.Popen(
            [self.kcbackup, *words], cwd=self.home, env={**self.environment, **environment}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def expect(self, status, *words, **environment):
        process = self.start(*words, **environment)
        output, messages = process.communicate(timeout=300)
        said = f"{' '.join(words)}: {process.returncode}, not {status}\n{output}{messages}"
        require(process.returncode == status, said)
        return output, messages

    def archive(self, number=0):
        return (self.home / str(number) / "a.kcb").read_bytes()


class Trial:
    """The tests of one server with one rclone."""

    def __init__(self, machine, server, rclone):
        self.machine, self.server, self.rclone = machine, server, rclone
        machine.use(rclone, {server.remote: server.definition(rclone)})

    def copy(self, status, test, number=0, **environment):
        return self.machine.expect(
            status, "copy", f"{number}/a.kcb", "--to", self.server.place_of(test), **environment)

    def require_only(self, test, content):
        files = self.server.files(test)
        require(files == {"a.kcb": content}, f"there are {({n: len(c) for n, c in files.items()})}")

    def verbs(self, test="verbs"):
        place = self.server.place_of(test)
        require(self.copy(OK, test)[0] == f"copied  {place}/a.kcb\n", "what copy says")
        require(self.copy(OK, test)[0] == f"there already  {place}/a.kcb\n", "what a second copy says")
        self.require_only(test, self.machine.archive())
        require(self.server.versions(test, "a.kcb") in (None, 1), "it was written twice")
        require("a.kcb" in self.machine.expect(OK, "list", place)[0], "list")
        require("Mail" in self.machine.expect(OK, "inspect", f"{place}/a.kcb", "-i", "key")[0], "inspect")
        self.machine.expect(OK, "verify", place, "-i", "key")
        self.machine.expect(OK, "restore", f"{place}/a.kcb", "-i", "key", "--dry-run")
        self.machine.expect(NOT_FOUND, "inspect", f"{place}/none.kcb")
        # A bucket has no folders, so none is missing.
        missing = OK if isinstance(self.server, S3) else NOT_FOUND
        self.machine.expect(missing, "list", self.server.place_of("none"))

    def taken(self):
        for number, content in enumerate([b"mine", self.machine.archive(1), self.machine.archive()[:-1] + b"\1"]):
            test = f"taken{number}"
            self.server.place(test, "a.kcb", content)
            _, messages = self.copy(EXISTS, test)
            require("was left as it is" in messages, messages)
            self.require_only(test, content)

    def wrap(self, script):
        """Puts a script in the place of rclone, which it starts."""
        program = self.machine.home / "bin/rclone"
        program.unlink()
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o700)

    def protected(self):
        """What keeps a name from being taken twice is the server, as the decision about remotes says."""
        place = self.server.place_of("protected")
        environment = {**self.machine.environment, "RCLONE_INPLACE": "true"}
        if isinstance(self.server, S3):
            sources, flags = ["0", "1"], ["--no-check-dest", "--s3-no-head", "--header", "If-None-Match: *"]
            calls = [["copy", *flags, source, place] for source in sources]
        else:
            calls = [["copyto", f"{n}/a.kcb", f"{place}/{name}"] for n, name in [(0, "a.kcb"), (1, "part")]]
            calls.append(["moveto", "--no-check-dest", "--header", "Overwrite: F", f"{place}/part", f"{place}/a.kcb"])
        statuses = [
            subprocess.run([self.rclone, *call, "--retries", "1"], cwd=self.machine.home, env=environment,
                           capture_output=True).returncode for call in calls]
        require(not any(statuses[:-1]), f"{statuses}")
        refuses = self.server.files("protected")["a.kcb"] == self.machine.archive() and statuses[-1] != 0
        numbers = [int(number) for number in re.findall("\\d+", run(self.rclone, "version"))[:2]]
        expected = not isinstance(self.server, SSH) or numbers < [1, 63]
        require(refuses == expected, f"the server {'refuses' if refuses else 'replaces'}")
        return "the server refuses" if refuses else "the server replaces; the machines see each other"

    def killed(self):
        """kcbackup is killed after each call of rclone; the next run completes the copy."""
        calls = self.machine.home / "calls"
        calls.unlink(missing_ok=True)
        self.wrap(
            f'PATH=/usr/bin:/bin\necho "$1" >>{calls}\n{self.rclone} "$@"; status=$?\n'
            f'[ "$(wc -l <{calls})" != "$RCLONE_TEST_KILL" ] || kill -9 $PPID\nexit $status\n')
        self.copy(OK, "whole")
        verbs = calls.read_text().split()
        for number in range(1, len(verbs) + 1):
            test = f"killed{number}"
            calls.unlink()
            self.copy(-signal.SIGKILL, test, RCLONE_TEST_KILL=str(number))
            require(self.server.files(test).get("a.kcb") in (None, self.machine.archive()), f"half of {test}")
            self.copy(OK, test)
            self.require_only(test, self.machine.archive())
            require(self.server.versions(test, "a.kcb") in (None, 1), "it was written twice")
        return " ".join(verbs)

    def orphans(self):
        """kcbackup is killed in an upload: its rclone ends too, and the next run completes the copy."""
        child = self.machine.home / "child"
        child.unlink(missing_ok=True)
        # The server stops, so that the upload does not end.
        self.wrap(
            f'PATH=/usr/bin:/bin\ncase $1 in copy|copyto) kill -STOP -- -{self.server.process.pid}; echo $$ >{child}.new\n'
            f'mv {child}.new {child};; esac\nexec {self.rclone} "$@"\n')
        process = self.machine.start("copy", "0/a.kcb", "--to", self.server.place_of("orphans"))
        try:
            wait(child.exists)
            rclone = Path("/proc") / child.read_text().strip()
            require(wait(lambda: b"rclone\0copy" in (rclone / "cmdline").read_bytes()), "rclone did not start")
            process.kill()
            process.communicate()
            if not wait(lambda: not rclone.exists(), 10):
                os.kill(int(rclone.name), signal.SIGKILL)
                raise Failed("rclone outlived kcbackup")
        finally:
            os.killpg(self.server.process.pid, signal.SIGCONT)
        self.machine.use(self.rclone, {self.server.remote: self.server.definition(self.rclone)})
        self.copy(OK, "orphans")
        self.require_only("orphans", self.machine.archive())

    def raced(self, rounds=int(os.environ.get("RACES", "5"))):
        """Four write different archives under one name: one wins, and what it wrote stays."""
        for number in range(rounds):
            test = f"raced{number}"
            seen, is_over = [], threading.Event()

            def watch():
                while not is_over.is_set():
                    content = self.server.files(test).get("a.kcb")
                    if content is not None and content not in seen:
                        seen.append(content)

            watcher = threading.Thread(target=watch)
            watcher.start()
            place = self.server.place_of(test)
            racers = [self.machine.start("copy", f"{n}/a.kcb", "--to", place) for n in range(4)]
            said = [racer.communicate(timeout=300) for racer in racers]
            is_over.set()
            watcher.join()
            statuses = [racer.returncode for racer in racers]
            require(sorted(statuses) == [OK, EXISTS, EXISTS, EXISTS], f"round {number}: {statuses}\n{said}")
            winner = self.machine.archive(statuses.index(OK))
            self.require_only(test, winner)
            require(all(content == winner for content in seen), f"round {number}: the bytes changed")
            require(self.server.versions(test, "a.kcb") in (None, 1), f"round {number}: it was written twice")
        return f"{rounds} rounds"

    def dead(self):
        port, self.server.port = self.server.port, 1
        self.machine.use(self.rclone, {self.server.remote: self.server.definition(self.rclone)})
        self.server.port = port
        began = time.monotonic()
        self.expect_line(IO, "dead")
        return f"{time.monotonic() - began:.1f} s"

    def expect_line(self, status, test):
        _, messages = self.copy(status, test)
        errors = [line for line in messages.splitlines() if line.startswith("kcbackup: error")]
        require(len(errors) == 1, messages)
        return errors[0]


def refusals(machine, folder, rclone):
    """Servers that refuse: wrong credentials, another host key, no room, no bucket."""
    notes = []
    ssh, dav = SSH(folder / "ssh").start(), WebDAV(folder / "dav").start()
    s3, strict = S3(folder / "s3", bucket="none").start(), S3(folder / "strict", checks=True).start()
    fulls = [WebDAV(folder / "full-dav", size="4k").start()]
    # sshd changes its user, which only root can.
    if os.getuid() == 0:
        fulls.append(SSH(folder / "full-ssh", size="4k").start())
    try:
        for server, status, options in [
            (ssh, REFUSED, ssh.definition(rclone, key="stranger")), (dav, REFUSED, dav.definition(rclone, "rose")),
            (strict, REFUSED, strict.definition(rclone)), (s3, NOT_FOUND, s3.definition(rclone)),
        ] + [(full, IO, full.definition(rclone)) for full in fulls]:
            trial = Trial(machine, server, rclone)
            machine.use(rclone, {server.remote: options})
            notes.append(trial.expect_line(status, "refused"))
        (ssh.folder / "known").write_text(
            f"[127.0.0.1]:{ssh.port} {(ssh.folder / 'stranger.pub').read_text()}")
        notes.append(Trial(machine, ssh, rclone).expect_line(REFUSED, "refused"))
        return "\n        ".join(["", *notes])
    finally:
        for server in [ssh, dav, s3, strict, *fulls]:
            server.end()


def attempt(name, work):
    began = time.monotonic()
    try:
        note = work() or ""
    except (Failed, OSError, RuntimeError, subprocess.SubprocessError) as failure:
        print(f"FAILED  {name}: {failure}", flush=True)
        return False
    print(f"passed  {name} ({time.monotonic() - began:.1f} s) {note}", flush=True)
    return True


def main(kcbackup, folder, *rclones):
    folder = Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    wanted = os.environ.get("ONLY", "")
    passed = []
    for rclone in map(os.path.abspath, rclones):
        version = run(rclone, "version", env=clean_environment(HOME="/")).split()[1]
        place = folder / version
        machine = Machine(Path(kcbackup).resolve(), place / "home")
        servers = [
            S3(place / "s3"), S3(place / "locked", bucket="locked", remote="locked"), SSH(place / "ssh"),
            WebDAV(place / "dav"),
        ]
        for server in servers:
            try:
                server.start()
                for name in ["verbs", "taken", "protected", "killed", "orphans", "raced", "dead"]:
                    title = f"{version} {server.remote} {name}"
                    if re.search(wanted, title):
                        trial = Trial(machine, server, rclone)
                        passed.append(attempt(title, getattr(trial, name)))
            finally:
                server.end()
        if re.search(wanted, f"{version} refusals"):
            passed.append(attempt(f"{version} refusals", lambda: refusals(machine, place / "refusals", rclone)))
    if all(passed):
        shutil.rmtree(folder)
    print(f"{passed.count(True)} of {len(passed)} passed")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
