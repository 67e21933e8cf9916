"""The container: a ustar file whose every byte has one allowed value."""

from .verdict import require

BLOCK = 512


def _digits(number, count):
    return f"{number:0{count}o}".encode()


def header(name, size, time):
    """The one allowed header of a member."""
    parts = [
        name.encode().ljust(100, b"\0"),
        b"000600 \0",
        b"000000 \0",
        b"000000 \0",
        _digits(size, 11) + b" ",
        _digits(time, 11) + b" ",
        b" " * 8,
        b"0",
        bytes(100),
        b"ustar\x0000",
        bytes(64),
        b"000000 \0",
        b"000000 \0",
        bytes(167),
    ]
    block = b"".join(parts)
    checksum = _digits(sum(block), 6) + b"\0 "
    return block[:148] + checksum + block[156:]


def _octal(field):
    require(all(digit in b"01234567" for digit in field), "a number that is not octal")
    return int(field, 8)


def unpack(data):
    """Names, contents and the one time of the members."""
    members, times, at = [], set(), 0
    while True:
        block = data[at : at + BLOCK]
        require(len(block) == BLOCK, "the container ends early")
        if block == bytes(BLOCK):
            break
        size, time = _octal(block[124:135]), _octal(block[136:147])
        name = block[:100].rstrip(b"\0")
        require(name.isascii() and block == header(name.decode("ascii"), size, time), "a member's header")
        at += BLOCK
        content = data[at : at + size]
        require(len(content) == size, "a member ends early")
        padding = -size % BLOCK
        require(
            data[at + size : at + size + padding] == bytes(padding) and at + size + padding <= len(data),
            "the padding of a member",
        )
        at += size + padding
        members.append((name.decode("ascii"), content))
        times.add(time)
    require(data[at:] == bytes(2 * BLOCK), "the end of the container")
    require(len(times) == 1, "members of different times")
    return members, times.pop()


def pack(members, time):
    result = b""
    for name, content in members:
        result += header(name, len(content), time) + content + bytes(-len(content) % BLOCK)
    return result + bytes(2 * BLOCK)
