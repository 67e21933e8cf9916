"""Runs a command, and searches what it starts, and the memory of one program, for canaries.

    watch.py [--every N] [--signal NUMBER] [--page-out] CANARIES PROGRAM REPORT COMMAND…

CANARIES is a file with a text to find in each line, in hexadecimal. REPORT becomes a file with a JSON object in each line.
All processes that the command starts are traced, so that none is missed:

- `start`: a program was executed; its arguments, its environment and its name are searched.
- `stop`: PROGRAM stands before every Nth system call; its memory is searched.
- `exit`: PROGRAM has done what it does and is about to end; its memory is searched.
- `end`: it has ended, with this status, or killed by the signal -status, and `core` says whether the kernel wrote a core.

`found` names the places of canaries. With --signal, PROGRAM gets that signal at the first stop that finds one; with
--page-out, the kernel is asked at each stop to write the memory of PROGRAM to swap space. The
ability to trace programs that hide their memory (CAP_SYS_PTRACE) is needed.
"""

import argparse
import ctypes
import json
import os
import re
import signal
import sys

TRACEME, CONT, SYSCALL, SETOPTIONS, SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E
EXEC, EXIT = 4, 6
PIDFD_OPEN, PROCESS_MADVISE, PAGEOUT = 434, 440, 21
# System calls are marked; forks, threads, execve and exit are reported; nothing is left running.
OPTIONS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << EXEC | 1 << EXIT | 1 << 20
ENTRY = 1
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int, default=0)
parser.add_argument("--signal", type=int, default=0)
parser.add_argument("--page-out", action="store_true")
parser.add_argument("canaries")
parser.add_argument("program")
parser.add_argument("report")
parser.add_argument("command", nargs=argparse.REMAINDER)
options = parser.parse_args()
with open(options.canaries) as lines:
    canaries = [bytes.fromhex(line) for line in lines]
program = os.path.realpath(options.program)
log = open(options.report, "w")


def report(event, words, **more):
    print(json.dumps({"event": event, "words": words, **more}), file=log, flush=True)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def occurrences(data):
    """The places of canaries; one that overlaps another, or follows it, is part of it."""
    places = []
    for canary in canaries:
        place = data.find(canary)
        while place >= 0:
            places.append((place, place + len(canary)))
            place = data.find(canary, place + 1)
    ends = -1
    for start, end in sorted(places):
        if start > ends:
            yield start
        ends = max(ends, end)


def regions(process):
    """Each part of the memory that the process can have written to, with its start, its end, its name and its flags."""
    region = None
    for line in read(f"/proc/{process}/smaps").decode().splitlines():
        if header := re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S)(\S)\S+ \S+ \S+ (\d+) *(.*)", line):
            start, end, reads, writes, node, name = header.groups()
            region = [int(start, 16), int(end, 16), name if name.startswith("[") else "data" if name else "pages"]
            wanted = reads == "r" and (writes == "w" or node == "0") and not name.startswith("[v")
        elif line.startswith("Rss:"):
            wanted = wanted and not line.endswith(" 0 kB")
        elif line.startswith("VmFlags:") and wanted:
            yield *region, line.split()[1:]


def searched(process):
    found = []
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for start, end, name, flags in regions(process):
            data = os.pread(memory.fileno(), end - start, start)
            place = name if "lo" not in flags else "locked" if "dd" in flags else "locked, but dumped"
            found += [place for _ in occurrences(data)]
    return found


class Part(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def page_out(process):
    parts = [Part(start, end - start) for start, end, _, flags in regions(process) if "lo" not in flags]
    descriptor = libc.syscall(PIDFD_OPEN, process, 0)
    for part in parts:
        # Fewer bytes than asked for are paged out where pages are in use; an error is no permission.
        if libc.syscall(PROCESS_MADVISE, descriptor, ctypes.byref(part), ctypes.c_size_t(1), PAGEOUT, 0) < 0:
            sys.exit(f"watch.py: cannot page out: {os.strerror(ctypes.get_errno())}")
    os.close(descriptor)


class CallInfo(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint8), ("rest", ctypes.c_uint8 * 127)]


def is_entry(thread):
    info = CallInfo()
    libc.ptrace(SYSCALL_INFO, thread, ctypes.sizeof(info), ctypes.addressof(info))
    return info.kind == ENTRY


def process_of(thread):
    return int(re.search(r"^Tgid:\s*(\d+)$", read(f"/proc/{thread}/status").decode(), re.M)[1])


words = {}
calls = {}
signalled = set()


def executed(process):
    arguments = read(f"/proc/{process}/cmdline")
    parts = {"arguments": arguments, "environment": read(f"/proc/{process}/environ"), "name": read(f"/proc/{process}/comm")}
    found = [name for name, data in parts.items() for _ in occurrences(data)]
    line = arguments.decode(errors="replace").split("\0")[:-1]
    words.pop(process, None)
    if os.readlink(f"/proc/{process}/exe") == program:
        words[process] = line[1:]
    report("start", line, found=found)


def called(thread):
    process = process_of(thread)
    if process not in words or not is_entry(thread):
        return
    calls[process] = calls.get(process, 0) + 1
    if calls[process] % options.every == 0:
        found = searched(process)
        report("stop", words[process], found=found)
        if options.page_out:
            page_out(process)
        if found and options.signal and process not in signalled:
            signalled.add(process)
            os.kill(process, options.signal)


def handled(thread, status):
    """Looks at why a thread stands, and returns the signal that it is to get."""
    number, event = os.WSTOPSIG(status), status >> 16
    if event == EXEC:
        executed(thread)
    elif event == EXIT and thread in words and thread not in signalled:
        report("exit", words[thread], found=searched(thread))
    elif number == signal.SIGTRAP | 0x80:
        called(thread)
    elif not event and (thread in known or number != signal.SIGSTOP):
        return number
    return 0


first = os.fork()
if first == 0:
    libc.ptrace(TRACEME, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.execvp(options.command[0], options.command)
os.waitpid(first, WALL)
libc.ptrace(SETOPTIONS, first, None, OPTIONS)
known = {first}
step = SYSCALL if options.every else CONT
libc.ptrace(step, first, None, None)
result = 1
while True:
    try:
        thread, status = os.waitpid(-1, WALL)
    except ChildProcessError:
        break
    if os.WIFSTOPPED(status):
        libc.ptrace(step, thread, None, handled(thread, status))
        known.add(thread)
        continue
    known.discard(thread)
    if thread == first:
        result = os.waitstatus_to_exitcode(status)
    if thread in words:
        core = os.WIFSIGNALED(status) and os.WCOREDUMP(status)
        report("end", words.pop(thread), found=[], status=os.waitstatus_to_exitcode(status), core=core)
sys.exit(result if result >= 0 else 128 - result)
