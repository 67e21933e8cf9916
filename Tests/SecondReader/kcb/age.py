"""age v1 files (C2SP age.md): opened and made for X25519 and scrypt recipients, and checked for all kinds."""

import base64
import binascii
import hmac
import os
import re
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .primitives import expand, extract
from .verdict import Damaged, Unsupported, WrongKey, require, within

VERSION = b"age-encryption.org/v1\n"
HEADER_LIMIT = 2 << 20
STANZA_LIMIT = 1000
WORK_FACTOR_LIMIT = 20
CHUNK = 65_536
TAG = 16
ARGUMENT = re.compile(rb"[\x21-\x7e]+")
ZERO_NONCE = bytes(12)


class Stanza(NamedTuple):
    arguments: list
    body: bytes


class Header(NamedTuple):
    stanzas: list
    #: What the MAC is computed over.
    covered: bytes
    mac: bytes
    payload: bytes


def public_bytes(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def decode_unpadded(text):
    """Base 64 without padding, in canonical form."""
    try:
        data = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Damaged("base 64 in an age header") from error
    require(base64.b64encode(data).rstrip(b"=") == text, "base 64 of an age header in another form")
    return data


def encode_unpadded(data):
    return base64.b64encode(data).rstrip(b"=")


def parse(data):
    """Splits a file into its header and its payload."""
    require(data.startswith(VERSION), "not an age file of version 1")
    at = len(VERSION)
    stanzas = []

    def line():
        nonlocal at
        end = data.find(b"\n", at, HEADER_LIMIT)
        if end < 0:
            raise Unsupported("a long age header") if len(data) > HEADER_LIMIT else Damaged("an age header ends early")
        text, at = data[at:end], end + 1
        return text

    while True:
        start = at
        text = line()
        if text.startswith(b"---"):
            break
        require(text.startswith(b"-> "), "a stanza of an age header")
        arguments = text[3:].split(b" ")
        require(all(ARGUMENT.fullmatch(argument) for argument in arguments), "an argument of a stanza")
        body = b""
        while True:
            part = line()
            require(len(part) <= 64, "a long line in a stanza")
            body += part
            if len(part) < 64:
                break
        stanzas.append(Stanza(arguments, decode_unpadded(body)))
    require(stanzas, "an age header without stanzas")
    require(text.startswith(b"--- "), "the end of an age header")
    mac = decode_unpadded(text[4:])
    require(len(mac) == 32, "the MAC of an age header")
    return Header(stanzas, data[: start + 3], mac, data[at:])


#: The sizes of the arguments of each type of stanza, and whether it is post-quantum.
RECIPIENTS = {
    b"ssh-ed25519": ([4, 32], False),
    b"ssh-rsa": ([4], False),
    b"X25519": ([32], False),
    b"mlkem768x25519": ([1120], True),
    b"p256tag": ([4, 65], False),
    b"mlkem768p256tag": ([4, 1153], True),
}


def require_recipients(header):
    """Requires what every stanza of a stream is, without any key; the number of them."""
    within(len(header.stanzas), STANZA_LIMIT, "recipients")
    for arguments, body in header.stanzas:
        if arguments[0] not in RECIPIENTS:
            # What a plugin makes is known to the plugin alone.
            require(arguments[0] != b"scrypt", "a passphrase as a recipient")
            continue
        sizes = [len(decode_unpadded(argument)) for argument in arguments[1:]]
        require(sizes == RECIPIENTS[arguments[0]][0], "the arguments of a stanza")
        sizes = range(256, 2049) if arguments[0] == b"ssh-rsa" else [32]
        require(len(body) in sizes, "the body of a stanza")
    known = [arguments[0] for arguments, _ in header.stanzas if arguments[0] in RECIPIENTS]
    require(len({RECIPIENTS[kind][1] for kind in known}) <= 1, "stanzas of two strengths")
    return len(header.stanzas)


def require_scrypt(header):
    """Requires the one scrypt stanza of `identity.age`; its salt and work factor."""
    require(len(header.stanzas) == 1, "a scrypt stanza beside another")
    arguments, body = header.stanzas[0]
    require(len(arguments) == 3 and arguments[0] == b"scrypt" and len(body) == 32, "not a scrypt stanza")
    salt = decode_unpadded(arguments[1])
    require(len(salt) == 16 and re.fullmatch(rb"[1-9][0-9]*", arguments[2]), "a scrypt stanza")
    factor = int(arguments[2]) if len(arguments[2]) < 4 else 1000
    within(factor, WORK_FACTOR_LIMIT, "work factor")
    return salt, factor


def _wrapping_key(shared, share, recipient):
    return expand(extract(share + recipient, shared), b"age-encryption.org/v1/X25519")


def file_key(header, identities):
    """The file key by the first of these X25519 private keys that opens a stanza; each tries them in order."""
    for identity in identities:
        for arguments, body in header.stanzas:
            if arguments[0] != b"X25519":
                continue
            share = decode_unpadded(arguments[1])
            try:
                shared = identity.exchange(X25519PublicKey.from_public_bytes(share))
            except ValueError as error:
                raise Damaged("a share of low order") from error
            try:
                key = ChaCha20Poly1305(_wrapping_key(shared, share, public_bytes(identity))).decrypt(
                    ZERO_NONCE, body, None
                )
            except InvalidTag:
                continue
            return key
    raise WrongKey("no identity opens it")


def passphrase_key(header, passphrase):
    salt, factor = require_scrypt(header)
    key = Scrypt(b"age-encryption.org/v1/scrypt" + salt, 32, 1 << factor, 8, 1).derive(passphrase)
    try:
        return ChaCha20Poly1305(key).decrypt(ZERO_NONCE, header.stanzas[0].body, None)
    except InvalidTag as error:
        raise WrongKey("another passphrase") from error


def header_mac(key, covered):
    return hmac.digest(expand(extract(b"", key), b"header"), covered, "sha256")


def authenticate(header, key):
    """Checks the header, and that a payload begins behind it."""
    require(hmac.compare_digest(header_mac(key, header.covered), header.mac), "the MAC of an age header")
    require(len(header.payload) >= 16, "a payload ends early")


def decrypt(header, key):
    """The plaintext of the payload."""
    authenticate(header, key)
    nonce, payload = header.payload[:16], header.payload[16:]
    cipher = ChaCha20Poly1305(expand(extract(nonce, key), b"payload"))
    result = []
    at = number = 0
    while True:
        chunk = payload[at : at + CHUNK + TAG]
        at += len(chunk)
        last = at == len(payload)
        try:
            text = cipher.decrypt(number.to_bytes(11, "big") + bytes([last]), chunk, None)
        except (InvalidTag, ValueError) as error:
            raise Damaged("a chunk of a payload") from error
        require(text or number == 0, "an empty last chunk")
        result.append(text)
        if last:
            return b"".join(result)
        number += 1


def x25519_stanza(recipient, key, secret=None):
    """A stanza for a public key of 32 bytes."""
    secret = secret or X25519PrivateKey.generate()
    share = public_bytes(secret)
    shared = secret.exchange(X25519PublicKey.from_public_bytes(recipient))
    body = ChaCha20Poly1305(_wrapping_key(shared, share, recipient)).encrypt(ZERO_NONCE, key, None)
    return Stanza([b"X25519", encode_unpadded(share)], body)


def scrypt_stanza(passphrase, key, factor=18):
    salt = os.urandom(16)
    wrapping = Scrypt(b"age-encryption.org/v1/scrypt" + salt, 32, 1 << factor, 8, 1).derive(passphrase)
    body = ChaCha20Poly1305(wrapping).encrypt(ZERO_NONCE, key, None)
    return Stanza([b"scrypt", encode_unpadded(salt), str(factor).encode()], body)


def marshal(stanzas):
    """The part of a header that its MAC covers."""
    lines = [VERSION]
    for arguments, body in stanzas:
        lines.append(b"-> " + b" ".join(arguments) + b"\n")
        text = encode_unpadded(body)
        lines += [text[at : at + 64] + b"\n" for at in range(0, len(text) + 1, 64)]
    return b"".join(lines) + b"---"


def encrypt(text, key, covered):
    """A file with this part of the header, which may be any bytes."""
    nonce = os.urandom(16)
    cipher = ChaCha20Poly1305(expand(extract(nonce, key), b"payload"))
    count = max(1, -(-len(text) // CHUNK))
    chunks = [
        cipher.encrypt(
            number.to_bytes(11, "big") + bytes([number == count - 1]), text[number * CHUNK : (number + 1) * CHUNK], None
        )
        for number in range(count)
    ]
    return covered + b" " + encode_unpadded(header_mac(key, covered)) + b"\n" + nonce + b"".join(chunks)
