"""Changes of a keychain file: of its bytes, of its rows with the codes that fit them, of its schema."""

import hmac

import sqlite3

from . import items, keychain, samples
from .mutations import bytes_changed, json_changed
from .primitives import encode64
from .verdict import Damaged

ODD_CELLS = [
    None,
    b"",
    b"\0",
    b"\xff",
    b"a" * 16,
    bytes(49),
    b"\1" + bytes(48),
    b"\2" + bytes(48),
    b"\3" + bytes(48),
    0,
    1,
    2,
    -1,
    2**63 - 1,
    -(2**63),
    10**15,
    "",
    "acct",
    "acct,acct",
    "gena,acct",
    "zzzz",
    "{}",
    '{"a":"b"}',
    '{"b":"","a":""}',
    '{"a":1}',
    b"ak",
    b"akpu",
    b"xx",
    b"user-presence",
    b"\xc3\xa9",
    b"x" * 65_537,
]


def change_bytes(source, path, writer):
    with open(path, "rb") as file:
        data = file.read()
    for _ in range(source.choice((1, 1, 1, 5))):
        data = bytes_changed(source, data)
    with open(path, "wb") as file:
        file.write(data)


def _cell(source, connection, tables):
    table = source.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    identifiers = [row[0] for row in connection.execute(f"SELECT id FROM {table}")]
    return table, columns, source.choice(identifiers) if identifiers else None


def change_cell(source, path, writer):
    """Any cell, whose seals and codes stay as they were."""
    connection = sqlite3.connect(path)
    table, columns, identifier = _cell(source, connection, ["keychain", "keybag", "attempts", *items.CLASSES * 3])
    try:
        connection.execute(
            f'UPDATE {table} SET "{source.choice(columns)}"=? WHERE id=?', (source.choice(ODD_CELLS), identifier)
        )
        connection.commit()
    except (sqlite3.Error, OverflowError):
        pass  # STRICT refuses it, and the file stays as it was.
    connection.close()


def change_sealed(source, path, writer):
    """An item whose seal fits the attribute that changed, so that only rules about items can refuse it."""
    one = samples.item(source, constraints=bool(writer.keys.presence), accessibilities=tuple(keychain.ACCESSIBILITIES))
    code = source.choice(sorted(items.ATTRIBUTES[one.kind]))
    odd = source.choice([0, 2, -1, "", "é", "x" * 65_537, "xx", b"", b"\xff", 2**63 - 1, 10**15 * 400])
    fits = isinstance(odd, int) == (code in items.NUMBERS or code in items.DATES)
    if fits and (code in items.EITHER or isinstance(odd, (int, str)) == (code not in items.BYTES)):
        one.attributes[code] = odd
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        writer.insert(connection, one)
    except (sqlite3.Error, KeyError, Damaged):
        pass  # It has no place in the file, or no key.
    connection.close()


def change_keybag(source, path, writer):
    """The text of the keybag, with the code that fits it."""
    connection = sqlite3.connect(path)
    text = connection.execute("SELECT bag FROM keybag").fetchone()[0]
    changed = json_changed(source, text.encode())
    if source.random() < 0.8 and b',"mac":' in changed:
        before = changed[: changed.rindex(b',"mac":')]
        code = hmac.digest(writer.keybag.code_key(writer.device), before, "sha256")
        changed = before + f',"mac":"{encode64(code)}"}}'.encode()
    connection.execute("UPDATE keybag SET bag=CAST(? AS TEXT)", (changed,))
    connection.commit()
    connection.close()


def change_schema(source, path, writer):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(
        source.choice(
            (
                "PRAGMA user_version=2",
                "PRAGMA user_version=0",
                "PRAGMA user_version=-1",
                "PRAGMA application_id=0",
                "CREATE TABLE other(id)",
                "CREATE INDEX other ON genp(uuid)",
                "CREATE VIEW other AS SELECT 1",
                "CREATE TRIGGER other AFTER INSERT ON genp BEGIN DELETE FROM inet; END",
                "DROP INDEX genp_key",
                "DROP TABLE attempts",
                "ALTER TABLE genp ADD COLUMN other INTEGER",
                "ANALYZE",
                "DELETE FROM keychain",
                "DELETE FROM keybag",
                "DELETE FROM attempts",
                "INSERT INTO attempts VALUES (2,0,0)",
                "UPDATE attempts SET id=2",
                "UPDATE attempts SET failed=-1",
                "UPDATE attempts SET failed=9223372036854775807",
                "UPDATE attempts SET last=-9223372036854775808",
                "INSERT INTO keybag VALUES (2,'')",
                "UPDATE keychain SET id=7",
                "PRAGMA journal_mode=WAL",
                "VACUUM",
                "UPDATE keychain SET created=created+1",
                "UPDATE genp SET tomb=1",
                "UPDATE genp SET tomb=1,data=NULL",
                "UPDATE inet SET tomb=1,data=NULL,sync=1",
                "UPDATE keys SET data=NULL",
                "UPDATE cert SET uuid=x'00' WHERE id=1",
            )
        )
    )
    connection.close()


ALL = [
    change_bytes,
    change_bytes,
    change_cell,
    change_cell,
    change_cell,
    change_sealed,
    change_sealed,
    change_keybag,
    change_keybag,
    change_schema,
]
