#!/usr/bin/env python3
"""Whether the tests find fifty defects: one build holds them all, and each is switched on for a run of tests.

    run.py [--check] [--in FOLDER] [--own] [--trust] [NN ...]

The first line of a patch says what is wrong; `Tests:` is the filter with which a developer who works there would test.
The patch adds the wrong code beside the right one, and `seeded(NN)` chooses between them. FOLDER becomes a copy of the
sources with all patches, by default .build/seeded-defects; what was built there before makes it quicker. OPTIMIZED in
the environment holds the flags of the build, which is a debug build without it.

Prints a row for each defect: number, name, how many tests found it, the first of them, seconds. If none of its own
tests does, and `--own` is not given, those of the targets that can reach it run, the nearest first, until one finds it.
A defect that survived was switched on and ran; one that was never reached proves nothing. Ends with 1 for either. What fails without any defect finds nothing, so all these
tests run once before, unless `--trust` says that they pass. Rows for docs/proof.md go into the folder PROOF_ROWS, if it
is set. `--check` only sees whether all patches apply together to the sources here.
"""

import argparse
import fcntl
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNT = 50
FAILED = re.compile(
    r'^✘ Test (?!run with \d+ tests? in )"?(.+?)"? (?:with \d+ test cases? )?failed after', re.MULTILINE
)
# Where a test ends the process, no test has failed yet.
ISSUE = re.compile(r'^✘ Test "?(.+?)"? recorded an issue', re.MULTILINE)

# The chosen number is the first byte of a file, mapped into each process, so that reading it again is no system call and
# telling that it was reached is none either. It is not in the environment, which tests clear.
SWITCH = """\
private import Glibc

private let page: UInt = {
    let file = unsafe Glibc.open(PATH, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { _ = Glibc.close(file) }
    let page = unsafe mmap(nil, 2, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    return unsafe page == MAP_FAILED ? 0 : UInt(bitPattern: page)
}()

func seeded(_ number: UInt8) -> Bool {
    guard let bytes = unsafe UnsafeMutablePointer<UInt8>(bitPattern: page), unsafe bytes[0] == number else { return false }
    unsafe bytes[1] = number
    return true
}
"""


@dataclass
class Defect:
    """A patch: its number, its name, the filter of its tests, and the text."""

    number: int
    name: str
    tests: str
    text: str

    @staticmethod
    def read(path):
        text = path.read_text(encoding="utf-8")
        match = re.match(r".+\.\nTests: (\S+)\n\n", text)
        return Defect(int(path.name[:2]), path.stem[3:], match[1] if match else "", text)

    @property
    def files(self):
        return re.findall(r"^\+\+\+ b/(\S+)$", self.text, re.MULTILINE)

    @property
    def modules(self):
        """The folders of the targets that it changes."""
        return {Path(*Path(file).parts[:3]) for file in self.files}

    def apply(self, folder):
        """What is wrong with the patch, or None."""
        # A repository around the folder would make git leave out what is not in it.
        environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
        result = subprocess.run(
            ["git", "apply", "-"], cwd=folder, env=environment, input=self.text.encode(), capture_output=True, check=False
        )
        return result.stderr.decode().splitlines()[0] if result.returncode else None


def all_defects():
    return [Defect.read(path) for path in sorted(HERE.glob("[0-9][0-9]-*.patch"))]


def check(defects):
    """Ends with 1 unless all patches apply together, and each says what is wrong and which tests should find it."""
    wrong = []
    if [defect.number for defect in defects] != list(range(1, COUNT + 1)):
        wrong.append(f"the patches are not numbered from 01 to {COUNT}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for file in {file for defect in defects for file in defect.files}:
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, copy / file)
        for defect in defects:
            if not defect.tests:
                wrong.append(f"{defect.name}: its first two lines are a sentence and 'Tests: FILTER'")
            if set(re.findall(r"^\+.*?\bseeded\((\d+)\)", defect.text, re.MULTILINE)) != {str(defect.number)}:
                wrong.append(f"{defect.name}: what it adds is not behind 'seeded({defect.number})'")
            if problem := defect.apply(copy):
                wrong.append(f"{defect.name} does not apply: {problem}")
    print("\n".join(wrong) or f"{len(defects)} patches apply together")
    sys.exit(1 if wrong else 0)


