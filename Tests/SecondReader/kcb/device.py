"""A device: the keys that all come from its 32 bytes."""

import base64
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .primitives import decode_bech32, expand, extract, sha256
from .verdict import require

ID = re.compile(r"KC(-[A-Z2-7]{4}){5}")


def device_id(public):
    digits = base64.b32encode(sha256(public)).decode()[:20]
    return "KC-" + "-".join(digits[at : at + 4] for at in range(0, 20, 4))


class Device:
    def __init__(self, secret):
        self._root = extract(b"kcbackup/v1/device-key", secret)
        self.signing_seed = self.key(b"signing-seed")
        key = Ed25519PrivateKey.from_private_bytes(self.signing_seed)
        self.id = device_id(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def key(self, purpose, context=b"", size=32):
        return expand(self._root, b"kcbackup/v1/" + purpose + context, size)

    def seal_keys(self, mode, archive):
        """Sealing key and commitment."""
        keys = self.key(b"seal-keys", bytes([len(mode)]) + mode.encode() + archive, 64)
        return keys[:32], keys[32:]

    @classmethod
    def read(cls, path):
        """From a `device.key` file."""
        with open(path, encoding="ascii") as file:
            lines = [line.strip() for line in file if line.startswith("KCBACKUP-DEVICE-KEY-1")]
        require(len(lines) == 1, "not a device key")
        return cls(decode_bech32(lines[0], "kcbackup-device-key-"))
