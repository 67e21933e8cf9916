"""The tables of a run of the bench, what its goals say of it, and the place in the documentation."""

import dataclasses
import datetime
import os
import platform
import re
import resource
import statistics
import subprocess
import textwrap

import picture

NOW, BEFORE, END = "<!-- bench: this commit -->", "<!-- bench: the commit before -->", "<!-- bench: end -->"


@dataclasses.dataclass
class Figures:
    """What was measured of a command, one number for each round; the size of its output in bytes, if it has one."""
    walls: list
    processors: list
    peaks: list
    size: int | None


@dataclasses.dataclass
class Result:
    """The figures of all commands for one number of items, and which commands lack which program."""
    figures: dict
    absent: dict
    runs: int


# What is compared with what: the names of commands, the second ones added up, the most that the ratio may be, and for
# which numbers of items, all of them by default.
RATIOS = [
    ("create", [".backup | zstd | age, compared"], 1.0, None),
    ("create", [".backup | gzip | age"], 0.5, None),
    ("create --if-changed", ["kcbackup create"], 0.15, None),
    ("verify", ["age -d | zstd -d"], 1.5, None),
    ("verify", ["age -d | gzip -d of the archive"], 1.5, None),
    ("inspect", ["kcbackup verify"], 1.5, None),
    ("inspect --json", ["kcbackup verify"], 1.3, None),
    ("restore", ["kcbackup verify", "sqlite3 insert"], 1.3, None),
    ("restore again", ["kcbackup verify", "sqlite3 insert"], 1.0, None),
    ("item list", ["sqlite3 select *"], 3.0, None),
    ("item find", ["sqlite3 select *"], 3.0, None),
    ("create", ["restic backup"], 0.7, 1_000_000),
    ("create --unencrypted", ["borg unencrypted create"], 1.0, 1_000_000),
    ("create", ["restic backup"], 0.1, 15_000),
    ("verify", ["restic check --read-data"], 0.1, 15_000),
    ("inspect", ["restic ls"], 0.1, 15_000),
    ("restore", ["restic restore"], 0.1, 15_000),
]
# The most seconds of wall and of processor time.
SECONDS = [("import", 6.0, 1_000_000), ("--version", 0.006, None), ("item list of 20 items", 0.015, None)]
MOST_MEMORY = 128


class Surroundings:
    """The machine, the programs, and what else ran."""

    def __init__(self, project, kcbackup, peers):
        self.load = os.getloadavg()
        self.started = datetime.datetime.now(datetime.timezone.utc)
        self.machine = machine()
        self.commit = words("git", "-C", str(project), "rev-parse", "--short=10", "HEAD") or "no commit"
        if words("git", "-C", str(project), "status", "--porcelain", "--untracked-files=no"):
            self.commit += " with changes"
        self.versions = f"kcbackup {version(str(kcbackup))}, " + ", ".join(f"{peer} {version(peer)}" for peer in peers)

    def finished(self, note):
        first, last = (", ".join(f"{number:.2f}" for number in load) for load in (self.load, os.getloadavg()))
        said = [f"{self.started:%Y-%m-%d %H:%M} UTC, commit {self.commit}.", f"{self.machine}.",
                f"Load average over 1, 5 and 15 minutes: {first} at the start, {last} at the end.", note,
                f"Versions: {self.versions}."]
        return textwrap.fill(" ".join(filter(None, said)), 120, break_on_hyphens=False)


