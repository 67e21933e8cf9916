"""Archives: what `verify` and `inspect` check, and the items."""

import hashlib
import re
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import age, canonical, container, gz, items, sshsig
from .device import ID, device_id
from .keybag import Keybag, require_stored
from .primitives import decode_bech32, decode_hex, encode_bech32
from .verdict import Damaged, NotThisDevice, Unsupported, WrongKey, require, within

MEMBERS = {
    "encrypted": ["metadata.jsonl.gz.age", "secrets.jsonl.gz.age"],
    "unencrypted": ["metadata.jsonl.gz", "secrets.jsonl.gz"],
}
HEADER = ["format", "version", "mode", "archive", "created", "device", "tool"]
HEADER_LIMIT, IDENTITY_LIMIT, SUMS_LIMIT = 16_384, 4_096, 1_024
LAST_CREATED = canonical.date("2242-03-16T12:56:31.999999Z")
COUNT_LIMIT = 10_000_000
SECRET_LINE_LIMIT = 22_372_008
SOURCE_KIND = re.compile(r"[a-z-]{1,32}")
BEGINNING = re.compile(rb'\{"format":"kcbackup","version":([0-9]+)')


class Header(NamedTuple):
    data: bytes
    mode: str
    archive: bytes
    created: int
    device: str
    counts: dict
    keybag: Keybag


class Keys(NamedTuple):
    """What a reader has to open an archive with."""

    #: X25519 private keys.
    identities: tuple = ()
    passphrase: bytes = None
    device: object = None
    #: Of the keychain, when the archive was made.
    passcode: bytes = None


class Record(NamedTuple):
    item: items.Item
    #: `opened`, `elsewhere` (sealed by another device), `unopened` (stored, and no class key), `broken`, or `unseen`
    #: where only the metadata was read.
    state: str
    secret: bytes


class Archive(NamedTuple):
    header: Header
    source: dict
    records: list
    counts: dict
    omitted: int
    damaged: int


def _counts(value):
    canonical.members(value, items.CLASSES)
    for count in value.values():
        canonical.integer(count, 0, COUNT_LIMIT)
    return value


def parse_header(data):
    within(len(data), HEADER_LIMIT, "bytes of the header")
    require(data.endswith(b"\n"), "a header without a line feed")
    value = canonical.decode(data[:-1])
    require(isinstance(value, dict), "the header is not an object")
    mode = value.get("mode")
    require(mode in ("encrypted", "unencrypted"), "not a mode")
    canonical.members(value, HEADER if mode == "encrypted" else HEADER + ["store", "keybag", "counts"])
    require(value["format"] == "kcbackup" and value["version"] == 1 and value["version"] is not True, "not version 1")
    archive = decode_hex(value["archive"], 32)
    created = canonical.date(value["created"])
    require(0 <= created <= LAST_CREATED, "the time of creation")
    require(ID.fullmatch(canonical.string(value["device"])), "not a device ID")
    canonical.string(value["tool"])
    counts = keybag = None
    if mode == "unencrypted":
        decode_hex(value["store"], 16)
        keybag = Keybag(canonical.string(value["keybag"]))
        keybag.require_archived()
        counts = _counts(value["counts"])
        require(keybag.device == value["device"], "the keybag of another device than the header's")
    return Header(data, mode, archive, created, value["device"], counts, keybag)


def _require_known_version(data):
    """Rule 1: a newer version is reported, whatever else is different in it."""
    require(data[:100] == b"kcbackup.json".ljust(100, b"\0"), "not an archive")
    match = BEGINNING.match(data, container.BLOCK)
    require(match, "not an archive")
    digits = match[1]
    require(digits == b"1" or digits[:1] != b"0", "a version with zeros before it")
    if digits != b"1":
        require(digits != b"0", "version 0")
        raise Unsupported("a newer version")


