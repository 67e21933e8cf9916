#!/usr/bin/env python3
"""Whether the tests find forty defects: the patches of this folder are applied, built and tested, one at a time.

    run.py [--check] [--in FOLDER] [--into FILE] [--trust] [NN ...]

The first line of a patch says what is wrong; `Tests:` is the filter with which a developer who works there would test.
FOLDER is a clone of this project with nothing uncommitted, by default .build/seeded-defects, which is made; what was
built there before makes it quicker. Prints, and appends to FILE, a row for each patch: number, name, how many tests
found it and the first of them, seconds. Ends with 1 if a defect survives. What fails without any patch finds nothing, so
all these tests run once before, unless `--trust` says that they pass. `--check` only sees whether all patches apply to
the sources here.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNT = 40
TESTS = ".build/debug/kcbackupPackageTests.xctest"
FAILED = re.compile(r'^✘ Test "?(.+?)"? (?:with \d+ test cases )?failed after', re.MULTILINE)


def git(folder, *arguments, patch=None):
    return subprocess.run(["git", "-C", folder, *arguments], input=patch, capture_output=True, check=False)


def patches(numbers):
    found = sorted(HERE.glob("[0-9][0-9]-*.patch"))
    return [path for path in found if not numbers or path.name[:2] in numbers]


def check(found):
    """Ends with 1 if a patch does not apply, or does not say what is wrong and which tests should find it."""
    wrong = [] if len(found) == COUNT else [f"there are {len(found)} patches instead of {COUNT}"]
    for path in found:
        text = path.read_text(encoding="utf-8")
        first, second = text.split("\n")[:2]
        if not first.endswith(".") or not second.startswith("Tests: "):
            wrong.append(f"{path.name}: its first two lines are a sentence and 'Tests: FILTER'")
        applied = git(ROOT, "apply", "--check", "-", patch=text.encode())
        if applied.returncode:
            wrong.append(f"{path.name} does not apply: {applied.stderr.decode().splitlines()[0]}")
    print("\n".join(wrong) or f"{len(found)} patches apply")
    sys.exit(1 if wrong else 0)


def build(folder):
    return subprocess.run(["swift", "build", "--build-tests"], cwd=folder, capture_output=True, text=True, check=False)


def failed_tests(folder, tests):
    """The names of the tests that failed, or how the run ended; an empty list if all passed."""
    environment = os.environ | {"TESTS": TESTS}
    result = subprocess.run(
        [".ci/run-tests", "--filter", tests],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        check=False,
    )
    if result.returncode == 0:
        if not re.search(r"Test run with [1-9]", result.stdout):
            sys.exit(f"no test has the name {tests}")
        return []
    names = FAILED.findall(result.stdout)
    return names or [f"the run ended with {result.returncode}"]


def tests_of(path):
    return re.match(r".*\nTests: (.*)\n", path.read_text(encoding="utf-8"))[1]


def failing_anyway(found, folder):
    """The tests that fail without any patch."""
    if build(folder).returncode:
        sys.exit("the sources do not build without a patch")
    return set(failed_tests(folder, "|".join(sorted({tests_of(path) for path in found}))))


def judge(path, folder, ignored):
    """The row of a patch, and whether the tests found it."""
    text = path.read_text(encoding="utf-8")
    number, _, name = path.stem.partition("-")
    applied = git(folder, "apply", "-", patch=text.encode())
    if applied.returncode:
        sys.exit(f"{path.name} does not apply: {applied.stderr.decode()}")
    began = time.monotonic()
    try:
        built = build(folder)
        if built.returncode:
            errors = "\n".join(line for line in built.stdout.splitlines() if "error:" in line)
            sys.exit(f"{path.name} does not build:\n{errors}")
        failed = [name for name in failed_tests(folder, tests_of(path)) if name not in ignored]
    finally:
        git(folder, "apply", "--reverse", "-", patch=text.encode())
    found = f"{len(failed)}: {failed[0]}" if failed else "survived"
    return f"| {number} | {name} | {found} | {time.monotonic() - began:.0f} s |", bool(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--in", dest="folder", type=Path, default=ROOT / ".build/seeded-defects")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("numbers", nargs="*")
    options = parser.parse_args()
    chosen = patches(options.numbers)
    if options.check:
        check(chosen)
    if not options.folder.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, options.folder], check=True)
    if git(options.folder, "status", "--porcelain", "--untracked-files=no").stdout:
        sys.exit(f"{options.folder} has changes that are not committed")
    ignored = set() if options.trust else failing_anyway(chosen, options.folder)
    survived = 0
    for path in chosen:
        row, is_found = judge(path, options.folder, ignored)
        survived += not is_found
        print(row, flush=True)
        if options.into:
            with options.into.open("a", encoding="utf-8") as file:
                print(row, file=file)
    print(f"{len(chosen) - survived} of {len(chosen)} found")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
