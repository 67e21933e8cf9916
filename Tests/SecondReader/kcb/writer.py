"""The second writer: archives and keychain files, whole or with any of their parts changed."""

import hashlib
import hmac
import os
import sqlite3
import uuid as uuids
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_wrap
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from . import age, canonical, container, gz, items, keychain, sshsig
from .archive import MEMBERS
from .keybag import CONSTRAINTS, Keybag, OpenKeys, passcode_keys
from .primitives import encode64, encode_bech32


class Given(NamedTuple):
    """An item to be written; the secret is None if it has none."""

    kind: str
    uuid: bytes
    attributes: dict
    extra: dict
    secret: bytes

    def item(self):
        size = None if self.secret is None else len(self.secret)
        travels = keychain.ACCESSIBILITIES[self.attributes["pdmn"]]
        line = items.line(self.kind, self.uuid, size, self.attributes, self.extra, travels)
        return items.Item(line, self.kind, self.uuid, travels, size, self.attributes, self.extra)


def counts(found):
    return {kind: sum(item.kind == kind for item in found) for kind in items.CLASSES}


class Parts:
    """An archive in parts, in the order in which they are made. Each method makes the next part out of those before."""

    def __init__(self, device, recipients=(), inspect_recipients=(), passphrase=None, created=0):
        self.device, self.recipients, self.inspect_recipients = device, list(recipients), list(inspect_recipients)
        self.passphrase, self.created = passphrase, created
        self.archive = os.urandom(32)
        self.mode = "encrypted"
        self.source = {"kind": "items", "name": "second writer"}
        self.store = self.keybag = None
        self.stored = {}

    def unencrypted(self, store, keybag, stored):
        """Takes the secrets as a keychain file stores them: by UUID."""
        self.mode, self.store, self.keybag, self.stored = "unencrypted", store, keybag, stored
        return self

    def header_value(self, found):
        value = {
            "format": "kcbackup",
            "version": 1,
            "mode": self.mode,
            "archive": self.archive.hex(),
            "created": canonical.date_text(self.created),
            "device": self.device.id,
            "tool": "second writer",
        }
        if self.mode == "unencrypted":
            value |= {"store": self.store.hex(), "keybag": self.keybag.text, "counts": counts(found)}
        return value

    def lines(self, given):
        """The header, and the lines of both streams without the last ones, which `finish` adds."""
        found = [one.item() for one in given]
        self.header = canonical.encode(self.header_value(found)).encode() + b"\n"
        sealing_key, commitment = self.device.seal_keys(self.mode, self.archive)
        start = {"archive": self.archive.hex(), "mode": self.mode}
        seal = {"seal": commitment.hex()} if self.mode == "encrypted" else {}
        self.metadata = [canonical.encode({"stream": "metadata"} | start | {"source": self.source}).encode()]
        self.secrets = [canonical.encode({"stream": "secrets"} | start | seal).encode()]
        for ordinal, (item, one) in enumerate(zip(found, given)):
            self.metadata.append(item.line)
            self.secrets.append(canonical.encode(self._secret(ordinal, item, one.secret, sealing_key)).encode())
        self.counts = counts(found)
        return self

    def _secret(self, ordinal, item, secret, sealing_key):
        value = {"uuid": canonical.uuid_text(item.uuid)}
        if self.mode == "unencrypted":
            return value | {"stored": encode64(self.stored[item.uuid])}
        if item.travels == "any-device":
            return value if secret is None else value | {"secret": encode64(secret)}
        number = ordinal.to_bytes(8, "big")
        covered = b"kcbackup/v1/sealed-secret" + self.archive + self.device.id.encode() + number + item.line
        return value | {"sealed": encode64(AESGCM(sealing_key).encrypt(bytes(4) + number, secret or b"", covered))}

    def end(self, name, other, other_hash):
        return {
            "end": name,
            "items": self.counts,
            "complete": True,
            "omitted": 0,
            "damaged": 0,
            "header": hashlib.sha256(self.header).hexdigest(),
            other: other_hash,
        }

    def finish(self):
        """The text of both streams."""
        metadata = b"".join(line + b"\n" for line in self.metadata)
        end = self.end("secrets", "metadata", hashlib.sha256(metadata).hexdigest())
        secrets = b"".join(line + b"\n" for line in self.secrets) + canonical.encode(end).encode() + b"\n"
        end = self.end("metadata", "secrets", hashlib.sha256(secrets).hexdigest())
        self.texts = [metadata + canonical.encode(end).encode() + b"\n", secrets]
        return self

    def compress(self):
        self.streams = [gz.compress(text) for text in self.texts]
        return self

    def headers(self):
        """The part of the age headers that their MACs cover, and the file keys."""
        self.own = None
        if self.mode == "unencrypted":
            self.covered = self.file_keys = []
            return self
        keys = [list(self.recipients + self.inspect_recipients), list(self.recipients)]
        if self.passphrase is not None:
            self.own = X25519PrivateKey.generate()
            keys = [[age.public_bytes(self.own)] + some for some in keys]
        self.file_keys = [os.urandom(16), os.urandom(16)]
        self.covered = [
            age.marshal([age.x25519_stanza(one, key) for one in some]) for some, key in zip(keys, self.file_keys)
        ]
        self.identity_text = self._identity_text(len(keys[0]) == 1) if self.own else None
        return self

    def _identity_text(self, only):
        secret = encode_bech32(raw(self.own), "age-secret-key-").upper()
        return (
            f"# kcbackup archive: {self.archive.hex()}\n# kcbackup only key: {'yes' if only else 'no'}\n"
            f"# public key: {encode_bech32(age.public_bytes(self.own), 'age')}\n{secret}\n"
        ).encode()

    def encrypt(self):
        if self.mode == "encrypted":
            self.streams = [
                age.encrypt(stream, key, covered)
                for stream, key, covered in zip(self.streams, self.file_keys, self.covered)
            ]
        self.identity = None
        if self.own:
            key = os.urandom(16)
            self.identity = age.encrypt(
                self.identity_text, key, age.marshal([age.scrypt_stanza(self.passphrase, key, self.work_factor)])
            )
        return self

    #: A small one, so that tests are fast; a real writer takes 18.
    work_factor = 10

    def sign(self):
        """The members."""
        self.members = [("kcbackup.json", self.header)]
        if self.identity:
            self.members.append(("identity.age", self.identity))
        self.members += zip(MEMBERS[self.mode], self.streams)
        return self.sign_members()

    def sign_members(self):
        self.sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in self.members).encode()
        return self.sign_sums()

    def sign_sums(self):
        self.signature = sshsig.sign(self.device.signing_seed, self.sums)
        return self

    def pack(self):
        return container.pack(
            self.members + [("SHA256SUMS", self.sums), ("SHA256SUMS.sig", self.signature)], self.created // 1_000_000
        )

    def bytes(self):
        """The archive, from its lines on."""
        return self.finish().compress().headers().encrypt().sign().pack()


