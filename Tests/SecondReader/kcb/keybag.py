"""Keybags: the class keys of a keychain, wrapped for its device and its passcode."""

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.exceptions import InvalidTag

from . import canonical
from .age import public_bytes
from .device import ID
from .primitives import expand, extract
from .verdict import Damaged, NotThisDevice, Unsupported, WrongKey, require

ACCESSIBILITIES = ("ak", "akpu", "aku", "ck", "cku", "dk", "dku")
CONSTRAINTS = ("device-passcode", "user-presence")
LIMIT, LIMIT_OF_ARCHIVED = 27_648, 13_312
FILE_CLASSES = ("complete", "unless-open", "until-first-unlock")
FILE_KEYS = 32
RETIRED_SETS = 24
MEMBERS = [
    "version",
    "uuid",
    "device",
    "generation",
    "salt",
    "keys",
    "presence",
    "retired",
    "scrypt",
    "tpm",
    "passcode",
    "lockAfter",
    "lockOnSuspend",
    "escrow",
    "tokens",
    "files",
    "mac",
]
OPTIONAL = [
    "presence",
    "retired",
    "scrypt",
    "tpm",
    "passcode",
    "lockAfter",
    "lockOnSuspend",
    "escrow",
    "tokens",
    "files",
]


def _retired(sets, has_passcode):
    require(isinstance(sets, list) and 1 <= len(sets) <= RETIRED_SETS, "retired class keys")
    for part in sets:
        length = len(canonical.data(part))
        require(length == 240 or (length == 320 and has_passcode), "a retired set")


def _tpm(share):
    canonical.members(share, ["parent", "public", "private"])
    for part in share.values():
        require(1 <= len(canonical.data(part)) <= 320, "a part of a TPM's share")


def _settings(value):
    """Settings other than the default ones, which are never written."""
    if "lockAfter" in value:
        canonical.integer(value["lockAfter"], 1, 31_536_000)
        require("lockOnSuspend" in value, "half the lock settings")
    if "lockOnSuspend" in value:
        require(isinstance(value["lockOnSuspend"], bool), "lockOnSuspend")
        require((value.get("lockAfter"), value["lockOnSuspend"]) != (300, True), "default settings")


def _escrow(record):
    canonical.members(record, ["since", "key", "share", "keys", "code"])
    canonical.date(record["since"])
    for name, size in (("key", 32), ("share", 32), ("keys", 240), ("code", 32)):
        canonical.data(record[name], size)


def _is_name(name):
    return (
        1 <= len(name.encode()) <= 64
        and name[0] not in ".- "
        and all(letter.isalpha() or letter.isnumeric() or letter in "._- " for letter in name)
    )


def _tokens(records):
    require(isinstance(records, list) and 1 <= len(records) <= 4, "tokens")
    for record in records:
        canonical.members(record, ["name", "since", "credential", "salt", "key", "share", "wrapped", "code"])
        require(_is_name(canonical.string(record["name"])), "the name of a token")
        canonical.date(record["since"])
        credential = record["credential"]
        require(isinstance(credential, list) and len(credential) == 2, "the credential of a token")
        require(1 <= len(canonical.data(credential[0])) <= 1024, "the credential of a token")
        canonical.data(credential[1], 64)
        for name, size in (("salt", 32), ("key", 32), ("share", 32), ("wrapped", 40), ("code", 32)):
            canonical.data(record[name], size)
    names = [record["name"].encode() for record in records]
    require(len(set(names)) == len(names), "two tokens of one name")


def _files(keys):
    names = [*FILE_CLASSES, "public"]
    canonical.members(keys, names, names)
    classes = [name for name in FILE_CLASSES if name in keys]
    require(classes, "no keys of files")
    for name in classes:
        require(isinstance(keys[name], list) and 1 <= len(keys[name]) <= FILE_KEYS, "keys of files")
        for key in keys[name]:
            canonical.data(key, 40)
    require(("public" in keys) == ("unless-open" in keys), "a public key without its private one, or the reverse")
    if "public" in keys:
        canonical.data(keys["public"], 32)


