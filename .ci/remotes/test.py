"""Copies on real servers, with every rclone that is named, and with sftp: what kcbackup promises, broken off at every step, and raced.

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

from servers import S3, SSH, OpenSSH, WebDAV, clean_environment, run

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
            self.expect(OK, "create", "-r", self.recipient, f"{number}/a.kcb")

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

    def use_sftp(self, command):
        """Makes this sftp, and no rclone, the one that is found."""
        self.wrap("sftp", f'exec {command} "$@"\n')
        self.environment.update(PATH=str(self.home / "bin"))

    def wrap(self, name, script):
        """Puts a script in the place of a program."""
        tools = self.home / "bin"
        shutil.rmtree(tools, ignore_errors=True)
        tools.mkdir()
        program = tools / name
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o700)

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
        self.command = server.command_for(rclone)
        self.use()

    def use(self):
        if self.server.program == "sftp":
            self.machine.use_sftp(self.server.command_for(self.rclone))
        else:
            self.machine.use(self.rclone, {self.server.remote: self.server.definition(self.rclone)})

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
        self.machine.expect(OK, "verify", place, "--against", "0")
        self.machine.expect(NOT_FOUND, "verify", self.server.place_of("none"), "--against", "0")
        self.machine.expect(OK, "copy", place, "--to", f"back-{self.server.remote.replace(chr(58), chr(45))}-{time.time()}")
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

    def protected(self):
        """What keeps a name from being taken twice is the server, as the decision about remotes says."""
        place = self.server.place_of("protected")
        environment = {**self.machine.environment, "RCLONE_INPLACE": "true"}
        if isinstance(self.server, OpenSSH):
            folder = f"{self.server.path}protected"
            batch = "".join(f'put "{self.machine.home}/{n}/a.kcb" "{folder}/{name}"\n' for n, name in enumerate(["a.kcb", "p"]))
            for number, command in enumerate([f'mkdir "{folder}"\n{batch}', f'rename -l "{folder}/p" "{folder}/a.kcb"\n']):
                status = subprocess.run([*self.command.split(), "-b", "-", "nas"], input=command, text=True, capture_output=True).returncode
                require(bool(status) == bool(number), f"{command}: {status}")
            require(self.server.files("protected") == {"a.kcb": self.machine.archive(), "p": self.machine.archive(1)}, "replaced")
            return "the server refuses"
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
        """kcbackup is killed after each call of the program; the next run completes the copy."""
        calls, last = self.machine.home / "calls", self.machine.home / "last"
        calls.unlink(missing_ok=True)
        last.write_text("0")
        run_it = f'{self.command} "$@"'
        note = f'echo "$1" >>{calls}\n'
        if self.server.program == "sftp":
            # What is asked for is in the input.
            note = f'batch=$(cat)\nprintf "%s\\n" "$batch" | sed -n "\\$s/ .*//p" >>{calls}\n'
            run_it = f'printf "%s\\n" "$batch" | {run_it}'
        script = (
            f'PATH=/usr/bin:/bin\n{note}{run_it}; status=$?\n'
            f'[ "$(wc -l <{calls})" != "$(cat {last})" ] || kill -9 $PPID\nexit $status\n')
        self.machine.wrap(self.server.program, script)
        self.copy(OK, "whole")
        verbs = calls.read_text().split()
        for number in range(1, len(verbs) + 1):
            test = f"killed{number}"
            calls.unlink()
            last.write_text(str(number))
            self.copy(-signal.SIGKILL, test)
            require(self.server.files(test).get("a.kcb") in (None, self.machine.archive()), f"half of {test}")
            self.copy(OK, test)
            self.require_only(test, self.machine.archive())
            require(self.server.versions(test, "a.kcb") in (None, 1), "it was written twice")
        return " ".join(verbs)

    def orphans(self):
        """kcbackup is killed in an upload: its program ends too, and the next run completes the copy."""
        child = self.machine.home / "child"
        child.unlink(missing_ok=True)
        # The server stops, so that the upload does not end.
        is_upload = 'case $1 in copy|copyto)'
        command, words = self.command, b"rclone\0copy"
        if self.server.program == "sftp":
            batch = self.machine.home / "batch"
            is_upload = f'cat >{batch}\ncase $(cat {batch}) in put*)'
            command, words = f"<{batch} {command}", b"sftp\0"
        self.machine.wrap(
            self.server.program,
            f'PATH=/usr/bin:/bin\n{is_upload} kill -s STOP -- -{self.server.process.pid}; echo $$ >{child}.new\n'
            f'mv {child}.new {child};; esac\nexec {command} "$@"\n')
        process = self.machine.start("copy", "0/a.kcb", "--to", self.server.place_of("orphans"))
        try:
            wait(child.exists)
            program = Path("/proc") / child.read_text().strip()
            require(wait(lambda: words in (program / "cmdline").read_bytes()), "the program did not start")
            process.kill()
            process.communicate()
            if not wait(lambda: not program.exists(), 10):
                os.kill(int(program.name), signal.SIGKILL)
                raise Failed("the program outlived kcbackup")
        finally:
            os.killpg(self.server.process.pid, signal.SIGCONT)
        self.use()
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
        self.use()
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


def refusals_of_sftp(machine, folder):
    """What sftp says about hosts that refuse, or are not there, is told apart."""
    notes = []
    # The kernel kills it when a file gets longer than 2 KiB.
    short = folder / "short"
    folder.mkdir(parents=True)
    short.write_text("#!/bin/sh\nulimit -f 4\nexec env --default-signal=XFSZ /usr/lib/openssh/sftp-server\n")
    short.chmod(0o755)
    servers = {
        "ssh": OpenSSH(folder / "ssh"), "readonly": OpenSSH(folder / "readonly", serve="internal-sftp -R"),
        "full": OpenSSH(folder / "full", size="4k"),
        "broken": OpenSSH(folder / "broken", serve=str(short)),
    }
    known = servers["ssh"].folder / "known"
    try:
        for server in servers.values():
            server.start()
        right = known.read_text()
        stranger = f"[127.0.0.1]:{servers['ssh'].port} {(servers['ssh'].folder / 'stranger.pub').read_text()}"
        for name, hosts, options, status, words in [
            ("ssh", "", {}, REFUSED, "does not know the key"),
            ("ssh", stranger, {}, REFUSED, "another key than the one that is known"),
            ("ssh", right, {"key": "stranger"}, REFUSED, "Permission denied"),
            ("ssh", right, {"port": 1}, IO, "Connection refused"),
            ("ssh", right, {"host": "none.invalid"}, IO, "Could not resolve hostname"),
            ("readonly", right, {}, REFUSED, "Permission denied"),
            ("full", right, {}, IO, "its disk is full"),
        ]:
            known.write_text(hosts)
            trial = Trial(machine, servers[name], None)
            machine.use_sftp(servers[name].command_for(None, **options))
            line = trial.expect_line(status, "refused")
            require(words in line, line)
            notes.append(line)
        # The connection ends in the middle of the upload.
        trial = Trial(machine, servers["broken"], None)
        line = trial.expect_line(IO, "refused")
        notes.append(line)
        left = servers["broken"].files("refused")
        require("a.kcb" not in left and all(name in line for name in left), f"there are {left.keys()}: {line}")
        servers["ssh"].data.joinpath("refused").mkdir()
        for name in left:
            servers["ssh"].place("refused", name, b"half")
        trial = Trial(machine, servers["ssh"], None)
        trial.copy(OK, "refused")
        trial.require_only("refused", machine.archive())
        return "\n        ".join(["", *notes])
    finally:
        for server in servers.values():
            server.end()


def try_all(machine, servers, rclone, version, wanted):
    """Whether each test of each server passed."""
    passed = []
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
    return passed


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
        passed += try_all(machine, servers, rclone, version, wanted)
        if re.search(wanted, f"{version} refusals"):
            passed.append(attempt(f"{version} refusals", lambda: refusals(machine, place / "refusals", rclone)))
    place = folder / "openssh"
    machine = Machine(Path(kcbackup).resolve(), place / "home")
    passed += try_all(machine, [OpenSSH(place / "sftp")], None, "openssh", wanted)
    if re.search(wanted, "openssh refusals"):
        passed.append(attempt("openssh refusals", lambda: refusals_of_sftp(machine, place / "refusals")))
    if all(passed):
        shutil.rmtree(folder)
    print(f"{passed.count(True)} of {len(passed)} passed")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