class Copy:
    """The sources with all defects, and what was built of them."""

    def __init__(self, folder, defects):
        self.folder = folder
        self.switch = folder.resolve() / ".build/seeded-defect"
        self.flags = shlex.split(os.environ.get("OPTIMIZED", ""))
        self.make(defects)

    def make(self, defects):
        """Writes only the files that differ, so that little is compiled again."""
        if (self.folder / "Package.swift").exists() and not self.switch.exists():
            sys.exit(f"{self.folder} was not made by this script, which would write defects into it")
        self.switch.parent.mkdir(parents=True, exist_ok=True)
        self.switch.touch()
        self.lock = self.switch.open("rb")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run uses {self.folder}")
        self.choose(0)
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder)
            for file in self.listed():
                (made / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, made / file, follow_symlinks=False)
            for defect in defects:
                if problem := defect.apply(made):
                    sys.exit(f"{defect.name} does not apply: {problem}")
            for module in {module for defect in defects for module in defect.modules}:
                text = SWITCH.replace("PATH", json.dumps(str(self.switch)))
                (made / module / "Seeded.swift").write_text(text, encoding="utf-8")
            self.take(made)

    @staticmethod
    def listed():
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [name for name in names.split("\0") if name and os.path.lexists(ROOT / name)]

    def take(self, made):
        kept = set()
        for path in (path for path in made.rglob("*") if path.is_symlink() or path.is_file()):
            target = self.folder / path.relative_to(made)
            kept.add(target)
            is_same = not path.is_symlink() and target.is_file() and target.read_bytes() == path.read_bytes()
            if not is_same or target.stat().st_mode != path.stat().st_mode:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                shutil.copy(path, target, follow_symlinks=False)
        for path in [path for name in ("Sources", "Tests") for path in (self.folder / name).rglob("*")]:
            if (path.is_symlink() or path.is_file()) and path not in kept:
                path.unlink()

    def swift(self, *arguments):
        result = subprocess.run(
            ["swift", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if result.returncode:
            lines = result.stdout.splitlines()
            # Where the compiler itself ends, it says last in which function.
            sys.exit("\n".join([line for line in lines if re.search(r"error:|^\d+\.\t|^ for '", line)] or lines[-20:]))
        return result.stdout

    def build(self):
        self.swift("build", *self.flags, "--build-tests")

    @functools.cached_property
    def tests(self):
        place = self.swift("build", *self.flags, "--show-bin-path").splitlines()[-1]
        return f"{place}/kcbackupPackageTests.xctest"

    @functools.cached_property
    def package(self):
        result = subprocess.run(["swift", "package", "dump-package"], cwd=self.folder, capture_output=True, check=True)
        return json.loads(result.stdout)

    def dependents(self, modules):
        """The test targets that use one of the modules, the nearest first, except those that look at source text."""
        uses = {
            target["name"]: {name[0] for dependency in target["dependencies"] for name in dependency.values() if name}
            for target in self.package["targets"]
        }
        order = sorted(module.name for module in modules)
        while more := sorted(name for name in uses if name not in order and uses[name] & set(order)):
            order += more
        tests = {target["name"] for target in self.package["targets"] if target["type"] == "test"} - {"StyleTests"}
        # That which kills the program at every system call takes the longest.
        return sorted((name for name in order if name in tests), key=lambda name: name == "FaultTests")

    def choose(self, number):
        # Tests run the program as other users, too.
        self.switch.chmod(0o666)
        with self.switch.open("r+b") as file:
            file.write(bytes([number, 0]))

    @functools.cache
    def failing_anyway(self, tests):
        """The tests that fail without a defect."""
        failed, _ = self.run(0, tests)
        for name in failed:
            print(f"fails without a defect: {name}", flush=True)
        return failed

    def run(self, number, tests):
        self.choose(number)
        environment = {"LIMIT": "30m"} | os.environ | {"TESTS": self.tests}
        # Rows of the tests that are run here are none of this proof.
        environment.pop("PROOF_ROWS", None)
        try:
            result = subprocess.run(
                [".ci/run-tests", "--filter", tests],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment,
                check=False,
            )
            is_reached = self.switch.read_bytes()[1] == number
        finally:
            self.choose(0)
        if result.returncode == 0:
            if not re.search(r"Test run with [1-9]", result.stdout):
                sys.exit(f"no test has the name {tests}")
            return [], is_reached
        # What failed is repeated at the end.
        failed = list(dict.fromkeys(FAILED.findall(result.stdout) or ISSUE.findall(result.stdout)))
        return failed or [f"the run ended with {result.returncode}"], is_reached


def by_target(filters):
    """Each target of some filters, with what of them is about it: its tests need a process of their own."""
    parts = {}
    for tests in filters:
        for part in re.split(r"\|(?![^(]*\))", tests):
            parts.setdefault(part.partition(".")[0], set()).add(part)
    return {
        target: "|".join(f"^{part}" if "." in part else rf"^{part}\." for part in sorted(parts[target]))
        for target in sorted(parts)
    }


@dataclass
class Verdict:
    """What became of a defect."""

    defect: Defect
    own: list
    others: list
    is_reached: bool
    seconds: float

    @property
    def is_found(self):
        return bool(self.own or self.others)

    @property
    def words(self):
        if self.own:
            return str(len(self.own))
        if self.others:
            return f"{len(self.others)}, none of its own"
        return "survived" if self.is_reached else "never reached"

    @property
    def row(self):
        first = (self.own + self.others + ["–"])[0].replace("|", "\\|")
        return f"| {self.defect.number:02} | {self.defect.name} | {self.words} | {first} | {self.seconds:.0f} s |"

    @property
    def proof(self):
        words = f"found by {self.words}" if self.is_found else self.words
        failures = 0 if self.is_found else 1
        return f"| seeded defect {self.defect.number:02}, {self.defect.name}: {words} | 1 | {failures} | – | {self.seconds:.0f} s |"


def judge(defect, copy, known, *, is_own):
    """Runs the tests of a defect, and unless `is_own` is true, others if none finds it.

    `known` has the tests that fail anyway, by target, among those that belong to defects.
    """
    began = time.monotonic()
    own, others, is_reached = [], [], False
    for target, tests in by_target([defect.tests]).items():
        failed, is_here = copy.run(defect.number, tests)
        own += [name for name in failed if name not in known.get(target, [])]
        is_reached |= is_here
    for target in [] if own or is_own else copy.dependents(defect.modules):
        tests = rf"^{target}\."
        failed, is_here = copy.run(defect.number, tests)
        others = [name for name in failed if name not in copy.failing_anyway(tests)]
        is_reached |= is_here
        if others:
            break
    return Verdict(defect, own, others, is_reached, time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--in", dest="folder", type=Path, default=ROOT / ".build/seeded-defects")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NN")
    options = parser.parse_args()
    defects = all_defects()
    if options.check:
        check(defects)
    chosen = [defect for defect in defects if defect.number in options.numbers or not options.numbers]
    if unknown := set(options.numbers) - {defect.number for defect in chosen}:
        parser.error(f"there is no defect {min(unknown)}")
    copy = Copy(options.folder, defects)
    copy.build()
    own = {} if options.trust else by_target([defect.tests for defect in chosen])
    known = {target: copy.failing_anyway(tests) for target, tests in own.items()}
    print("| number | defect | found by | first | time |\n|---|---|---|---|---|", flush=True)
    verdicts = []
    for defect in chosen:
        verdicts.append(judge(defect, copy, known, is_own=options.own))
        print(verdicts[-1].row, flush=True)
    if rows := os.environ.get("PROOF_ROWS"):
        Path(rows, "rows").write_text("".join(f"{verdict.proof}\n" for verdict in verdicts), encoding="utf-8")
    found = sum(verdict.is_found for verdict in verdicts)
    print(f"{found} of {len(verdicts)} found")
    sys.exit(0 if found == len(verdicts) else 1)


if __name__ == "__main__":
    main()
