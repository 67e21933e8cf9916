"""Keychain files: the rows of an SQLite database, and the schema that it must have."""

import hmac
import re
import sqlite3
from pathlib import Path
from typing import NamedTuple

from . import canonical, items
from .keybag import Keybag, require_stored
from .verdict import Damaged, Unsupported, require, within

APPLICATION_ID = 0x6B63626B
PAGE = Path(__file__).resolve().parents[3] / "docs" / "keychain-file.md"
ACCESSIBILITIES = items.TRAVELS | {"akpu": "nowhere"}


def schema():
    """The statements of the page that defines the format: kind and name, and text, in order."""
    text = PAGE.read_text(encoding="utf-8")
    block = text[text.index("```sql\n") + 7 :]
    # Lines break behind a comma, or where the text has a blank.
    statements = block[: block.index("```")].strip().removesuffix(";").split(";\n")
    result = []
    for statement in statements:
        joined = statement.replace(",\n", ",").replace("\n", " ")
        kind, name = re.match(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", joined).groups()
        result.append((kind.lower(), name, joined))
    return result


class Row(NamedTuple):
    item: items.Item
    #: `opened`, `unopened` or `broken`.
    state: str
    secret: bytes


class Keychain(NamedTuple):
    store: bytes
    created: int
    keybag: Keybag
    rows: list
    #: How many rows are no valid item.
    damaged: int
    #: True if SQLite finds fault with the file, such as an index that lacks a row: the rows may be whole all the same.
    doubtful: bool


def _columns(kind):
    return sorted(items.ATTRIBUTES[kind])


def _attributes(kind, odd, values):
    result = {}
    for code, value in zip(_columns(kind), values):
        if value is None:
            continue
        if code in items.NUMBERS or code in items.DATES:
            result[code] = value
            continue
        natural_text = code not in items.BYTES
        is_text = natural_text != (code in odd)
        try:
            result[code] = value.decode() if is_text else value
        except UnicodeDecodeError as error:
            raise Damaged("text that is not UTF-8") from error
    return result


def _row(kind, row, keys):
    uuid, tomb, odd, extra, *values, data = row
    require(len(uuid) == 16 and tomb == 0, "a row")
    codes = [] if odd is None else odd.split(",")
    require(len(set(codes)) == len(codes) and all(code in items.EITHER for code in codes), "odd")
    attributes = _attributes(kind, codes, values)
    require(all(attributes.get(code) is not None for code in codes), "an odd attribute that is absent")
    free = {}
    if extra is not None:
        free = canonical.decode(extra.encode())
        require(isinstance(free, dict) and free, "extra")
        for part in free.values():
            canonical.string(part)
        require(list(free) == sorted(free, key=str.encode), "free attributes in another order")
    items.check(kind, attributes, free, ACCESSIBILITIES)
    require(data is not None and len(data) >= 49, "a seal")
    size = None if data[0] == 2 else len(data) - 49
    item = _item(kind, uuid, size, attributes, free)
    within(size or 0, items.SECRET_LIMIT, "bytes of a secret")
    require_stored(item, data)
    if not keys.can_open(item):
        return Row(item, "unopened", None)
    try:
        return Row(item, "opened", keys.open_stored(item, data))
    except Damaged:
        return Row(item, "broken", None)


def _item(kind, uuid, size, attributes, extra):
    travels = ACCESSIBILITIES[attributes["pdmn"]]
    return items.Item(
        items.line(kind, uuid, size, attributes, extra, travels), kind, uuid, travels, size, attributes, extra
    )


def store_code(device, keybag, store, created):
    text = f"kcbackup/v1/store {canonical.uuid_text(keybag.uuid)} {canonical.date_text(created)} ".encode()
    return hmac.digest(keybag.code_key(device), text + store, "sha256")


def read(path, device, passcode=None):
    """Reads a keychain file with the key of its device."""
    connection = sqlite3.connect(Path(path).resolve().as_uri() + "?mode=ro&immutable=1", uri=True)
    # Text is kept as it is, so that what is not UTF-8 is found.
    connection.text_factory = lambda data: data.decode("utf-8")
    try:
        return _read(connection, device, passcode)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise Damaged(f"the database: {error}") from error
    finally:
        connection.close()


def _read(connection, device, passcode):
    def one(text):
        row = connection.execute(text).fetchone()
        require(row, "a row is missing")
        return row

    require(one("PRAGMA application_id")[0] == APPLICATION_ID, "another application's database")
    version = one("PRAGMA user_version")[0]
    if version > 1:
        raise Unsupported("a newer keychain file")
    require(version == 1, "another version")
    found = connection.execute("SELECT type,name,sql FROM sqlite_schema").fetchall()
    require(sorted(found) == sorted(schema()), "another schema")
    problems = connection.execute("PRAGMA integrity_check").fetchall()
    doubtful = problems != [("ok",)]
    keybag = Keybag(one("SELECT bag FROM keybag WHERE id=1")[0])
    keybag.authenticate(device)
    store, created, mac = one("SELECT store,created,mac FROM keychain WHERE id=1")
    require(len(store) == 16, "the store ID")
    require(hmac.compare_digest(store_code(device, keybag, store, created), mac), "the mac of the keychain")
    canonical.date_text(one("SELECT last FROM attempts WHERE id=1")[0])
    keys = keybag.open(device, passcode)
    rows, damaged = [], 0
    for kind in items.CLASSES:
        columns = ",".join(f'"{code}"' for code in _columns(kind))
        for row in connection.execute(
            f"SELECT uuid,tomb,odd,extra,{columns},data FROM {kind} WHERE NOT (tomb=1 AND data IS NULL)"
        ):
            try:
                rows.append(_row(kind, row, keys))
            except (Damaged, Unsupported):
                damaged += 1
    rows.sort(key=lambda row: row.item.order)
    return Keychain(store, created, keybag, rows, damaged, doubtful)
