"""kcbackup and the second reader side by side: both read a file, and what they say is compared."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from . import age, archive, canonical, keychain
from .device import Device
from .primitives import encode_bech32
from .verdict import Damaged, Refused
from .writer import KeychainWriter, raw

OK, INCOMPLETE = 0, 3
PASSPHRASE, PASSCODE = b"walnut lantern orbit velvet", b"copper-raven-71"
CREATED = canonical.date("2026-03-01T09:30:00.123456Z")


class Difference(Exception):
    pass


def same(mine, theirs, what):
    if mine != theirs:
        raise Difference(f"{what}: the second reader has {str(mine)[:300]}, kcbackup has {str(theirs)[:300]}")


def listed(item):
    """An item as `kcbackup --json` prints it, without what follows from the rest."""
    value = json.loads(item.line)
    del value["travels"]
    return value


def printed(item):
    return {name: item[name] for name in ("class", "uuid", "size", "attributes", "extra") if name in item}


def digest(secret):
    return None if secret is None else hashlib.sha256(secret).hexdigest()


class Machine:
    """A home with a device key that both programs use, and keys for archives."""

    def __init__(self, kcbackup, folder, secret=None):
        """With `secret`, the device is that of these 32 bytes."""
        self.kcbackup, self.home = Path(kcbackup).resolve(), Path(folder)
        key = self.home / ".local/share/kcbackup/device.key"
        if secret:
            key.parent.mkdir(parents=True)
            key.write_text(encode_bech32(secret, "kcbackup-device-key-").upper() + "\nmachine none\n")
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "NO_COLOR": "1",
            "SWIFT_BACKTRACE": "enable=no",
        }
        self.run("keychain", "create", "--no-passcode")
        self.device = Device.read(key)
        self.identities = [X25519PrivateKey.generate() for _ in range(3)]
        self.recipients = [age.public_bytes(identity) for identity in self.identities]
        for number, identity in enumerate(self.identities):
            self.write(f"key{number}", encode_bech32(raw(identity), "age-secret-key-").upper().encode() + b"\n")
        self.write("passphrase", PASSPHRASE + b"\n")
        self.write("passcode", PASSCODE + b"\n")
        self.empty = KeychainWriter(self.device, CREATED, PASSCODE)
        self.empty.write(self.home / "empty.keychain", [])

    def write(self, name, data):
        path = self.home / name
        path.touch(0o600)
        path.write_bytes(data)
        return path

    def run(self, *arguments, expect=OK):
        result = subprocess.run(
            [self.kcbackup, *map(str, arguments)],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        if expect is not None and result.returncode != expect:
            raise Difference(
                f"kcbackup {' '.join(map(str, arguments))} gave {result.returncode}: {result.stderr.decode()[:600]}"
            )
        return result

    def objects(self, *arguments):
        """What one command prints about each of its archives or keychains, by its path; and its exit code."""
        result = self.run(*arguments, "--json", expect=None)
        if result.returncode < 0:
            raise Difference(f"kcbackup {' '.join(map(str, arguments))} was ended by signal {-result.returncode}")
        try:
            return [json.loads(line) for line in result.stdout.splitlines()], result.returncode
        except ValueError as error:
            raise Difference(f"kcbackup {' '.join(map(str, arguments))} did not print JSON: {error}") from error

    def backed_up_again(self, path, *keys):
        """The archive of a keychain into which the archive was restored."""
        target, again = self.home / "target.keychain", self.home / "again.kcb"
        again.unlink(missing_ok=True)
        shutil.copy(self.home / "empty.keychain", target)
        self.run("restore", path, *keys, "--keychain", "./target.keychain", "--passcode", "file:passcode", "--no-undo")
        self.run(
            "create",
            "--keychain",
            "./target.keychain",
            "--passcode",
            "file:passcode",
            "-r",
            encode_bech32(self.recipients[0], "age"),
            again,
        )
        return archive.read(again.read_bytes(), archive.Keys((self.identities[0],), device=self.device))


def opened(found):
    """Lines and hashes of the secrets that can be restored."""
    return [(record.item.line, digest(record.secret)) for record in found.records if record.state == "opened"]


class Case:
    """A file, what opens it, and what both programs say about it."""

    def __init__(self, path, keys, arguments):
        self.path, self.keys, self.arguments = path, keys, arguments


def mine(data, keys, metadata_only):
    try:
        return archive.read(data, keys, metadata_only), OK
    except Refused as refused:
        return refused, refused.code


def compare_inspect(case, printed_object):
    found, code = mine(case.path.read_bytes(), case.keys, True)
    theirs = printed_object.get("error", {}).get("code", OK)
    if code != theirs:
        raise Difference(
            f"inspect: the second reader says {code} ({found}), kcbackup {theirs}: "
            f"{printed_object.get('error', {}).get('message')}"
        )
    if code == OK:
        same([listed(record.item) for record in found.records], list(map(printed, printed_object["items"])), "items")
        same(
            [found.counts, found.omitted, found.damaged],
            [printed_object["contents"][name] for name in ("counts", "omitted", "damaged")],
            "contents",
        )
        same(found.source, printed_object["source"], "source")


def compare_verify(case, printed_object):
    found, code = mine(case.path.read_bytes(), case.keys, False)
    theirs = printed_object.get("error", {}).get("code", OK)
    if code != theirs:
        raise Difference(
            f"verify: the second reader says {code} ({found}), kcbackup {theirs}: "
            f"{printed_object.get('error', {}).get('message')}"
        )
    if code == OK and printed_object["verified"]:
        states = [record.state for record in found.records]
        same(
            [states.count(state) for state in ("opened", "elsewhere", "unopened")],
            [printed_object[name] for name in ("opened", "sealedElsewhere", "notOpened")],
            "states",
        )
        same(
            [listed(record.item) for record in found.records if record.state == "broken"],
            list(map(printed, printed_object["broken"])),
            "broken items",
        )
    return found if code == OK else None


def can_restore(case, found):
    """True if a restore writes every item: with a passcode in the keybag, it takes that, whatever the items need."""
    keybag = found.header.keybag
    return (
        found.damaged == 0
        and all(record.state == "opened" for record in found.records)
        and (keybag is None or not keybag.has_passcode or case.keys.passcode is not None)
    )


def compare_keychain(machine, path):
    printed_objects, theirs = machine.objects("item", "list", "--keychain", path)
    try:
        found, code = keychain.read(path, machine.device), OK
    except Refused as refused:
        found, code = refused, refused.code
    if code == OK and (found.damaged or any(row.state == "broken" for row in found.rows)):
        code = INCOMPLETE
    # A program may meet the fault or not, but what it lists are the rows.
    if code in (OK, INCOMPLETE) and found.doubtful and theirs == Damaged.code:
        return
    if code != theirs:
        raise Difference(
            f"item list: the second reader says {code} ({str(found)[:200]}), kcbackup {theirs}: "
            f"{str(printed_objects)[:400]}"
        )
    if code in (OK, INCOMPLETE):
        order = canonical.encode
        same(
            sorted((listed(row.item) for row in found.rows), key=order),
            sorted(map(printed, printed_objects[0]["items"]), key=order),
            "items",
        )
