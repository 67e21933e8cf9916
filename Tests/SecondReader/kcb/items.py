"""Metadata lines: the attributes of one item, checked and ordered."""

from typing import NamedTuple

from . import canonical
from .primitives import encode64
from .verdict import require, within

CLASSES = ("genp", "inet", "cert", "keys")
TRAVELS = {
    "ak": "any-device",
    "ck": "any-device",
    "dk": "any-device",
    "aku": "this-device",
    "cku": "this-device",
    "dku": "this-device",
}
CONSTRAINTS = ("user-presence", "device-passcode")

_TEXT = "accc agrp ggrp pdmn tkid vwht".split()
_NATURALLY_TEXT = "acct alis atyp desc icmt labl path prot sdmn srvr svce".split()
_NATURALLY_BYTES = "atag gena".split()
_BYTES = "issr klbl musr pcsi pcsk pkhh skid slnr subj".split()
_NUMBERS = (
    "asen bsiz cenc clip crtr ctyp cusi decr drve encr esiz extr invi kcls modi nega next pcss perm port priv "
    "ptcl scrp sens sign snrc sync sysb type unwp vrfy vyrc wrap"
).split()
_DATES = "cdat edat mdat sdat".split()
TEXTS = frozenset(_TEXT + _NATURALLY_TEXT)
EITHER = frozenset(_NATURALLY_TEXT + _NATURALLY_BYTES)
BYTES = frozenset(_BYTES + _NATURALLY_BYTES)
NUMBERS = frozenset(_NUMBERS)
DATES = frozenset(_DATES)

_ALL = "agrp alis cdat clip ggrp labl mdat musr pcsi pcsk pcss pdmn sync sysb tkid vwht"
_PASSWORDS = "accc acct crtr cusi desc icmt invi nega prot scrp type"
ATTRIBUTES = {
    "genp": frozenset(f"{_ALL} {_PASSWORDS} gena svce".split()),
    "inet": frozenset(f"{_ALL} {_PASSWORDS} atyp path port ptcl sdmn srvr".split()),
    "cert": frozenset(f"{_ALL} cenc ctyp issr pkhh skid slnr subj".split()),
    "keys": frozenset(
        (
            f"{_ALL} accc asen atag bsiz crtr decr drve edat encr esiz extr kcls klbl modi next perm priv "
            "sdat sens sign snrc type unwp vrfy vyrc wrap"
        ).split()
    ),
}
_COMMON = "agrp sync vwht tkid musr ggrp"
KEYS = {
    "genp": f"acct svce {_COMMON}".split(),
    "inet": f"acct sdmn srvr ptcl atyp port path {_COMMON}".split(),
    "cert": f"ctyp issr slnr {_COMMON}".split(),
    "keys": f"kcls klbl atag crtr type bsiz esiz sdat edat {_COMMON}".split(),
}
FIRST_DATE = canonical.date("2001-01-01T00:00:00.000000Z")

SECRET_LIMIT = 16_777_216
VALUE_LIMIT = 65_536
ATTRIBUTES_LIMIT = 1_048_576
EXTRA_LIMIT = 256
LINE_LIMIT = 6_356_992


class Item(NamedTuple):
    line: bytes
    kind: str
    uuid: bytes
    travels: str
    #: Bytes of the secret, or None.
    size: int
    #: By code: text, bytes, or a number, which for a date is its microseconds.
    attributes: dict
    extra: dict

    @property
    def order(self):
        """What items of one archive are sorted by."""
        return CLASSES.index(self.kind), unique_key(self.kind, self.attributes)


def unique_key(kind, attributes):
    def part(code):
        if code in DATES:
            return attributes.get(code, FIRST_DATE)
        if code in NUMBERS:
            return attributes.get(code, 0)
        value = attributes.get(code, b"")
        return value.encode() if isinstance(value, str) else value

    return tuple(part(code) for code in KEYS[kind])


def _decoded(code, value):
    if code in NUMBERS:
        return canonical.integer(value, -(2**63), 2**63 - 1)
    if code in DATES:
        return canonical.date(value)
    if isinstance(value, str):
        require(code in TEXTS or code in EITHER, f"text in {code}")
        return value
    require(code in BYTES or code in EITHER, f"not text in {code}")
    return canonical.data(canonical.members(value, ["base64"])["base64"])


def encoded(code, value):
    """The JSON value of an attribute."""
    if isinstance(value, bytes):
        return {"base64": encode64(value)}
    return canonical.date_text(value) if code in DATES else value


def _length(value):
    return 8 if isinstance(value, int) else len(value.encode() if isinstance(value, str) else value)


def check(kind, attributes, extra, accessibilities=TRAVELS):
    """Requires what holds for the attributes of every item."""
    require(kind in CLASSES, "not a class")
    require(ATTRIBUTES[kind].issuperset(attributes), "an attribute of another class")
    for code in ("agrp", "cdat", "mdat", "pdmn", "sync"):
        require(code in attributes, f"no {code}")
    require(attributes["pdmn"] in accessibilities, "not an accessibility")
    require(attributes["sync"] in (0, 1), "sync")
    require("accc" not in attributes or attributes["accc"] in CONSTRAINTS, "not a constraint")
    for value in attributes.values():
        require(_length(value) <= VALUE_LIMIT, "a long attribute")
    require(len(extra) <= EXTRA_LIMIT, "many free attributes")
    free = 0
    for name, value in extra.items():
        length = len(name.encode()) + len(value.encode())
        require(length <= VALUE_LIMIT, "a long free attribute")
        free += length
    require(free + sum(map(_length, attributes.values())) <= ATTRIBUTES_LIMIT, "long attributes together")


def parse(line):
    """The item of a metadata line without its line feed."""
    within(len(line), LINE_LIMIT, "bytes of a metadata line")
    value = canonical.members(
        canonical.decode(line), ["class", "uuid", "travels", "size", "attributes", "extra"], ["size", "extra"]
    )
    kind = canonical.string(value["class"])
    require(kind in CLASSES, "not a class")
    size = value.get("size")
    if "size" in value:
        canonical.integer(size, 0, SECRET_LIMIT)
    given = value["attributes"]
    require(isinstance(given, dict) and list(given) == sorted(given), "attributes in another order")
    require(ATTRIBUTES[kind].issuperset(given), "an attribute of another class")
    attributes = {code: _decoded(code, part) for code, part in given.items()}
    extra = value.get("extra", {})
    require(isinstance(extra, dict) and ("extra" not in value or extra), "free attributes")
    require(list(extra) == sorted(extra, key=str.encode), "free attributes in another order")
    for part in extra.values():
        canonical.string(part)
    check(kind, attributes, extra)
    require(value["travels"] == TRAVELS[attributes["pdmn"]], "travels")
    return Item(line, kind, canonical.uuid(value["uuid"]), value["travels"], size, attributes, extra)


def line(kind, uuid, size, attributes, extra, travels):
    """The metadata line of an item."""
    value = {"class": kind, "uuid": canonical.uuid_text(uuid), "travels": travels}
    if size is not None:
        value["size"] = size
    value["attributes"] = {code: encoded(code, attributes[code]) for code in sorted(attributes)}
    if extra:
        value["extra"] = {name: extra[name] for name in sorted(extra, key=str.encode)}
    return canonical.encode(value).encode()