def raw(private):
    return private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


class KeychainWriter:
    """A keychain file, perhaps with a passcode; its scrypt is the cheapest that is accepted, so that tests are fast."""

    def __init__(self, device, created=0, passcode=None):
        self.device, self.created, self.store = device, created, os.urandom(16)
        self.uuid, self.salt = uuids.uuid4().bytes, os.urandom(32)
        codes = sorted(items.TRAVELS if passcode is None else keychain.ACCESSIBILITIES)
        self.keys = OpenKeys({code: os.urandom(32) for code in codes}, {})
        value = {
            "version": 1,
            "uuid": canonical.uuid_text(self.uuid),
            "device": device.id,
            "generation": 1,
            "salt": encode64(self.salt),
        }
        of_device = device.key(b"keybag-wrapping", self.uuid)
        if passcode is None:
            value["keys"] = {code: encode64(aes_key_wrap(of_device, key)) for code, key in self.keys.keys.items()}
            text = canonical.encode(value)[:-1]
        else:
            text = self._with_passcode(value, of_device, passcode)
        code = hmac.digest(device.key(b"keybag-mac", self.uuid), text.encode(), "sha256")
        self.keybag = Keybag(text + f',"mac":"{encode64(code)}"}}')

    def _with_passcode(self, value, of_device, passcode):
        wrapping, code_key = passcode_keys(self.device, passcode, self.uuid, self.salt, 14)[:2]
        value["keys"] = {
            code: encode64(aes_key_wrap(of_device if code in ("dk", "dku") else wrapping, key))
            for code, key in self.keys.keys.items()
        }
        pairs = {name: X25519PrivateKey.generate() for name in CONSTRAINTS}
        self.keys.presence = {name: (age.public_bytes(pair), raw(pair)) for name, pair in pairs.items()}
        value["presence"] = {
            name: [encode64(public), encode64(aes_key_wrap(wrapping, private))]
            for name, (public, private) in self.keys.presence.items()
        }
        text = canonical.encode(value | {"scrypt": 14})[:-1]
        code = hmac.digest(code_key, text.encode(), "sha256")
        return text + f',"passcode":"{encode64(code)}"'

    def seal(self, one):
        return self.keys.seal_stored(one.item(), one.secret, os.urandom(32))

    def write(self, path, given):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute(f"PRAGMA application_id={keychain.APPLICATION_ID}")
        connection.execute("PRAGMA user_version=1")
        for _, _, statement in keychain.schema():
            connection.execute(statement)
        connection.execute("BEGIN")
        code = keychain.store_code(self.device, self.keybag, self.store, self.created)
        connection.execute("INSERT INTO keychain VALUES (1,?,?,?)", (self.store, self.created, code))
        connection.execute("INSERT INTO keybag VALUES (1,?)", (self.keybag.text,))
        connection.execute("INSERT INTO attempts VALUES (1,0,0)")
        for one in given:
            self.insert(connection, one)
        connection.execute("COMMIT")
        connection.close()

    def insert(self, connection, one):
        codes = sorted(one.attributes)
        odd = [
            code
            for code in codes
            if code in items.EITHER and isinstance(one.attributes[code], bytes) != (code in items.BYTES)
        ]
        extra = {name: one.extra[name] for name in sorted(one.extra, key=str.encode)}
        values = [
            value.encode() if isinstance(value, str) else value for value in (one.attributes[code] for code in codes)
        ]
        columns = ["uuid", "tomb", "odd", "extra", *(f'"{code}"' for code in codes), "data"]
        row = [one.uuid, 0, ",".join(odd) or None, canonical.encode(extra) if extra else None, *values, self.seal(one)]
        marks = ",".join("?" * len(row))
        connection.execute(f"INSERT INTO {one.kind}({','.join(columns)}) VALUES ({marks})", row)
