"""Changes of bytes, of JSON text and of lines."""

import json

from . import canonical

ODD_JSON = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "01",
    "1.0",
    "1e0",
    "1E3",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "10000000",
    "10000001",
    "16777216",
    "16777217",
    "true",
    "false",
    "null",
    '""',
    '"\\u0000"',
    '"\\u00e9"',
    '"é"',
    '"e\u0301"',
    '"\\ud800"',
    '"\\/"',
    '"\\n"',
    '"\\u000A"',
    '"\\u001F"',
    '"\x7f"',
    '"\u2028"',
    '"\ufeff"',
    "[]",
    "{}",
    "[[]]",
    '{"base64":""}',
    '{"base64":"YQ=="}',
    '{"base64":"YR=="}',
    '{"base64":"YQ"}',
    '{"base64":"YQ==","base64":"YQ=="}',
    '"akpu"',
    '"ak"',
    '"aku"',
    '"genp"',
    '"2026-02-29T00:00:00.000000Z"',
    '"0000-01-01T00:00:00.000000Z"',
    '"2026-03-01T23:59:60.000000Z"',
    '"2026-03-01T09:30:00.000000z"',
    '"2026-03-01T09:30:00Z"',
    '"10000-01-01T00:00:00.000000Z"',
    '"2026-03-01T09:30:00.000000Z"',
    '"00000000-0000-0000-0000-000000000000"',
    '"' + "0" * 64 + '"',
    '"user-presence"',
    "NaN",
    "1" * 5000,
    "[" * 600 + "]" * 600,
]
ODD_BYTES = [
    b"\0",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\x1f",
    b"{",
    b"}",
    b"\x7f",
    b"\\",
    b'"',
    b"0",
]


def bytes_changed(source, data):
    """One byte changed, added, taken, or a bit turned; a part repeated, taken or moved."""
    at = source.randrange(len(data) + 1)
    end = min(len(data), at + source.randrange(1, 20))
    kind = source.randrange(8)
    if kind < 3 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << source.randrange(8)]) + data[at + 1 :]
    if kind == 3:
        return data[:at] + source.choice(ODD_BYTES) + data[at:]
    if kind == 4:
        return data[:at] + source.choice(ODD_BYTES) + data[at + 1 :]
    if kind == 5:
        return data[:at] + data[end:]
    if kind == 6:
        return data[:at] + data[at:end] + data[at:]
    return data[:at] if source.random() < 0.5 else data + source.choice(ODD_BYTES)


class _Members(list):
    """The members of an object, in order, which may be there twice."""


def _raw(value):
    """JSON text as `value` has it: a tuple is text already."""
    if isinstance(value, tuple):
        return value[0]
    if isinstance(value, _Members):
        return "{" + ",".join(canonical.encode(name) + ":" + _raw(member) for name, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_raw, value)) + "]"
    return canonical.encode(value)


def _places(value, found):
    """Every container with the place of a value in it."""
    if isinstance(value, list):
        for index, member in enumerate(value):
            found.append((value, index))
            _places(member[1] if isinstance(value, _Members) else member, found)
    return found


def json_changed(source, data):
    """JSON text with a change in one of its values or members."""
    value = json.loads(data, object_pairs_hook=_Members)
    places = _places(value, [])
    if not places or source.random() < 0.15:
        return bytes_changed(source, data)
    holder, index = source.choice(places)
    kind = source.randrange(7)
    is_member = isinstance(holder, _Members)
    if kind == 0:
        del holder[index]
    elif kind == 1:
        holder.insert(source.randrange(len(holder) + 1), holder[index])
    elif kind == 2:
        other = source.randrange(len(holder))
        holder[index], holder[other] = holder[other], holder[index]
    elif kind == 3 and is_member:
        holder[index] = source.choice(("", "size", "extra", "end", "zzzz", "labl", "é", "port")), holder[index][1]
    elif is_member:
        holder[index] = holder[index][0], _odd(source, holder[index][1])
    else:
        holder[index] = _odd(source, holder[index])
    return _raw(value).encode("utf-8", "surrogatepass")


def _odd(source, before):
    """Another JSON value: one that is near the one before, or any."""
    kind = source.randrange(4)
    if kind == 0 and isinstance(before, int):
        return before + source.choice((-1, 1))
    if kind == 0 and isinstance(before, str):
        return source.choice((before + "a", before[:-1], before.upper(), before + "=", "é" + before, before[::-1]))
    if kind == 1 and isinstance(before, str) and before:
        return (f'"\\u{ord(before[0]) & 0xFFFF:04x}{canonical.encode(before[1:])[1:]}',)
    return (source.choice(ODD_JSON),)


def lines_changed(source, lines):
    """Lines of a stream with one of them taken, doubled, moved or changed."""
    lines = list(lines)
    at = source.randrange(len(lines))
    kind = source.randrange(8)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(source.randrange(len(lines) + 1), lines[at])
    elif kind == 2:
        other = source.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines.insert(at, source.choice((b"", b"{}", b" ", b"\r", b"null")))
    else:
        lines[at] = json_changed(source, lines[at])
    return lines
