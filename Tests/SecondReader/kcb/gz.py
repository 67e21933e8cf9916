"""Gzip with nothing in its headers, and nothing between or after its members."""

import struct
import zlib

from .verdict import require, within

LIMIT = 64 << 30
HEADERS = (b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"\x1f\x8b\x08\0\0\0\0\0\0\x03")


def decompress(data):
    result = []
    total = 0
    require(data, "an empty stream")
    while data:
        require(data[:10] in HEADERS, "the header of a gzip member")
        inflater = zlib.decompressobj(-15)
        try:
            text = inflater.decompress(data[10:])
        except zlib.error as error:
            require(False, f"deflate: {error}")
        require(inflater.eof, "a gzip member ends early")
        rest = inflater.unused_data
        require(
            rest[:8] == struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF), "the checksum of a gzip member"
        )
        total += len(text)
        within(total, LIMIT, "decompressed bytes")
        result.append(text)
        data = rest[8:]
    return b"".join(result)


def compress(text, level=6):
    deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflater.compress(text) + deflater.flush()
    return HEADERS[0] + body + struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