class Outside:
    """Rules 1 to 3: all that can be checked without a key."""

    def __init__(self, data):
        _require_known_version(data)
        members, time = container.unpack(data)
        names = [name for name, _ in members]
        require(names[:1] == ["kcbackup.json"], "the first member")
        self.header = parse_header(members[0][1])
        self.members = dict(members)
        self.has_passphrase = self.header.mode == "encrypted" and "identity.age" in self.members
        streams = MEMBERS[self.header.mode]
        require(
            names
            == ["kcbackup.json"] + ["identity.age"] * self.has_passphrase + streams + ["SHA256SUMS", "SHA256SUMS.sig"],
            "other members",
        )
        require(time == self.header.created // 1_000_000, "the time of the members")
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in members[:-2])
        within(len(self.members["SHA256SUMS"]), SUMS_LIMIT, "bytes of the checksums")
        within(len(self.members["SHA256SUMS.sig"]), SUMS_LIMIT, "bytes of the signature")
        require(self.members["SHA256SUMS"] == sums.encode(), "a checksum")
        public = sshsig.verify(self.members["SHA256SUMS.sig"], sums.encode())
        require(device_id(public) == self.header.device, "signed by another device than the header's")
        self.streams = [self.members[name] for name in streams]
        self.ages = []
        if self.header.mode == "encrypted":
            self._require_ages()

    def _require_ages(self):
        if self.has_passphrase:
            within(len(self.members["identity.age"]), IDENTITY_LIMIT, "bytes of identity.age")
            self.identity = age.parse(self.members["identity.age"])
            age.require_scrypt(self.identity)
        self.ages = [age.parse(stream) for stream in self.streams]
        metadata, secrets = map(age.require_recipients, self.ages)
        require(secrets <= metadata, "more recipients of the secrets than of the metadata")

    def own_identity(self, passphrase):
        """The archive's own identity."""
        if not self.has_passphrase:
            raise WrongKey("no passphrase opens it")
        text = age.decrypt(self.identity, age.passphrase_key(self.identity, passphrase)).decode("latin-1")
        lines = text.split("\n")
        require(len(lines) == 5 and lines[4] == "", "the lines of identity.age")
        require(lines[0] == f"# kcbackup archive: {self.header.archive.hex()}", "identity.age of another archive")
        require(lines[1] in ("# kcbackup only key: yes", "# kcbackup only key: no"), "only key")
        require(lines[3].upper() == lines[3], "an identity in lower case")
        secret = decode_bech32(lines[3], "age-secret-key-")
        identity = X25519PrivateKey.from_private_bytes(secret)
        require(lines[2] == "# public key: " + encode_bech32(age.public_bytes(identity), "age"), "the public key")
        only = lines[1].endswith("yes")
        counts = [len(header.stanzas) for header in self.ages]
        require(counts == [1, 1] if only else counts[0] > 1, "only key")
        return identity

    def file_keys(self, keys):
        """The file key of each stream, of which the second may be None: an inspect key opens the first alone."""
        if keys.passphrase is not None:
            identities = [self.own_identity(keys.passphrase)]
        else:
            identities = keys.identities
        result = []
        for header in self.ages:
            try:
                key = age.file_key(header, identities)
            except WrongKey as error:
                if keys.passphrase is not None:
                    raise Damaged("the archive's own identity does not open it") from error
                if not result:
                    raise
                key = None
            if key is not None:
                age.authenticate(header, key)
            result.append(key)
        return result

    def plain(self, index, key=None):
        """A stream, decrypted and decompressed."""
        return gz.decompress(age.decrypt(self.ages[index], key) if self.ages else self.streams[index])


def _lines(text):
    require(text.endswith(b"\n"), "a stream without a line feed at its end")
    lines = text[:-1].split(b"\n")
    require(len(lines) >= 2, "a stream ends early")
    return lines


class _End(NamedTuple):
    counts: dict
    omitted: int
    damaged: int


def _end(line, name, header, other, other_hash):
    value = canonical.members(
        canonical.decode(line), ["end", "items", "complete", "omitted", "damaged", "header", other]
    )
    require(value["end"] == name, "the last line")
    omitted = canonical.integer(value["omitted"], 0, COUNT_LIMIT)
    damaged = canonical.integer(value["damaged"], 0, COUNT_LIMIT)
    require(value["complete"] is (damaged == 0), "complete")
    require(value["header"] == hashlib.sha256(header.data).hexdigest(), "the hash of the header")
    decode_hex(value[other], 32)
    require(other_hash is None or value[other] == other_hash, f"the hash of the {other}")
    return _End(_counts(value["items"]), omitted, damaged)


#: What marks an item that only a kept state of the desktop keyring has.
MARK = "kcbackup:attribute:kcbackup:accessible"


def read_metadata(header, text, secrets_hash=None):
    """The items of a metadata stream, its source and its last line."""
    lines = _lines(text)
    for line in lines:
        within(len(line), items.LINE_LIMIT, "bytes of a metadata line")
    first = canonical.members(canonical.decode(lines[0]), ["stream", "archive", "mode", "source"])
    require(
        (first["stream"], first["archive"], first["mode"]) == ("metadata", header.archive.hex(), header.mode),
        "the first line of the metadata",
    )
    source = canonical.members(first["source"], ["kind", "name"])
    require(SOURCE_KIND.fullmatch(canonical.string(source["kind"])), "the kind of the source")
    require(len(canonical.string(source["name"]).encode()) <= 1024, "the name of the source")
    is_state = (header.mode, source["kind"]) == ("unencrypted", "secret-service")
    found, uuids, before = [], set(), None
    for line in lines[1:-1]:
        item = items.parse(line)
        require(before is None or before < item.order, "items in another order")
        require(item.uuid not in uuids, "a UUID twice")
        require(item.extra.get(MARK) != "akpu" or is_state, "the mark of a kept state")
        uuids.add(item.uuid)
        before = item.order
        found.append(item)
    end = _end(lines[-1], "metadata", header, "secrets", secrets_hash)
    counted = {kind: sum(item.kind == kind for item in found) for kind in items.CLASSES}
    require(end.counts == counted, "the counts")
    require(header.counts is None or header.counts == counted, "the counts of the header")
    return found, source, end


