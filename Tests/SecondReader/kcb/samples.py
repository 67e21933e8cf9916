"""Items of every class and accessibility, out of seeded random numbers, with odd text and numbers."""

from . import canonical, items
from .writer import Given

TEXTS = [
    "",
    "a",
    "ada@example.com",
    "\0",
    "\x1b[2J",
    "line\nfeed",
    "\u00e9",
    "e\u0301",
    "\u202e",
    "\ufeff",
    "\x7f",
    "\u0085",
    "\U0010ffff",
    "ß",
    "日本",
    "🔑",
    '"',
    "\\",
    "../../etc/passwd",
    "x" * 300,
    "\ufffd",
    "İ",
    " ",
]
BYTES = [b"", b"\0", b"a", b"\xff", b"\xc3\xa9", bytes(range(64)), b"\x80" * 200]
NUMBERS = [0, 1, -1, 443, 2**31, 2**63 - 1, -(2**63)]
DATES = [
    "0001-01-01T00:00:00.000000Z",
    "1969-12-31T23:59:59.999999Z",
    "2001-01-01T00:00:00.000000Z",
    "2024-02-29T23:59:59.999999Z",
    "2026-03-01T09:30:00.000000Z",
    "9999-12-31T23:59:59.999999Z",
]


def value(source, code):
    """A value that the attribute may have."""
    if code == "accc":
        return source.choice(items.CONSTRAINTS)
    if code == "sync":
        return source.choice((0, 0, 1))
    if code in items.DATES:
        return canonical.date(source.choice(DATES))
    if code in items.NUMBERS:
        return source.choice(NUMBERS)
    is_text = code in items.TEXTS or (code in items.EITHER and source.random() < 0.7)
    if not is_text:
        return source.choice(BYTES) + source.randbytes(source.randrange(4))
    return source.choice(TEXTS) + "".join(source.choices('abé\u0301/\n"\\', k=source.randrange(4)))


def item(source, constraints=True, both_bindings=True, accessibilities=tuple(items.TRAVELS)):
    """One item. With `both_bindings`, it may be synchronizable and bound to this device or its passcode."""
    kind = source.choice(items.CLASSES)
    optional = sorted(items.ATTRIBUTES[kind] - {"agrp", "cdat", "mdat", "pdmn", "sync", "accc"})
    codes = source.sample(optional, source.randrange(min(len(optional), 12)))
    attributes = {code: value(source, code) for code in [*codes, "agrp", "cdat", "mdat", "sync"]}
    attributes["pdmn"] = source.choice(accessibilities)
    if constraints and kind != "cert" and source.random() < 0.2:
        attributes["accc"] = value(source, "accc")
    if (attributes["pdmn"] not in ("ak", "ck", "dk") or "accc" in attributes) and not both_bindings:
        attributes["sync"] = 0
    extra = {}
    if source.random() < 0.3:
        extra = {source.choice(TEXTS) + source.choice(("", "acct")): source.choice(TEXTS) for _ in range(3)}
    secret = None if source.random() < 0.15 else source.randbytes(source.choice((0, 1, 16, 33, 300)))
    return Given(kind, source.randbytes(16), attributes, extra, secret)


def some(source, count, **options):
    """Items with unique keys of their own, in the order of an archive."""
    found = {}
    while len(found) < count:
        one = item(source, **options)
        found[one.item().order] = one
    return [found[key] for key in sorted(found)]


def import_line(one):
    """The line of `kcbackup import` that makes this item."""
    given = {
        "class": one.kind,
        "uuid": canonical.uuid_text(one.uuid),
        "attributes": {code: items.encoded(code, part) for code, part in sorted(one.attributes.items())},
    }
    if one.extra:
        given["extra"] = one.extra
    if one.secret is not None:
        given["secret"] = {"base64": canonical.encode64(one.secret)}
    return canonical.encode(given)
