"""Which command of kcbackup ends how with which rights on a remote, and by which requests.

    python rights.py KCBACKUP FOLDER PAGE RCLONE...     FOLDER is made; the tables must be those of PAGE, or with WRITE=1 become them
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from refusing import BUCKET, Policy, RefusingS3
from servers import SSH, WebDAV, clean_environment, run

BEGIN, END = "<!-- rights.py: begin -->", "<!-- rights.py: end -->"
EVERYTHING = dict(get=["*"], put=["*"], delete=["*"], list=["*"])


def policies(device):
    """What the pages say that a machine, and the person who watches a fleet, need; and less."""
    own, receipts = f"fleet/archives/{device}/*", f"fleet/receipts/*/{device[3:5]}/{device}-*"
    return {
        "all": Policy(**EVERYTHING),
        "documented": Policy(
            get=["laptop/*", own, receipts], put=["laptop/*", own, receipts], list=["laptop/*", own]),
        "put only": Policy(put=["*"]),
        "read only": Policy(get=["*"], list=["*"]),
        "none": Policy(),
        "watching": Policy(get=["fleet/receipts/*"], list=["fleet/receipts/*"]),
    }


class Machine:
    """A home with a keychain, a job that copies to `bk:`, and one of a fleet there."""

    def __init__(self, kcbackup, home, rclone):
        self.kcbackup, self.home = Path(kcbackup).resolve(), Path(home)
        self.home.mkdir(parents=True)
        tools = self.home / "bin"
        tools.mkdir()
        (tools / "rclone").symlink_to(os.path.abspath(rclone))
        self.environment = clean_environment(
            HOME=str(self.home), NO_COLOR="1", PATH=str(tools), RCLONE_CONFIG=str(self.home / "rclone.conf"))
        self.must("keychain", "create", "--no-passcode")
        self.must("item", "add", "--service", "Mail", "--account", "ada", "--generate")
        self.must("keygen", "-o", "key")
        self.recipient = re.search("age1\\w+", (self.home / "key").read_text())[0]
        self.device = re.search("KC(-\\w{4}){5}", self.must("device", "show"))[0]
        self.must("create", "-r", self.recipient, "--to", "backups")
        (self.home / "machines").write_text(f"{self.device} laptop\n")

    def use(self, definition):
        config = self.home / "rclone.conf"
        config.write_text("[bk]\n" + "".join(f"{key} = {value}\n" for key, value in definition.items()))
        config.chmod(0o600)

    def add_jobs(self, folder, fleet):
        self.must("schedule", "add", "copies", "-r", self.recipient, "--to", "backups", "--copy-to", folder)
        if fleet:
            self.must("schedule", "add", "fleet", "-r", self.recipient, "--to", "of-fleet", "--fleet", fleet)

    def status(self, *words, through=()):
        return subprocess.run(
            [*through, self.kcbackup, *words], cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=300)

    def must(self, *words):
        outcome = self.status(*words)
        if outcome.returncode != 0:
            raise SystemExit(f"kcbackup {' '.join(words)}: {outcome.returncode}\n{outcome.stderr}")
        return outcome.stdout

    def keep(self):
        """What a run changes here, to be put back."""
        return [
            (path, path.with_name(path.name + ".kept"))
            for path in (self.home / name for name in (".local", "backups", "of-fleet")) if path.exists()]


def verbs(folder, fleet):
    """The commands by their names; those that write come first, and need an empty remote."""
    writing = {"copy": ["copy", "backups", "--to", folder], "run": ["run", "copies", "--change"]}
    reading = {
        "inspect": ["inspect", folder, "-i", "key"], "restore": ["restore", folder, "-i", "key", "--dry-run"],
        "verify": ["verify", folder, "-i", "key"], "doctor": ["doctor", folder],
    }
    if fleet:
        writing["run of a fleet"] = ["run", "fleet", "--change"]
        reading["fleet status"] = ["fleet", "status", fleet, "--inventory", "machines"]
        reading["fleet index"] = [
            "fleet", "index", fleet, "-i", "key", "--inventory", "machines", "-o", "new.index"]
    return writing, reading


def cell(machine, words, server=None):
    """The exit code of a command, and its requests; what it changes here is undone."""
    saved = machine.keep()
    for path, kept in saved:
        shutil.copytree(path, kept, symlinks=True)
    outcome = machine.status(*words)
    for path, kept in saved:
        shutil.rmtree(path)
        kept.rename(path)
    (machine.home / "new.index").unlink(missing_ok=True)
    if os.environ.get("SHOW"):
        print(" ".join(words), "\n", outcome.stderr, file=sys.stderr)
    return f"**{outcome.returncode}** {server.take_requests()}" if server else f"**{outcome.returncode}**"


def table(title, columns, rows):
    lines = [f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]) + "\n"


def s3(kcbackup, place, rclone):
    machine = Machine(kcbackup, place, rclone)
    server = RefusingS3({})
    server.accounts = policies(machine.device)
    folder, fleet = f"bk:{BUCKET}/laptop", f"bk:{BUCKET}/fleet"
    machine.use(server.definition("all"))
    machine.add_jobs(folder, fleet)
    writing, reading = verbs(folder, fleet)
    machine.must("copy", "backups", "--to", folder)
    machine.must("run", "fleet")
    filled = dict(server.objects)
    # Machines of others, in the folder above.
    others = {f"other-{number}/x.kcb": b"x" for number in range(3)}
    rows = []
    for name, words in {**writing, **reading}.items():
        cells = []
        for account in server.accounts:
            server.objects.clear()
            for key, content in {**others, **(filled if name in reading else {})}.items():
                server.put(key, content)
            machine.use(server.definition(account))
            server.take_requests()
            cells.append(cell(machine, words, server))
        rows.append((name, cells))
    server.end()
    return table("S3", list(server.accounts), rows)


def others(kcbackup, place, rclone):
    """SFTP below a folder that cannot be listed, and WebDAV."""
    columns, cells = [], {}
    for title, server in {"SFTP, unlistable": SSH(place / "ssh"), "WebDAV": WebDAV(place / "dav")}.items():
        with_server = Machine(kcbackup, place / title.split(",")[0], rclone)
        server.start()
        try:
            (server.data / "all").mkdir(exist_ok=True)
            folder = server.place_of("all/laptop").replace(f"{server.remote}:", "bk:")
            with_server.use(server.definition(rclone))
            with_server.add_jobs(folder, None)
            if title.startswith("SFTP"):
                (server.data / "all").chmod(0o311)
            writing, reading = verbs(folder, None)
            columns.append(title)
            for name, words in writing.items():
                shutil.rmtree(server.data / "all/laptop", ignore_errors=True)
                cells.setdefault(name, []).append(cell(with_server, words))
            shutil.rmtree(server.data / "all/laptop", ignore_errors=True)
            with_server.must("copy", "backups", "--to", folder)
            for name, words in reading.items():
                cells.setdefault(name, []).append(cell(with_server, words))
        finally:
            server.end()
            (server.data / "all").chmod(0o700)
    return table("others", columns, cells.items())


def main(kcbackup, folder, page, *rclones):
    folder = Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = BEGIN + "\n"
    for rclone in rclones:
        version = run(rclone, "version", env=clean_environment(HOME="/")).split()[1].split("-")[0]
        text += f"\nrclone {version}:\n\n" + s3(kcbackup, folder / version, rclone)
        text += "\n" + others(kcbackup, folder / f"{version}-others", rclone)
    text += "\n" + END
    print(text)
    known = Path(page).read_text()
    start, end = known.index(BEGIN), known.index(END) + len(END)
    if os.environ.get("WRITE"):
        Path(page).write_text(known[:start] + text + known[end:])
    elif known[start:end] != text:
        print(f"{page} has other tables: WRITE=1 writes these", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
