#!/usr/bin/env python3
"""kcbackup and the second reader and writer, side by side: they must give the same verdicts and the same items.

    trial.py KCBACKUP [--seed N] [--count TEST=N ...] [--state FOLDER] [--commit TEXT]

The tests are `corpus`, what kcbackup makes; `written`, what the second writer makes; `mutated`, archives that are
changed below their signatures; and `keychains`, keychain files that are changed. Prints a row for each: name, cases,
differences, seed, commit, seconds. With `--state`, a run that was stopped goes on where it was, and the file of each
difference stays in that folder; otherwise a difference is only described.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from kcb import archive, archive_mutations, corpus, keychain, keychain_mutations, samples
from kcb.sides import (
    CREATED,
    OK,
    PASSCODE,
    PASSPHRASE,
    Case,
    Difference,
    Machine,
    can_restore,
    compare_inspect,
    compare_keychain,
    compare_verify,
    mine,
    opened,
    same,
)
from kcb.writer import KeychainWriter, Parts

BATCH = 100


class Trial:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.machine = Machine(options.kcbackup, folder)
        self.state = Path(options.state) if options.state else None
        self.done = {}
        if self.state:
            self.state.mkdir(parents=True, exist_ok=True)
            if (self.state / "state.json").exists():
                self.done = json.loads((self.state / "state.json").read_text())
            if self.done.setdefault("run", [options.seed, options.commit]) != [options.seed, options.commit]:
                sys.exit(f"{self.state} has a run of another seed or commit; remove it")

    def source(self, test, number):
        return random.Random(f"{self.options.seed}/{test}/{number}")

    def report(self, test, number, difference, path=None):
        print(f"{test} {number}: {difference}", file=sys.stderr)
        if self.state and path and path.exists():
            shutil.copy(path, self.state / f"{test}-{number}")

    def run(self, test, count, batch):
        """Runs the cases of a test; `batch` takes a range of numbers, and gives the number of differences."""
        past = self.done.setdefault(test, {"cases": 0, "differences": 0, "seconds": 0})
        while past["cases"] < count:
            began = time.monotonic()
            numbers = range(past["cases"], min(count, past["cases"] + BATCH))
            past["differences"] += batch(test, numbers)
            past["cases"] = numbers.stop
            past["seconds"] += time.monotonic() - began
            if self.state:
                (self.state / "state.json").write_text(json.dumps(self.done))
        print(
            f"| {test} | {past['cases']} | {past['differences']} | {self.options.seed} | {self.options.commit} | "
            f"{past['seconds']:.0f} s |",
            flush=True,
        )
        return past["differences"]

    # What kcbackup makes.

    def corpus(self, test, numbers):
        differences = 0
        makers = corpus.MAKERS
        for number in numbers:
            try:
                makers[number % len(makers)](self, self.source(test, number), number)
            except Difference as difference:
                differences += 1
                self.report(test, f"{number} ({makers[number % len(makers)].__name__})", difference)
        return differences

    # Archives.

    def parts(self, source):
        """An archive of a random kind, and what opens it."""
        machine = self.machine
        kind = source.randrange(8)
        given = samples.some(source, source.randrange(9), constraints=kind != 0)
        if kind < 3:
            writer = KeychainWriter(machine.device, CREATED, PASSCODE if kind else None)
            stored = {one.uuid: writer.seal(one) for one in given}
            parts = Parts(machine.device, created=CREATED).unencrypted(writer.store, writer.keybag, stored)
            passcode = PASSCODE if kind == 1 else None
            arguments = ["--archive-passcode", "file:passcode"] if kind == 1 else []
            return (
                parts.lines(given),
                archive.Keys(device=machine.device, passcode=passcode),
                arguments,
                archive_mutations.UNENCRYPTED,
            )
        count = source.randrange(1, 3)
        if kind == 3:
            parts = Parts(machine.device, machine.recipients[: count - 1], passphrase=PASSPHRASE, created=CREATED)
            return (
                parts.lines(given),
                archive.Keys(passphrase=PASSPHRASE, device=machine.device),
                ["--passphrase", "file:passphrase"],
                archive_mutations.ENCRYPTED + archive_mutations.PASSPHRASE * 12,
            )
        parts = Parts(machine.device, machine.recipients[:count], machine.recipients[2:], created=CREATED)
        number = source.choice((0, 0, 0, count - 1))
        return (
            parts.lines(given),
            archive.Keys((machine.identities[number],), device=machine.device),
            ["-i", f"key{number}"],
            archive_mutations.ENCRYPTED,
        )

    def mutated(self, test, numbers):
        """Archives that are changed below their signatures."""
        groups = {}
        for number in numbers:
            source = self.source(test, number)
            parts, keys, arguments, changes = self.parts(source)
            change = source.choice(changes)
            path = self.machine.write(f"{number}.kcb", change(source, parts))
            groups.setdefault(tuple(arguments), []).append((number, change.__name__, Case(path, keys, arguments)))
        return sum(self.judge(test, list(arguments), cases) for arguments, cases in groups.items())

    def judge(self, test, arguments, cases):
        """Both programs read the cases, which the same arguments open; the number of differences."""
        paths = [case.path for _, _, case in cases]
        shown = [] if arguments[:1] == ["--archive-passcode"] else arguments
        try:
            inspected, _ = self.machine.objects("inspect", *shown, *paths)
            verified, _ = self.machine.objects("verify", *arguments, *paths)
            same([len(cases)] * 2, [len(inspected), len(verified)], "objects")
        except Difference as difference:
            for number, change, case in cases:
                self.report(test, f"{number} ({change})", difference, case.path)
            return 1
        differences = 0
        for (number, change, case), outline, proof in zip(cases, inspected, verified):
            try:
                compare_inspect(case, outline)
                found = compare_verify(case, proof)
                if found and number % 10 == 0 and can_restore(case, found):
                    self.restore(case, found)
            except Difference as difference:
                differences += 1
                self.report(test, f"{number} ({change})", difference, case.path)
            case.path.unlink()
        return differences

    def restore(self, case, found):
        again = self.machine.backed_up_again(case.path, *case.arguments)
        same(opened(found), opened(again), "items after a restore")

    def written(self, test, numbers):
        """Archives as the second writer makes them: verified, restored, and backed up again."""
        differences = 0
        for number in numbers:
            source = self.source(test, number)
            parts, keys, arguments, _ = self.parts(source)
            case = Case(self.machine.write("written.kcb", parts.bytes()), keys, arguments)
            try:
                same(OK, mine(case.path.read_bytes(), keys, False)[1], "verdict")
                passcode_only = arguments[:1] == ["--archive-passcode"]
                compare_inspect(
                    case, self.machine.objects("inspect", *([] if passcode_only else arguments), case.path)[0][0]
                )
                found = compare_verify(case, self.machine.objects("verify", *arguments, case.path)[0][0])
                if can_restore(case, found):
                    self.restore(case, found)
            except Difference as difference:
                differences += 1
                self.report(test, number, difference, case.path)
        return differences

    # Keychain files.

    def keychains(self, test, numbers):
        """Keychain files that are changed, and, every tenth, as the second writer makes them."""
        differences = 0
        path = self.machine.home / "changed.keychain"
        for number in numbers:
            source = self.source(test, number)
            passcode = source.choice((None, PASSCODE))
            writer = KeychainWriter(self.machine.device, CREATED, passcode)
            path.unlink(missing_ok=True)
            codes = tuple(keychain.ACCESSIBILITIES if passcode else samples.items.TRAVELS)
            writer.write(path, samples.some(source, 6, constraints=passcode is not None, accessibilities=codes))
            change = source.choice(keychain_mutations.ALL) if number % 10 else None
            if change:
                change(source, path, writer)
            copy = path.read_bytes()
            try:
                compare_keychain(self.machine, path)
            except Difference as difference:
                differences += 1
                path.write_bytes(copy)
                self.report(test, f"{number} ({change and change.__name__})", difference, path)
        return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kcbackup")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="")
    parser.add_argument("--state")
    parser.add_argument("--count", action="append", default=[], metavar="TEST=N")
    options = parser.parse_args()
    counts = {name: int(number) for name, _, number in (text.partition("=") for text in options.count)}
    if not counts:
        counts = {"corpus": len(corpus.MAKERS), "written": 10, "mutated": 200, "keychains": 50}
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="second-reader-") as folder:
        trial = Trial(options, folder)
        differences = sum(trial.run(test, count, getattr(trial, test)) for test, count in counts.items())
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
