#!/usr/bin/env python3
"""Measures whole runs of kcbackup beside other programs that do the same work, and says which goals are met.

  Benchmarks/bench/bench.py [--write] [--note SENTENCE] [--kcbackup PROGRAM] [--runs N] [COUNT...]

For each COUNT (15000, 100000 and 1000000 by default), it makes a keychain of that many items and runs all commands in
turn, A B C A B C …, so that what else the machine does meets all of them: nine times, five times for more than 15,000
items, three times for more than 100,000. A ratio is the median of those of all rounds, of wall time and of processor
time. There is no passcode, and archives are for one public key, so no key derivation is in the figures of kcbackup. With
--write, table and plot go to docs/performance.md and docs/pictures, and the figures that were there are kept below as
those of the commit before; --note says what else the machine did.

What is measured of a command is the process from its start to its end, with all its children: seconds, processor
seconds, and the peak memory of the largest process. A command that fails ends the bench.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import keychains
import report

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ["sqlite3", "gzip", "zstd", "age", "tar", "restic", "borg", "keepassxc-cli"]
# As one file for each secret, more than this would measure the file system.
MOST_FILES = 100_000
# An export holds each secret in a page of its own, and a process has at most 65,530 of them (vm.max_map_count).
MOST_EXPORTED = 50_000


class Command:
    """A command that is measured: a list of words, or a script for bash."""

    def __init__(self, name, command, prepare=None, output=None, needs=()):
        self.name = name
        self.words = command if isinstance(command, list) else ["bash", "-o", "pipefail", "-ec", command]
        self.prepare = prepare
        self.output = output
        self.needs = needs
        self.walls, self.processors, self.peaks = [], [], []
        self.size = None

    def missing(self):
        return next((peer for peer in self.needs if not shutil.which(peer)), None)

    def run(self, folder, counted):
        if self.prepare:
            self.prepare()
        errors = os.open(folder / "errors", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        nothing = os.open("/dev/null", os.O_RDWR)
        program = self.words[0] if "/" in self.words[0] else shutil.which(self.words[0])
        start = time.monotonic()
        child = os.posix_spawn(
            program, self.words, os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, nothing, 1),
                          (os.POSIX_SPAWN_DUP2, errors, 2)])
        _, status, usage = os.wait4(child, 0)
        wall = time.monotonic() - start
        os.close(errors)
        os.close(nothing)
        if status:
            words = " ".join(self.words)
            sys.exit(f"bench.py: '{self.name}' failed ({os.waitstatus_to_exitcode(status)}): {words}\n"
                     + (folder / "errors").read_text(errors="replace"))
        if counted:
            self.walls.append(wall)
            self.processors.append(usage.ru_utime + usage.ru_stime)
            self.peaks.append(usage.ru_maxrss / 1024)
        if self.output:
            self.size = size_of(self.output)


def size_of(path):
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size


def removing(*paths):
    def remove():
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    return remove


def quietly(*words):
    result = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode:
        sys.exit(f"bench.py: {' '.join(map(str, words))}: {result.stderr.decode(errors='replace')}")
    return result.stdout.decode()


class Bench:
    """The commands for a keychain of `count` items, in a folder of their own."""

    def __init__(self, kcbackup, folder, count):
        self.kcbackup, self.folder, self.count = str(kcbackup), folder, count
        self.files = count <= MOST_FILES
        self.data = pathlib.Path(os.environ["HOME"], ".local/share/kcbackup")
        self.database = self.data / "keychains/login.keychain"
        self.commands = []
        self.make()
        self.add_kcbackup()
        self.add_pipes()
        self.add_restic()
        self.add_borg()
        self.add_readers()

    def make(self):
        self.items = self.folder / "items.jsonl"
        keychains.write(self.items, self.count, self.folder / "files" if self.files else None)
        quietly(self.kcbackup, "keygen", "-o", self.folder / "identity.txt")
        lines = (self.folder / "identity.txt").read_text().splitlines()
        self.recipient = next(line.split(": ")[1] for line in lines if line.startswith("# public key: "))
        for name in ["login", "target", "imported"]:
            quietly(self.kcbackup, "keychain", "create", name, "--no-passcode")
            shutil.copy(self.keychain(name), self.folder / f"{name}.empty")
        quietly(self.kcbackup, "import", self.items, "--into", "login")
        few = self.folder / "few.jsonl"
        with open(self.items) as source:
            few.write_text("".join(next(source) for _ in range(20)))
        few.chmod(0o600)
        quietly(self.kcbackup, "keychain", "create", "few", "--no-passcode")
        quietly(self.kcbackup, "import", few, "--into", "few")
        quietly(self.kcbackup, "create", "--keychain", "login", "-r", self.recipient, "--to", self.folder / "series",
                "--if-changed")
        (self.folder / "password").write_text("walnut lantern velvet orbit\n")
        (self.folder / "password").chmod(0o600)

    def keychain(self, name):
        return self.data / f"keychains/{name}.keychain"

    def emptying(self, name):
        """What puts back a keychain as it was made; what a restore keeps for `undo` goes too."""
        def empty():
            shutil.rmtree(self.data / "undo", ignore_errors=True)
            shutil.copy(self.folder / f"{name}.empty", self.keychain(name))
        return empty

    def restoring(self, name, restore):
        """What restores into an empty keychain, for `undo`."""
        def again():
            self.emptying(name)()
            quietly(self.kcbackup, *restore)
        return again

    def adding(self, name):
        """What adds one item to a keychain, for `undo`."""
        return lambda: quietly(self.kcbackup, "item", "add", "--service", "one more", "--no-secret", "--keychain", name)

    def add(self, name, command, **options):
        if isinstance(command, list):
            command = [str(word) for word in command]
        self.commands.append(Command(name, command, **options))

    def add_kcbackup(self):
        archive, unencrypted = self.folder / "archive.kcb", self.folder / "here.kcb"
        key = ["-i", self.folder / "identity.txt"]

        def verb(name, *words, **options):
            self.add(f"kcbackup {name}", [self.kcbackup, *words], **options)

        login = ["--keychain", "login"]
        verb("create", "create", *login, "-r", self.recipient, archive, prepare=removing(archive), output=archive)
        verb("create --unencrypted", "create", *login, "--unencrypted", unencrypted, prepare=removing(unencrypted),
             output=unencrypted)
        verb("create --if-changed", "create", *login, "-r", self.recipient, "--to", self.folder / "series",
             "--if-changed")
        verb("verify", "verify", archive, *key)
        verb("inspect", "inspect", archive, *key)
        verb("inspect --json", "inspect", archive, *key, "--json")
        restore = ["restore", archive, *key, "--keychain", "target"]
        verb("restore", *restore, prepare=self.emptying("target"), output=self.keychain("target"))
        verb("restore again", *restore)
        verb("restore --dry-run --json", *restore, "--dry-run", "--json", prepare=self.emptying("target"))
        verb("item list", "item", "list", *login)
        # As scripts look for one item.
        verb("item find", "item", "find", *login, "--account", keychains.account(self.count // 2))
        verb("item find of most", "item", "find", *login, "--class", "genp")
        verb("item find --in", "item", "find", "--class", "genp", "--in", archive, *key)
        verb("diff", "diff", archive, *key, *login)
        csv = self.folder / "items.csv"
        verb("export --to csv", "export", *login, "--to", "csv", "--plaintext", "-o", csv, prepare=removing(csv),
             output=csv)
        verb("import", "import", self.items, "--into", "imported", prepare=self.emptying("imported"))
        verb("undo of one item", "undo", *login, "--yes", prepare=self.adding("login"))
        verb("undo of a restore", "undo", "--keychain", "target", "--yes", prepare=self.restoring("target", restore))
        verb("--version", "--version")
        verb("item list of 20 items", "item", "list", "--keychain", "few")
        security = pathlib.Path(self.kcbackup).with_name("security")
        if security.exists():
            self.add("security dump-keychain -r", [security, "dump-keychain", "-r", self.database])

    def add_pipes(self):
        folder, database, key = self.folder, self.database, self.folder / "identity.txt"
        copy = folder / "copy.db"
        backup = f"sqlite3 '{database}' '.backup {copy}'"
        for packer in ["gzip", "zstd"]:
            needs = ["sqlite3", packer, "age"]
            out = folder / f"copy.{packer}.age"
            pack = f"{backup}; {packer} <'{copy}' | age -r {self.recipient} -o '{out}'"
            self.add(f".backup | {packer} | age", pack, prepare=removing(copy, out), output=out, needs=needs)
            back = f"age -d -i '{key}' '{out}' | {packer} -d | cmp - '{copy}'"
            self.add(f".backup | {packer} | age, compared", f"{pack}; {back}", prepare=removing(copy, out), needs=needs)
        self.add("age -d | zstd -d", f"age -d -i '{key}' '{folder}/copy.zstd.age' | zstd -d",
                 needs=["sqlite3", "zstd", "age"])
        # What `verify` reads, without looking at it.
        streams = " ".join(f"{stream}.jsonl.gz.age" for stream in ["metadata", "secrets"])
        self.add("age -d | gzip -d of the archive",
                 f"for stream in {streams}; do tar -xOf '{folder}/archive.kcb' $stream | age -d -i '{key}' | gzip -d; done",
                 needs=["tar", "gzip", "age"])
        if self.files:
            out = folder / "files.age"
            pack = f"tar -C '{folder}' -c files | gzip | age -r {self.recipient} -o '{out}'"
            self.add("tar | gzip | age of files", pack,
                     prepare=removing(out), output=out, needs=["tar", "gzip", "age"])

    def fresh(self, name):
        """What puts back an empty repository, and the caches of its program."""
        def replace():
            shutil.rmtree(self.folder / name)
            shutil.copytree(self.folder / f"{name}.empty", self.folder / name)
        return replace

    def add_restic(self):
        repository = self.folder / "restic"
        restic = ["restic", "--quiet", "--no-cache", "-r", repository]
        os.environ["RESTIC_PASSWORD"] = "walnut lantern velvet orbit"
        if shutil.which("restic"):
            quietly("restic", "init", "-r", repository)
            shutil.copytree(repository, self.folder / "restic.empty")
        more = {"needs": ["restic"]}
        if self.files:
            self.add("restic backup of files", [*restic, "backup", self.folder / "files"], prepare=self.fresh("restic"),
                     output=repository, **more)
        self.add("restic backup", [*restic, "backup", self.database], prepare=self.fresh("restic"), output=repository,
                 **more)
        self.add("restic check --read-data", [*restic, "check", "--read-data"], **more)
        self.add("restic ls", [*restic, "ls", "latest"], **more)
        target = self.folder / "restored"
        self.add("restic restore", [*restic, "restore", "latest", "--target", target], prepare=removing(target), **more)

    def add_borg(self):
        os.environ.update(BORG_PASSPHRASE="walnut lantern velvet orbit", BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK="yes",
                          BORG_RELOCATED_REPO_ACCESS_IS_OK="yes")
        more = {"needs": ["borg"]}
        for name, encryption in [("borg", "repokey"), ("borg unencrypted", "none")]:
            place = name.replace(" ", ".")
            base = self.folder / place
            # With its keys and its cache, which a fresh repository must not find.
            borg = ["env", f"BORG_BASE_DIR={base}", "borg"]
            if shutil.which("borg"):
                base.mkdir()
                quietly(*borg, "init", "-e", encryption, base / "repository")
                shutil.copytree(base, self.folder / f"{place}.empty")
            archive = f"{base}/repository::a"
            if self.files and encryption == "repokey":
                self.add(f"{name} create of files", [*borg, "create", archive, self.folder / "files"],
                         prepare=self.fresh(place), output=base / "repository", **more)
            self.add(f"{name} create", [*borg, "create", archive, self.database], prepare=self.fresh(place),
                     output=base / "repository", **more)
            self.add(f"{name} check --verify-data", [*borg, "check", "--verify-data", base / "repository"], **more)

    def add_readers(self):
        target = self.folder / "bare.db"
        # The condition keeps SQLite from copying whole pages.
        insert = f"""sqlite3 '{self.database}' .schema | sqlite3 '{target}'
            sqlite3 '{target}' "ATTACH '{self.database}' AS source; BEGIN;
                INSERT INTO genp SELECT * FROM source.genp WHERE id > 0;
                INSERT INTO inet SELECT * FROM source.inet WHERE id > 0; COMMIT" """
        self.add("sqlite3 insert", insert, prepare=removing(target), output=target, needs=["sqlite3"])
        self.add("sqlite3 select *", ["sqlite3", self.database, "SELECT * FROM genp; SELECT * FROM inet"],
                 needs=["sqlite3"])
        if self.count <= MOST_EXPORTED:
            kdbx, password = self.folder / "items.kdbx", self.folder / "password"
            self.add("kcbackup export --to kdbx",
                     [self.kcbackup, "export", "--keychain", "login", "--to", "kdbx", "--password", f"file:{password}",
                      "-o", kdbx], prepare=removing(kdbx), output=kdbx)
            more = {"needs": ["keepassxc-cli"]}
            self.add("keepassxc-cli ls", f"keepassxc-cli ls -q -R '{kdbx}' <'{password}'", **more)
            self.add("keepassxc-cli export", f"keepassxc-cli export -q -f csv '{kdbx}' <'{password}'", **more)

    def run(self, runs):
        self.absent = {c.name: c.missing() for c in self.commands if c.missing()}
        present = [c for c in self.commands if not c.missing()]
        # A first round that is not counted reads everything into the page cache, which takes little of many items.
        warm = 0 if self.count > MOST_FILES else 1
        for number in range(1 - warm, runs + 1):
            for command in present:
                command.run(self.folder, counted=number > 0)
            print(f"bench.py: {self.count} items, round {number} of {runs}", file=sys.stderr)
        return {c.name: report.Figures(c.walls, c.processors, c.peaks, c.size) for c in present}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--note", default="", help="a sentence about what else ran")
    parser.add_argument("--kcbackup", default=PROJECT / ".build/stage/bin/kcbackup")
    parser.add_argument("--runs", type=int)
    parser.add_argument("counts", nargs="*", type=int, default=[15_000, 100_000, 1_000_000])
    options = parser.parse_args()
    kcbackup = pathlib.Path(options.kcbackup).resolve()
    if not os.access(kcbackup, os.X_OK):
        sys.exit(f"bench.py: there is no program {kcbackup}: 'make stage' makes it")
    os.umask(0o077)
    os.environ.pop("XDG_DATA_HOME", None)
    os.environ.update(LC_ALL="C.UTF-8", TZ="UTC")
    state = report.Surroundings(PROJECT, kcbackup, PEERS)
    results = {}
    for count in options.counts:
        with tempfile.TemporaryDirectory(prefix="kcbackup-bench-") as folder:
            folder = pathlib.Path(folder)
            (folder / "home").mkdir()
            os.environ["HOME"] = str(folder / "home")
            bench = Bench(kcbackup, folder, count)
            runs = options.runs or (9 if count <= 15_000 else 5 if count <= 100_000 else 3)
            results[count] = report.Result(bench.run(runs), bench.absent, runs)
    left_out = {"one file for each secret": MOST_FILES, "databases of KeePass": MOST_EXPORTED}
    text = report.text(results, state.finished(options.note), left_out)
    print(text)
    if options.write:
        report.write(PROJECT, text, results)


main()
