#!/usr/bin/env python3
"""Prints the items of an archive or of a keychain file, as docs/format.md and docs/keychain-file.md describe them.

    read.py ARCHIVE [-i IDENTITY ...] [--passphrase-file FILE] [--device-key FILE] [--passcode-file FILE] [--metadata]
    read.py FILE.keychain --device-key FILE [--passcode-file FILE]

One JSON object: `items`, as `kcbackup inspect --json` has them, each with `state` and, if it was opened, the SHA-256 of
its secret as `secretHash`. A secret is never printed. The exit code is that of kcbackup, with the reason on stderr.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from kcb import archive, keychain
from kcb.device import Device
from kcb.primitives import decode_bech32
from kcb.verdict import Refused


def identities(path):
    lines = Path(path).read_text(encoding="ascii").splitlines()
    return [
        X25519PrivateKey.from_private_bytes(decode_bech32(line, "age-secret-key-"))
        for line in lines
        if line and not line.startswith("#")
    ]


def first_line(path):
    return Path(path).read_bytes().split(b"\n")[0] if path else None


def shown(item, state, secret):
    value = json.loads(item.line) | {"state": state}
    if secret is not None:
        value["secretHash"] = hashlib.sha256(secret).hexdigest()
    return value


def read(options):
    """The items, and whether one of them is broken or no item."""
    data = Path(options.file).read_bytes()
    device = Device.read(options.device_key) if options.device_key else None
    passcode = first_line(options.passcode_file)
    if data.startswith(b"SQLite format 3\0"):
        if not device:
            sys.exit("read.py: a keychain file opens with --device-key alone")
        found = keychain.read(options.file, device, passcode)
        rows = found.rows
        return (
            [shown(row.item, row.state, row.secret) for row in rows],
            found.doubtful or found.damaged > 0 or any(row.state == "broken" for row in rows),
        )
    keys = archive.Keys(
        [key for path in options.identity for key in identities(path)],
        first_line(options.passphrase_file),
        device,
        passcode,
    )
    found = archive.read(data, keys, options.metadata)
    return (
        [shown(record.item, record.state, record.secret) for record in found.records],
        any(record.state == "broken" for record in found.records),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("-i", "--identity", action="append", default=[])
    parser.add_argument("--passphrase-file")
    parser.add_argument("--device-key")
    parser.add_argument("--passcode-file")
    parser.add_argument("--metadata", action="store_true", help="read the metadata alone, as inspect does")
    try:
        items, is_incomplete = read(parser.parse_args())
    except Refused as refused:
        print(f"read.py: {refused}", file=sys.stderr)
        sys.exit(refused.code)
    print(json.dumps({"items": items}))
    sys.exit(3 if is_incomplete else 0)


if __name__ == "__main__":
    main()