def words(*command):
    """The first line that a command prints, or nothing if it fails."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (result.stdout or result.stderr).split("\n")[0].strip()


def version(program):
    """The version that a program prints, in whatever words it does."""
    said = words(program, "version") if program == "restic" else words(program, "--version")
    found = re.search(r"[0-9]+(\.[0-9]+)+", said)
    return found[0] if found else "not installed"


def machine():
    with open("/proc/cpuinfo") as lines:
        models = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        model = next(models, platform.machine())
    with open("/etc/os-release") as lines:
        system = next((line.split("=")[1].strip().strip('"') for line in lines if line.startswith("PRETTY_NAME=")), "")
    with open("/proc/meminfo") as lines:
        memory = int(lines.readline().split()[1]) / 2**20
    place = os.environ.get("TMPDIR", "/tmp")
    files = words("stat", "--file-system", "--format=%T", place)
    processors = len(os.sched_getaffinity(0))
    return f"{processors} processors ({model}), {memory:.0f} GiB, {system}, Linux {platform.release()}, {files}"


def ratio(figures, name, others, times):
    """The median over all rounds of what `name` took, divided by what the others took together in the same round."""
    rows = zip(getattr(figures[name], times), *(getattr(figures[other], times) for other in others))
    return statistics.median(row[0] / sum(row[1:]) for row in rows)


def goals(results):
    """Lines of what is demanded, what was measured of it, and whether it is met."""
    for name, others, most, only in RATIOS:
        for count, result in results.items():
            verb = f"kcbackup {name}"
            if only not in (None, count):
                continue
            goal = f"`{name}` / ({' + '.join(f'`{other}`' for other in others)})".replace("kcbackup ", "")
            lacking = next((result.absent[other] for other in others if other in result.absent), None)
            if lacking:
                yield goal, count, f"{lacking} is not installed", f"≤ {most:g}", "not measured"
                continue
            pair = [ratio(result.figures, verb, others, times) for times in ("walls", "processors")]
            yield goal, count, f"{pair[0]:.2f}, {pair[1]:.2f} cpu", f"≤ {most:g}", verdict(max(pair) <= most)
    for name, most, only in SECONDS:
        for count, result in list(results.items())[:1] if only is None else results.items():
            if only in (None, count):
                wall = statistics.median(result.figures[f"kcbackup {name}"].walls)
                yield f"`{name}`", count, seconds(wall), f"≤ {seconds(most)}", verdict(wall <= most)
    for count, result in results.items():
        name, peak = max(((name, max(f.peaks)) for name, f in result.figures.items() if name.startswith("kcbackup ")),
                         key=lambda pair: pair[1])
        name = name.removeprefix("kcbackup ")
        measured, most = f"{peak:.0f} MiB (`{name}`)", f"≤ {MOST_MEMORY} MiB"
        yield "memory of any verb", count, measured, most, verdict(peak <= MOST_MEMORY)


def verdict(met):
    return "met" if met else "**missed**"


def seconds(number):
    return f"{number * 1000:.1f} ms" if number < 0.1 else f"{number:.2f} s" if number < 10 else f"{number:.1f} s"


def memory(peaks):
    # A process that is started begins with the peak of the one that starts it.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{max(peaks):.0f} MiB" if max(peaks) > own else f"< {own:.0f} MiB"


def row(name, figures):
    walls = figures.walls
    size = f"{figures.size:,}" if figures.size is not None else "–"
    return (f"| `{name}` | {seconds(statistics.median(walls))} | {seconds(min(walls))} – {seconds(max(walls))} | "
            f"{seconds(statistics.median(figures.processors))} | {memory(figures.peaks)} | {size} |")


def escaped(name):
    # A bar would end the cell, even in code.
    return name.replace("|", "\\|")


def text(results, surroundings, left_out):
    """The tables; `left_out` says what is measured with how many items at most."""
    lines = [surroundings, "", "| goal | items | measured | demanded | |", "|---|---|---|---|---|"]
    lines += [f"| {escaped(goal)} | {count:,} | {measured} | {most} | {met} |"
              for goal, count, measured, most, met in goals(results)]
    for count, result in results.items():
        absent = "".join(f" Not measured with more than {most:,} items: {what}."
                         for what, most in left_out.items() if count > most)
        lines += ["", f"{count:,} items, medians of {result.runs} rounds.{absent}", "",
                  "| command | time | from – to | processor time | peak memory | bytes |", "|---|---|---|---|---|---|"]
        lines += [row(escaped(name), figures) for name, figures in result.figures.items()]
        lines += [f"| `{escaped(name)}` | {peer} is not installed | | | | |" for name, peer in result.absent.items()]
    return "\n".join(lines)


def write(project, text, results):
    """Puts the tables into the documentation; those that were there become those of the commit before."""
    path = project / "docs/performance.md"
    whole = path.read_text()
    head, rest = whole.split(NOW)
    earlier, rest = rest.split(BEFORE)
    before, tail = rest.split(END)
    earlier = "\n".join(line for line in earlier.split("\n") if not line.startswith("![")).strip()
    if earlier:
        before = f"\n\n### The commit before\n\n{earlier}\n\n"
    count = max(results)
    shown = f"![Seconds for {count:,} items, of kcbackup and of other programs](pictures/performance.svg)"
    path.write_text(f"{head}{NOW}\n\n{shown}\n\n{text}\n\n{BEFORE}{before}{END}{tail}")
    (project / "docs/pictures/performance.svg").write_text(picture.draw(count, {
        name: statistics.median(figures.walls) for name, figures in results[count].figures.items()}))
