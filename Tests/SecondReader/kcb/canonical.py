"""Canonical JSON: what one value is written as, and nothing else."""

import json
import re

from .primitives import decode64, encode64
from .verdict import Damaged, require

ESCAPED = re.compile(r'["\\\x00-\x1f]')
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{6})Z", re.ASCII)


def _text(text):
    def escape(match):
        letter = match[0]
        return "\\" + letter if letter in '"\\' else f"\\u{ord(letter):04x}"

    return '"' + ESCAPED.sub(escape, text) + '"'


def encode(value):
    """The canonical text of a value: members in the order of the dictionary."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(_text(name) + ":" + encode(member) for name, member in value.items()) + "}"
    raise Damaged("a JSON value that canonical JSON does not have")


def decode(data):
    """The value of canonical text."""
    try:
        value = json.loads(data.decode())
        same = encode(value).encode() == data
    except (ValueError, RecursionError) as error:
        raise Damaged("not JSON in UTF-8") from error
    require(same, "JSON in another form than the canonical one")
    return value


def members(value, required, optional=()):
    """Requires an object with the members `required`, and perhaps `optional` ones, in the order of `required`."""
    require(isinstance(value, dict), "not an object")
    expected = [name for name in required if name not in optional or name in value]
    require(list(value) == expected, f"members {list(value)} instead of {expected}")
    return value


def integer(value, low, high):
    require(isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, "not such an integer")
    return value


def string(value):
    require(isinstance(value, str), "not a string")
    return value


def uuid(value):
    require(isinstance(value, str) and UUID.fullmatch(value), "not a UUID")
    return bytes.fromhex(value.replace("-", ""))


def uuid_text(data):
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


DAYS_BEFORE_1970 = 719162


def _days(year, month, day):
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    require(year >= 1 and 1 <= month <= 12 and 1 <= day <= lengths[month - 1], "not a day of the calendar")
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day - 1


def date(value):
    """Microseconds since 1970."""
    match = DATE.fullmatch(string(value))
    require(match, "not a date")
    year, month, day, hour, minute, second, fraction = map(int, match.groups())
    require(hour < 24 and minute < 60 and second < 60, "not a time of day")
    days = _days(year, month, day) - DAYS_BEFORE_1970
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + fraction


def date_text(microseconds):
    seconds, fraction = divmod(microseconds, 1_000_000)
    days, second = divmod(seconds, 86_400)
    low, high = 1, 10_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _days(middle, 1, 1) - DAYS_BEFORE_1970 <= days else (low, middle)
    year, rest = low, days - (_days(low, 1, 1) - DAYS_BEFORE_1970)
    require(1 <= year <= 9999 and rest >= 0, "a date out of the years of the format")
    month = max(number for number in range(1, 13) if _days(year, number, 1) - _days(year, 1, 1) <= rest)
    day = rest - (_days(year, month, 1) - _days(year, 1, 1)) + 1
    require(day <= 31, "a date out of the years of the format")
    return (
        f"{year:04}-{month:02}-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" f".{fraction:06}Z"
    )


def data(value, size=None):
    require(isinstance(value, str), "not base 64")
    return decode64(value, size)


__all__ = [
    "data",
    "date",
    "date_text",
    "decode",
    "encode",
    "encode64",
    "integer",
    "members",
    "string",
    "uuid",
    "uuid_text",
]
