"""Armored SSH signatures (OpenSSH PROTOCOL.sshsig) with Ed25519, in the namespace `kcbackup`."""

import base64
import hashlib
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .primitives import decode64, is_honest_ed25519
from .verdict import Damaged, require

BEGIN, END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"
WIDTH = 70
KIND = b"ssh-ed25519"
ORDER = 2**252 + 27742317777372353535851937790883648493


def _string(data):
    return struct.pack(">I", len(data)) + data


def _blob(public, signature):
    return (
        b"SSHSIG"
        + struct.pack(">I", 1)
        + _string(_string(KIND) + _string(public))
        + _string(b"kcbackup")
        + _string(b"")
        + _string(b"sha512")
        + _string(_string(KIND) + _string(signature))
    )


def _signed(message):
    return (
        b"SSHSIG" + _string(b"kcbackup") + _string(b"") + _string(b"sha512") + _string(hashlib.sha512(message).digest())
    )


def armor(blob):
    text = base64.b64encode(blob)
    return BEGIN + b"".join(text[at : at + WIDTH] + b"\n" for at in range(0, len(text), WIDTH)) + END


def verify(armored, message):
    """The public key that signed the message."""
    require(armored.startswith(BEGIN) and armored.endswith(END), "the armor of a signature")
    lines = armored[len(BEGIN) : -len(END)].decode("latin-1").split("\n")
    blob = decode64("".join(lines))
    require(armored == armor(blob), "the armor of a signature")
    length = len(_blob(bytes(32), bytes(64)))
    require(len(blob) == length, "a signature of another length")
    # The public key follows the text, the version, two lengths and the kind; the signature ends the blob.
    start = 6 + 4 + 4 + 4 + len(KIND) + 4
    public, signature = blob[start : start + 32], blob[-64:]
    require(blob == _blob(public, signature), "a signature of another kind")
    require(is_honest_ed25519(public), "a public key that no honest signer has")
    require(int.from_bytes(signature[32:], "little") < ORDER, "a signature whose S is not below the group order")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _signed(message))
    except (InvalidSignature, ValueError) as error:
        raise Damaged("the signature does not match") from error
    return public


def sign(seed, message):
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return armor(_blob(public, key.sign(_signed(message))))