class Keybag:
    """A keybag that has the form that its page gives it; nothing in it is authenticated before `authenticate`."""

    def __init__(self, text):
        self.text = text
        self.version = 0
        value = canonical.decode(text.encode())
        require(isinstance(value, dict) and next(iter(value), None) == "version", "not a keybag")
        version = canonical.integer(value["version"], 1, 2**63 - 1)
        if version > 1:
            raise Unsupported("a newer keybag")
        self._require_size(value)
        canonical.members(value, MEMBERS, OPTIONAL)
        self.value = value
        self.uuid = canonical.uuid(value["uuid"])
        self.device = canonical.string(value["device"])
        require(ID.fullmatch(self.device), "not a device ID")
        self.generation = canonical.integer(value["generation"], 1, 2**63 - 1)
        self.salt = canonical.data(value["salt"], 32)
        self.mac = canonical.data(value["mac"], 32)
        self.has_passcode = "passcode" in value
        self._require_keys(value)

    def _require_size(self, value):
        limit = LIMIT if "tokens" in value or "files" in value else LIMIT_OF_ARCHIVED
        require(len(self.text.encode()) <= limit, "a large keybag")

    def _require_keys(self, value):
        codes = [code for code in ACCESSIBILITIES if self.has_passcode or code != "akpu"]
        self.wrapped = {code: canonical.data(key, 40) for code, key in canonical.members(value["keys"], codes).items()}
        for name in ("presence", "scrypt"):
            require((name in value) == self.has_passcode, f"{name} without a passcode, or a passcode without it")
        for name in ("tpm", "escrow", "tokens"):
            require(name not in value or self.has_passcode, f"{name} without a passcode")
        self.presence = {}
        if self.has_passcode:
            canonical.data(value["passcode"], 32)
            canonical.integer(value["scrypt"], 1, 22)
            for name, pair in canonical.members(value["presence"], CONSTRAINTS).items():
                require(isinstance(pair, list) and len(pair) == 2, "a presence key")
                self.presence[name] = canonical.data(pair[0], 32), canonical.data(pair[1], 40)
        if "retired" in value:
            _retired(value["retired"], self.has_passcode)
        if "tpm" in value:
            _tpm(value["tpm"])
        _settings(value)
        if "escrow" in value:
            _escrow(value["escrow"])
        if "tokens" in value:
            _tokens(value["tokens"])
        if "files" in value:
            _files(value["files"])

    def require_archived(self):
        """Requires a keybag that an archive may have."""
        for name in ("escrow", "tokens", "files"):
            require(name not in self.value, f"{name} in an archive")

    def code_key(self, device):
        return device.key(b"keybag-mac", self.uuid)

    def _before(self, member):
        return self.text[: self.text.rindex(f',"{member}":')].encode()

    def authenticate(self, device):
        if self.device != device.id:
            raise NotThisDevice("the keybag of another device")
        code = hmac.digest(self.code_key(device), self._before("mac"), "sha256")
        require(hmac.compare_digest(code, self.mac), "the mac of the keybag")

    def open(self, device, passcode=None):
        """The keys that this device, or the passcode on it, opens."""
        of_device = device.key(b"keybag-wrapping", self.uuid)
        if not self.has_passcode:
            return OpenKeys({code: _unwrap(of_device, key) for code, key in self.wrapped.items()}, {})
        keys = {code: _unwrap(of_device, self.wrapped[code]) for code in ("dk", "dku")}
        if passcode is None:
            return OpenKeys(keys, {})
        if "tpm" in self.value:
            raise Unsupported("a passcode that a TPM counts")
        require(14 <= self.value["scrypt"] <= 20, "a work factor for which no passcode is tried")
        wrapping, code_key = passcode_keys(device, passcode, self.uuid, self.salt, self.value["scrypt"])[:2]
        code = hmac.digest(code_key, self._before("passcode"), "sha256")
        if not hmac.compare_digest(code, canonical.data(self.value["passcode"])):
            raise WrongKey("another passcode")
        keys |= {code: _unwrap(wrapping, key) for code, key in self.wrapped.items() if code not in keys}
        return OpenKeys(
            keys, {name: (public, _unwrap(wrapping, private)) for name, (public, private) in self.presence.items()}
        )


def passcode_keys(device, passcode, uuid, salt, factor):
    """Wrapping key, code key, escrow code key and token code key of passcode and device."""
    slow = Scrypt(salt, 32, 1 << factor, 8, 1).derive(passcode)
    root = extract(b"kcbackup/v1/passcode-keys", slow + device.key(b"passcode-share"))
    derived = expand(root, b"kcbackup/v1/passcode-keys" + uuid + salt, 128)
    return [derived[at : at + 32] for at in range(0, 128, 32)]


def _unwrap(wrapping, wrapped):
    try:
        return aes_key_unwrap(wrapping, wrapped)
    except InvalidUnwrap as error:
        raise Damaged("a class key") from error


class OpenKeys:
    """Class keys by accessibility, and pairs of presence keys by constraint."""

    def __init__(self, keys, presence):
        self.keys, self.presence = keys, presence

    def can_open(self, item):
        constraint = item.attributes.get("accc")
        return item.attributes["pdmn"] in self.keys and (
            item.size is None or constraint is None or constraint in self.presence
        )

    def _cipher(self, item, stored_format, salt, ephemeral=None):
        key = expand(self.keys[item.attributes["pdmn"]], b"kcbackup/v1/store-item" + salt)
        if stored_format == 4:
            public, private = self.presence[item.attributes["accc"]]
            if ephemeral:
                shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
            else:
                shared = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(salt))
            key = expand(
                extract(b"kcbackup/v1/constrained-item", key + shared), b"kcbackup/v1/constrained-item" + public
            )
        return AESGCM(key)

    def open_stored(self, item, stored):
        """The secret of a stored value, which has the format and length that it should; None if there is none."""
        stored_format, salt, rest = stored[0], stored[1:33], stored[33:]
        covered = stored[:1] + item.line
        try:
            cipher = self._cipher(item, stored_format, salt)
            if stored_format == 3:
                cipher.decrypt(bytes(12), rest[:16], covered + rest[16:])
                return rest[16:]
            secret = cipher.decrypt(bytes(12), rest, covered)
        except (InvalidTag, ValueError) as error:
            raise Damaged("a stored secret does not open") from error
        return None if stored_format == 2 else secret

    def seal_stored(self, item, secret, salt):
        """The value of the `data` column for an item."""
        stored_format = stored_format_of(item)
        ephemeral = X25519PrivateKey.generate() if stored_format == 4 else None
        salt = public_bytes(ephemeral) if ephemeral else salt
        cipher = self._cipher(item, stored_format, salt, ephemeral)
        start = bytes([stored_format])
        if stored_format == 3:
            return start + salt + cipher.encrypt(bytes(12), b"", start + item.line + secret) + secret
        return start + salt + cipher.encrypt(bytes(12), secret or b"", start + item.line)


def stored_format_of(item):
    if item.size is None:
        return 2
    if item.kind == "cert":
        return 3
    return 4 if "accc" in item.attributes else 1


def require_stored(item, stored):
    """Requires the format and the length that the stored secret of an item has."""
    require(stored[:1] == bytes([stored_format_of(item)]), "the format of a stored secret")
    require(len(stored) == 49 + (item.size or 0), "the length of a stored secret")