class _Secrets:
    """Judges the secrets lines of an archive, one after the other."""

    def __init__(self, header, keys, first):
        names = ["stream", "archive", "mode", "seal"]
        first = canonical.members(canonical.decode(first), names if header.mode == "encrypted" else names[:-1])
        require(
            (first["stream"], first["archive"], first["mode"]) == ("secrets", header.archive.hex(), header.mode),
            "the first line of the secrets",
        )
        self.header = header
        self.sealing_key = self.class_keys = None
        own = keys.device is not None and keys.device.id == header.device
        if header.mode == "encrypted":
            commitment = decode_hex(first["seal"], 32)
            if keys.device:
                sealing_key, expected = keys.device.seal_keys(header.mode, header.archive)
                require(commitment == expected or not own, "the commitment of this device's seals")
                self.sealing_key = sealing_key if commitment == expected else None
        elif own:
            self.class_keys = header.keybag.open(keys.device, keys.passcode)

    def record(self, ordinal, item, line):
        within(len(line), SECRET_LINE_LIMIT, "bytes of a secrets line")
        form = "stored"
        if self.header.mode == "encrypted":
            form = "sealed" if item.travels == "this-device" else "secret" if item.size is not None else None
        value = canonical.members(canonical.decode(line), ["uuid"] + ([form] if form else []))
        require(canonical.uuid(value["uuid"]) == item.uuid, "the secret of another item")
        if form is None:
            return Record(item, "opened", None)
        data = canonical.data(value[form])
        if form == "secret":
            require(len(data) == item.size, "a secret of another length")
            return Record(item, "opened", data)
        return self._sealed(ordinal, item, data) if form == "sealed" else self._stored(item, data)

    def _sealed(self, ordinal, item, data):
        require(len(data) == (item.size or 0) + 16, "a sealed secret of another length")
        if self.sealing_key is None:
            return Record(item, "elsewhere", None)
        number = ordinal.to_bytes(8, "big")
        covered = b"kcbackup/v1/sealed-secret" + self.header.archive + self.header.device.encode() + number + item.line
        try:
            secret = AESGCM(self.sealing_key).decrypt(bytes(4) + number, data, covered)
        except InvalidTag as error:
            raise Damaged("a sealed secret") from error
        return Record(item, "opened", None if item.size is None else secret)

    def _stored(self, item, data):
        require_stored(item, data)
        if self.class_keys is None or not self.class_keys.can_open(item):
            return Record(item, "unopened", None)
        try:
            return Record(item, "opened", self.class_keys.open_stored(item, data))
        except Damaged:
            return Record(item, "broken", None)


def read(data, keys, metadata_only=False):
    """Reads an archive to its last byte; with `metadata_only`, as `inspect` does."""
    outside = Outside(data)
    header = outside.header
    if header.keybag and keys.device and keys.device.id == header.device:
        header.keybag.authenticate(keys.device)
        header.keybag.open(keys.device)
    if header.mode == "encrypted" and keys.passphrase is None and not keys.identities:
        raise WrongKey("no key")
    file_keys = outside.file_keys(keys) if outside.ages else [None, None]
    metadata = outside.plain(0, file_keys[0])
    # An inspect key opens the metadata alone.
    if metadata_only or outside.ages and file_keys[1] is None:
        found, source, end = read_metadata(header, metadata)
        return Archive(header, source, [Record(item, "unseen", None) for item in found], *end)
    secrets = outside.plain(1, file_keys[1])
    found, source, end = read_metadata(header, metadata, hashlib.sha256(secrets).hexdigest())
    lines = _lines(secrets)
    require(len(lines) == len(found) + 2, "as many secrets as items")
    judge = _Secrets(header, keys, lines[0])
    records = [judge.record(ordinal, item, line) for ordinal, (item, line) in enumerate(zip(found, lines[1:]))]
    before_end = metadata[: metadata.rindex(b"\n", 0, -1) + 1]
    require(
        _end(lines[-1], "secrets", header, "metadata", hashlib.sha256(before_end).hexdigest()) == end,
        "two last lines that differ",
    )
    return Archive(header, source, records, *end)


def require_origin(archive, device):
    """Rule 4, which `restore` applies."""
    if archive.header.mode == "unencrypted" and (device is None or device.id != archive.header.device):
        raise NotThisDevice("an unencrypted archive of another device")
