"""Nights of a job whose copies somebody, or a failing server, damages: which run notices, and what is there again.

    python nights.py KCBACKUP FOLDER RCLONE...     FOLDER is made
"""

import json
import os
import re
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from refusing import Policy, RefusingS3, flipped
from rights import Machine

NIGHTS = 17
START = datetime(2026, 10, 1, 3, tzinfo=timezone.utc)


class History:
    """A machine with a job that keeps five archives here, its copies in a bucket with the documented rights, and a clock."""

    def __init__(self, kcbackup, folder, rclone):
        rights = dict(get=["laptop/*"], put=["laptop/*"])
        self.server = RefusingS3({
            "documented": Policy(list=["laptop/*"], **rights), "no list": Policy(**rights),
            "put only": Policy(put=["laptop/*"]), "no put": Policy(list=["laptop/*"], get=["laptop/*"])})
        self.machine = Machine(kcbackup, folder, rclone)
        self.machine.environment["PATH"] += ":/usr/bin:/bin"
        self.use("documented")
        self.kit = self.machine.must("recovery", "make")
        self.machine.must(
            "schedule", "add", "night", "-r", self.machine.recipient, "--to", "nightly", "--keep-last", "5",
            "--copy-to", "bk:bucket/laptop")
        self.night = 0

    def use(self, account):
        self.machine.use(self.server.definition(account))

    def run(self):
        """The exit code of the next night's run, and what it said."""
        when = (START + timedelta(days=self.night)).strftime("%Y-%m-%d %H:%M:%S")
        self.night += 1
        outcome = self.machine.status("run", "night", through=["faketime", when])
        return outcome.returncode, outcome.stderr

    def runs(self, count):
        """Nights in which nothing may go wrong."""
        for _ in range(count):
            code, said = self.run()
            assert code == 0, said

    def status(self):
        return json.loads(self.machine.status("status", "--json").stdout)["jobs"][-1]["jobCopies"][0]

    def names(self):
        """The keys of the copies, in the order in which they were made."""
        return sorted(self.server.objects, key=lambda key: key[-20:])


def deleted(history):
    history.runs(NIGHTS)
    for key in history.names()[1:-1]:
        history.server.remove(key)
    return noticed(history, 1, "15 copies were gone")


def all_but_the_newest(history):
    history.runs(NIGHTS)
    for key in history.names()[:-1]:
        history.server.remove(key)
    return noticed(history, 1, "were gone")


def cut(history):
    history.runs(NIGHTS)
    key = history.names()[3]
    history.server.objects[key] = history.server.objects[key][:-1]
    return noticed(history, 1, "exists and is another file")


def a_bit(history):
    history.runs(NIGHTS)
    key = history.names()[3]
    history.server.objects[key] = flipped(history.server.objects[key])
    return noticed(history, NIGHTS, "exists and is another file")


def a_bit_unlisted(history):
    history.use("no list")
    return a_bit(history)


def endless(history):
    """A server that never ends a copy, which it lists with the right size."""
    history.runs(NIGHTS)
    history.server.endless = {history.names()[0]}
    answer = noticed(history, NIGHTS, "")
    assert history.server.sent < 64 << 20, history.server.sent
    return f"{answer}; {history.server.sent >> 20} MiB were read"


def masked(history):
    """Copies are deleted, and in the same night nothing can be put."""
    history.runs(NIGHTS)
    for key in history.names()[-3:-1]:
        history.server.remove(key)
    history.use("no put")
    assert history.run()[0] == 19
    history.use("documented")
    code, said = history.run()
    assert code == 19 and "copies were gone" in said, said
    history.runs(1)
    return "the next run with all rights ends with 19, too, and says so"


def widened(history):
    """Half of a copy is stored, which may not be read; later it may."""
    history.use("put only")
    history.server.faults = ["half"]
    history.runs(1)
    history.use("documented")
    seen = [history.run()[0] for _ in range(2)]
    assert seen[-1] == 0 and len({len(content) for content in history.server.objects.values()}) == 1, seen
    return f"with all rights, it is completed: {seen}"


def expired(history):
    """A lifecycle rule of ten days; nothing is wrong."""
    history.runs(NIGHTS)
    for key in history.names()[:-10]:
        history.server.remove(key)
    history.runs(2)
    return f"not: {history.status()['there']} are there"


def fault(name, codes):
    def scenario(history):
        history.runs(3)
        history.server.faults = [name]
        seen = [history.run()[0] for _ in codes]
        assert seen == codes, (name, seen)
        assert len(history.names()) == 3 + len(codes), history.names()
        return f"ends with {seen[0]}, and the next with {seen[1]}"
    return scenario


def put_only(history):
    history.use("put only")
    history.runs(3)
    state = history.status()
    assert state["notReadBack"] == 3 and "readBack" not in state, state
    outcome = history.machine.status("status")
    assert "3 not read back" in outcome.stdout, outcome.stdout
    return f"3 copies, {state['notReadBack']} not read back"


def fire(history):
    """The machine is lost: a new one, the kit, and the documented rights."""
    history.runs(3)
    lines = re.findall(r"^  [1-4]   (.*?)   .$", history.kit, re.M)
    began = time.monotonic()
    history.server.take_requests()
    machine = history.machine
    machine.home = machine.home.with_name("new machine")
    machine.home.mkdir()
    key = machine.home / "kit"
    key.write_text("AGE-SECRET-KEY-1" + "".join(lines).replace(" ", ""))
    key.chmod(0o600)
    machine.environment.update(HOME=str(machine.home), RCLONE_CONFIG=str(machine.home / "rclone.conf"))
    history.use("documented")
    machine.must("keychain", "create", "--no-passcode")
    machine.must("restore", "bk:bucket/laptop", "-i", "kit", "--accept-origin", machine.device)
    assert machine.must("item", "find", "--service", "Mail", "--account", "ada", "--reveal").strip()
    return f"a new machine has the items {time.monotonic() - began:.1f} s later, by {history.server.take_requests()}"


def noticed(history, limit, words):
    for night in range(1, limit + 1):
        code, said = history.run()
        if code != 0:
            assert code == 19 and words in said, said
            state = history.status()
            return f"run {night} ends with 19; {state['there']} there, {state['missing']} missing"
    raise SystemExit(f"{limit} runs noticed nothing")


SCENARIOS = {
    "all but the oldest and the newest of 17 copies are deleted": deleted,
    "all but the newest are deleted": all_but_the_newest,
    "an older copy loses its last byte": cut,
    "a bit of an older copy flips": a_bit,
    "the same, where the bucket may not be listed": a_bit_unlisted,
    "a copy never ends": endless,
    "copies are deleted in a night in which nothing can be put": masked,
    "half of a copy is stored with credentials that may only put": widened,
    "a rule removes what is older than ten days": expired,
    "a put stores half, and fails": fault("half", [0, 0]),
    "a put stores all, and fails": fault("done", [0, 0]),
    "a put stores nothing, and says it did": fault("lost", [0, 0]),
    "a put stores another bit, and says it did not": fault("rotten", [19, 19]),
    "the credentials may only put": put_only,
    "the disk burns": fire,
}


def main():
    kcbackup, folder, *rclones = sys.argv[1:]
    for number, rclone in enumerate(rclones):
        for index, (name, scenario) in enumerate(SCENARIOS.items()):
            if not re.search(os.environ.get("ONLY", ""), name):
                continue
            began = time.monotonic()
            history = History(kcbackup, Path(folder) / str(number) / str(index), rclone)
            answer = scenario(history)
            history.server.end()
            print(f"{name}: {answer} ({time.monotonic() - began:.1f} s)", flush=True)


main()
