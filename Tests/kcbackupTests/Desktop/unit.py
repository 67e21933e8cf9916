"""Runs the command of a service like systemd, as far as that needs no service manager.

    unit.py UNIT [VARIABLE=VALUE...]

The restrictions that could make the command fail are applied; an unknown setting is an error. As in a service, nothing
but the named variables is in the environment.
"""

import ctypes
import os
import resource
import shlex
import subprocess
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, FAMILY = 1, 97
NOT_EQUAL, MASKED_EQUAL = 1, 7
# Type, priority, limits and protections that take away nothing that a program could miss.
IGNORED = """Type TimeoutStartSec Nice IOSchedulingClass KeyringMode LockPersonality RestrictRealtime RestrictSUIDSGID
SystemCallArchitectures SystemCallErrorNumber AmbientCapabilities ProtectClock ProtectControlGroups ProtectHostname
ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc ProcSubset RemoveIPC IPAddressDeny User
LimitMEMLOCK ProtectHome PrivateTmp PrivateDevices""".split()

seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p
libc = ctypes.CDLL(None, use_errno=True)


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    def __init__(self, otherwise):
        self.context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(otherwise)))

    def add(self, action, call, *comparisons):
        number = seccomp.seccomp_syscall_resolve_name(call.encode())
        if number == -1:
            return
        array = (Comparison * len(comparisons))(*comparisons)
        done = seccomp.seccomp_rule_add_array(self.context, ctypes.c_uint32(action), number, len(comparisons), array)
        # A rule for what happens anyway, or for a call of another processor.
        assert done in (0, -13, -22, -33), (call, done)

    def load(self):
        assert seccomp.seccomp_load(self.context) == 0


def calls(group):
    """The system calls of a group, as systemd has them."""
    if not group.startswith("@"):
        return {group}
    text = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in text.splitlines()[1:]]
    return set().union(*(calls(member) for member in members if member and not member.startswith("#")))


def make_read_only(writable):
    for path in writable:
        subprocess.run(["mount", "--bind", path, path], check=True)
    with open("/proc/self/mounts") as mounts:
        places = [line.split()[1].encode().decode("unicode_escape") for line in mounts]
    for place in places:
        if place not in writable and not place.startswith(("/dev", "/proc", "/sys")):
            subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
    # What a folder for tests is on.
    if os.path.ismount("/dev/shm"):
        subprocess.run(["mount", "-o", "remount,bind,ro", "/dev/shm"], check=True)


with open(sys.argv[1]) as unit:
    lines = [line.strip() for line in unit]
start = lines.index("[Service]") + 1
environment = dict(word.split("=", 1) for word in sys.argv[2:])
filters, command, writable = [], None, []
allowed = set()
for line in lines[start:]:
    if not line:
        continue
    name, value = line.split("=", 1)
    if name == "Environment":
        variable, value = shlex.split(value)[0].split("=", 1)
        environment[variable] = value
    elif name == "ExecStart":
        command = shlex.split(value)
    elif name == "UMask":
        os.umask(int(value, 8))
    elif name == "LimitCORE":
        resource.setrlimit(resource.RLIMIT_CORE, (int(value), int(value)))
    elif name == "NoNewPrivileges":
        assert libc.prctl(38, 1, 0, 0, 0) == 0
    elif name == "RestrictAddressFamilies":
        sockets = Filter(ALLOW)
        if value == "none":
            sockets.add(ERRNO | FAMILY, "socket")
        else:
            assert value == "AF_UNIX", value
            sockets.add(ERRNO | FAMILY, "socket", Comparison(0, NOT_EQUAL, 1, 0))
        filters.append(sockets)
    elif name == "SystemCallFilter":
        groups = set().union(*(calls(group) for group in value.lstrip("~").split()))
        # Each line adds to the ones before it, or takes away from them.
        if value.startswith("~"):
            allowed -= groups
        else:
            allowed |= groups | calls("@default")
    elif name == "MemoryDenyWriteExecute":
        memory = Filter(ALLOW)
        memory.add(ERRNO | EPERM, "mmap", Comparison(2, MASKED_EQUAL, 6, 6))
        for call in ["mprotect", "pkey_mprotect"]:
            memory.add(ERRNO | EPERM, call, Comparison(2, MASKED_EQUAL, 4, 4))
        filters.append(memory)
    elif name == "RestrictNamespaces":
        spaces = Filter(ALLOW)
        for call in ["unshare", "setns"]:
            spaces.add(ERRNO | EPERM, call)
        filters.append(spaces)
    elif name == "CapabilityBoundingSet":
        assert value == ""
    elif name == "PrivateNetwork":
        assert libc.unshare(0x40000000) == 0
    elif name == "ProtectSystem":
        assert value == "strict"
    elif name == "ReadWritePaths":
        paths = shlex.split(value)
        writable = [path.lstrip("-") for path in paths if not path.startswith("-") or os.path.exists(path[1:])]
        make_read_only(writable)
    else:
        assert name in IGNORED, line
if allowed:
    system_calls = Filter(ERRNO | EPERM)
    for call in sorted(allowed) + ["execve"]:
        system_calls.add(ALLOW, call)
    filters.append(system_calls)
for one in filters:
    one.load()
os.chdir("/")
os.execve(command[0], command, environment)
