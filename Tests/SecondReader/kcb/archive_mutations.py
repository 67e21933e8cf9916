"""Changes below the checksums, MACs and signatures of an archive, which are then made anew with its keys.

Each takes the parts of an archive, made as far as its name says, and makes what follows.
"""

import base64
import hmac
import json
import os
import re
import struct
import zlib

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import age, canonical, sshsig
from .mutations import bytes_changed, json_changed, lines_changed
from .primitives import encode64, expand, extract


def change_header(source, parts):
    parts.header = json_changed(source, parts.header[:-1]) + source.choice((b"\n",) * 8 + (b"", b"\n\n", b"\r\n"))
    return parts.bytes()


def change_metadata(source, parts):
    parts.metadata = lines_changed(source, parts.metadata)
    return parts.bytes()


def change_secrets(source, parts):
    parts.secrets = lines_changed(source, parts.secrets)
    return parts.bytes()


def change_items(source, parts):
    """Both lines of an item move together, so that only rules about items are broken."""
    at, other = source.randrange(len(parts.metadata)), source.randrange(len(parts.metadata))
    kind = source.randrange(3)
    for lines in (parts.metadata, parts.secrets):
        if kind == 0:
            lines.insert(other, lines[at])
        elif kind == 1:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            del lines[at]
    return parts.bytes()


def change_ends(source, parts):
    """The last line of either stream, whose hashes are otherwise right."""
    which = source.choice(("metadata", "secrets"))
    plain = parts.end
    odd = source.choice(
        (
            {"complete": False},
            {"omitted": 1},
            {"damaged": 1, "complete": False},
            {"damaged": 1},
            {"omitted": 10_000_001},
            {"header": "0" * 64},
            {"secrets": "0" * 64},
            {"metadata": "0" * 64},
            {},
        )
    )

    def end(name, *rest):
        value = plain(name, *rest)
        if name == which or source.random() < 0.3:
            value |= {key: part for key, part in odd.items() if key in value}
        return value

    parts.end = end
    parts.finish()
    if not odd:
        parts.texts = [bytes_changed(source, text) if source.random() < 0.5 else text for text in parts.texts]
    return parts.compress().headers().encrypt().sign().pack()


def _member(text, flags=0, fields=b"", system=255, extra=0, time=0, level=6):
    deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflater.compress(text) + deflater.flush()
    return (
        b"\x1f\x8b\x08"
        + bytes([flags])
        + struct.pack("<I", time)
        + bytes([extra, system])
        + fields
        + body
        + struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    )


def _gzip_changed(source, text):
    half = source.randrange(len(text) + 1)
    kind = source.randrange(12)
    variants = [
        lambda: _member(text[:half]) + _member(text[half:]),
        lambda: _member(text) + _member(b""),
        lambda: _member(text, system=3),
        lambda: _member(text, system=source.randrange(256)),
        lambda: _member(text, extra=2),
        lambda: _member(text, time=source.randrange(1 << 32)),
        lambda: _member(text, flags=8, fields=b"name\0"),
        lambda: _member(text, flags=source.randrange(256)),
        lambda: _member(text, level=0),
        lambda: _member(text) + b"\0" * source.randrange(1, 600),
    ]
    return variants[kind]() if kind < len(variants) else bytes_changed(source, _member(text))


def change_gzip(source, parts):
    parts.finish().compress()
    at = source.randrange(2)
    parts.streams[at] = _gzip_changed(source, parts.texts[at])
    return parts.headers().encrypt().sign().pack()


def _p256tag(source):
    point = bytes.fromhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    )
    point = source.choice((point, point, b"\x02" + point[1:33], point[:64] + b"\0", bytes(65)))
    body = age.encode_unpadded(bytes(source.choice((32, 32, 33))))
    return (
        b"-> p256tag "
        + age.encode_unpadded(bytes(source.choice((4, 4, 5))))
        + b" "
        + age.encode_unpadded(point)
        + b"\n"
        + body
        + b"\n"
    )


def _hybrid(source):
    kind, sizes = source.choice(((b"mlkem768x25519", [1120]), (b"mlkem768p256tag", [4, 1153])))
    arguments = [age.encode_unpadded(bytes(size + source.choice((0, 0, 0, 1)))) for size in sizes]
    return b"-> " + b" ".join([kind, *arguments]) + b"\n" + age.encode_unpadded(bytes(32)) + b"\n"


def _stanzas_changed(source, covered):
    """The header of an age file, between its first line and its MAC."""
    first, *rest = re.split(rb"(?m)^(?=-> |---)", covered)
    stanzas, last = rest[:-1], rest[-1]
    at = source.randrange(len(stanzas))
    kind = source.randrange(9)
    if kind == 0:
        stanzas.insert(at, stanzas[at])
    elif kind == 1:
        del stanzas[at]
    elif kind == 2:
        stanzas.insert(
            source.randrange(len(stanzas) + 1),
            source.choice(
                (b"-> grease x\n\n", b"-> X25519 AA\nAA\n", b"-> \n\n", b"-> scrypt AAAAAAAAAAAAAAAAAAAAAA 10\n\n")
            ),
        )
    elif kind == 3:
        share = source.choice((bytes(32), b"\1" + bytes(31), os.urandom(32)))
        new = b"-> X25519 " + age.encode_unpadded(share) + b"\n" + age.encode_unpadded(os.urandom(32)) + b"\n"
        stanzas.insert(source.choice((0, len(stanzas))), new)
    elif kind == 4:
        new = source.choice((_p256tag, _p256tag, _hybrid))(source)
        # Alone, one of another strength is not refused for being mixed.
        stanzas = source.choice((stanzas, stanzas, []))
        stanzas.insert(source.randrange(len(stanzas) + 1), new)
    elif kind == 5:
        stanzas[at] = source.choice(
            (
                stanzas[at].replace(b"\n", b" a\n", 1),
                stanzas[at].replace(b"\n", b"\r\n"),
                stanzas[at][:-1] + b"=\n",
                stanzas[at][:-2] + b"B\n",
                stanzas[at] + b"\n",
                stanzas[at].replace(b"X25519", b"x25519"),
            )
        )
    elif kind == 6:
        return b"age-encryption.org/v2\n" + covered[len(first) :]
    else:
        return bytes_changed(source, covered)
    return first + b"".join(stanzas) + last


def change_age_header(source, parts):
    parts.finish().compress().headers()
    for at in range(2):
        if source.random() < 0.6:
            parts.covered[at] = _stanzas_changed(source, parts.covered[at])
    return parts.encrypt().sign().pack()


def _payload_changed(source, text, key, covered):
    """Chunks that are encrypted with the right key, and are not those that they should be."""
    size = source.choice((age.CHUNK, age.CHUNK, 100, age.CHUNK - 1, age.CHUNK + 1))
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    if source.random() < 0.3:
        chunks.append(b"")
    nonce = bytes(16)
    cipher = ChaCha20Poly1305(expand(extract(nonce, key), b"payload"))
    last = source.choice((len(chunks) - 1, len(chunks) - 1, 0, len(chunks)))
    result = b"".join(
        cipher.encrypt(number.to_bytes(11, "big") + bytes([number == last]), chunk, None)
        for number, chunk in enumerate(chunks)
    )
    mac = age.header_mac(key, covered)
    line = source.choice(
        (
            b" " + age.encode_unpadded(mac),
            b" " + age.encode_unpadded(mac),
            b" " + encode64(mac).encode(),
            age.encode_unpadded(mac),
            b" " + age.encode_unpadded(mac[:31]),
        )
    )
    return covered + line + b"\n" + nonce + result


def change_age_payload(source, parts):
    parts.finish().compress().headers()
    plain = list(parts.streams)
    parts.encrypt()
    at = source.randrange(2)
    if source.random() < 0.6:
        parts.streams[at] = _payload_changed(source, plain[at], parts.file_keys[at], parts.covered[at])
    else:
        parts.streams[at] = bytes_changed(source, parts.streams[at])
    return parts.sign().pack()


def change_identity(source, parts):
    """Of an archive with a passphrase."""
    parts.finish().compress().headers()
    kind = source.randrange(4)
    if kind == 0:
        parts.identity_text = bytes_changed(source, parts.identity_text)
    elif kind == 1:
        lines = lines_of(parts.identity_text)
        at = source.randrange(len(lines))
        lines[at] = source.choice(
            (
                lines[at].lower(),
                lines[at].upper(),
                lines[at] + b" ",
                b"",
                lines[at].replace(b"yes", b"no"),
                lines[at].replace(b"no", b"yes"),
            )
        )
        parts.identity_text = b"".join(line + b"\n" for line in lines)
    parts.encrypt()
    if kind == 2:
        head, rest = parts.identity.split(b"\n--- ", 1)
        factor = source.choice((b"0", b"010", b"21", b"23", b"+10", b"10 ", b"1", b"9", b"99999999999999999999"))
        parts.identity = head.replace(b" 10\n", b" " + factor + b"\n") + b"\n--- " + rest
    elif kind == 3:
        parts.identity = bytes_changed(source, parts.identity)
    return parts.sign().pack()


def lines_of(data):
    return data.split(b"\n")[:-1]


def change_members(source, parts):
    parts.finish().compress().headers().encrypt().sign()
    members = parts.members
    at, other = source.randrange(len(members)), source.randrange(len(members))
    kind = source.randrange(6)
    if kind == 0:
        members[at], members[other] = members[other], members[at]
    elif kind == 1:
        del members[at]
    elif kind == 2:
        members.insert(other, members[at])
    elif kind == 3:
        name = source.choice(("extra", "../x", "kcbackup.json", "identity.age", "SHA256SUMS", "metadata.jsonl.gz"))
        members.insert(other, (name, b"x"))
    elif kind == 4:
        members[at] = (
            source.choice((members[at][0] + "x", members[at][0].upper(), "./" + members[at][0])),
            members[at][1],
        )
    else:
        parts.sums = bytes_changed(source, parts.sums)
        return parts.sign_sums().pack()
    return parts.sign_members().pack()


def change_signature(source, parts):
    parts.finish().compress().headers().encrypt().sign()
    armored = parts.signature
    blob = base64.b64decode(b"".join(armored.split(b"\n")[1:-2]))
    kind = source.randrange(5)
    if kind == 0:
        parts.signature = bytes_changed(source, armored)
    elif kind == 1:
        parts.signature = sshsig.armor(bytes_changed(source, blob))
    elif kind == 2:
        scalar = int.from_bytes(blob[-32:], "little") + sshsig.ORDER
        parts.signature = sshsig.armor(blob[:-32] + scalar.to_bytes(32, "little"))
    elif kind == 3:
        text = base64.b64encode(blob)
        width = source.choice((64, 69, 71, 76, len(text)))
        lines = [text[at : at + width] for at in range(0, len(text), width)]
        parts.signature = sshsig.BEGIN + b"\n".join(lines) + b"\n" + sshsig.END
    else:
        parts.signature = armored.replace(b"\n", source.choice((b"\r\n", b"\n\n", b"\n ")), source.choice((1, -1)))
    return parts.pack()


def _checksum(block):
    """The header with the checksum that fits it."""
    plain = block[:148] + b" " * 8 + block[156:]
    return plain[:148] + f"{sum(plain):06o}".encode() + b"\0 " + plain[156:]


def change_tar(source, parts):
    data = parts.bytes()
    kind = source.randrange(6)
    blocks = [at for at in range(0, len(data), 512) if data[at + 257 : at + 262] == b"ustar"]
    at = source.choice(blocks)
    block = data[at : at + 512]
    if kind == 0:
        new = bytes_changed(source, block)[:512].ljust(512, b"\0")
        return data[:at] + (new if source.random() < 0.3 else _checksum(new)) + data[at + 512 :]
    if kind == 1:
        offset, old, new = source.choice(
            (
                (100, b"000600 \0", b"0000600\0"),
                (156, b"0", source.choice(b"\0LxgKS257").to_bytes(1, "big")),
                (257, b"ustar\x0000", b"ustar  \0"),
                (265, b"\0\0\0\0", b"root"),
                (124, block[124:136], b"\x80" + bytes(11)),
                (136, block[136:147], b"00000000001"),
                (345, b"\0\0\0", b"abc"),
                (124, block[124:136], b"0" + block[124:135]),
            )
        )
        return data[:at] + _checksum(block[:offset] + new + block[offset + len(old) :]) + data[at + 512 :]
    if kind == 2:
        return data + bytes(source.choice((1, 511, 512, 1024, 9216)))
    if kind == 3:
        return data[: -source.choice((1, 512, 1024, 513))]
    if kind == 4:
        size = int(block[124:135], 8)
        padding = -size % 512
        end = at + 512 + size
        return data[:end] + b"x" + data[end + 1 :] if padding else data
    return bytes_changed(source, data)


def change_keybag(source, parts):
    """Of an unencrypted archive: the text of the keybag, with the code that fits it."""
    text = parts.keybag.text
    changed = json_changed(source, text.encode()).decode("utf-8", "surrogateescape")
    if source.random() < 0.7 and ',"mac":' in changed:
        before = changed[: changed.rindex(',"mac":')]
        code = hmac.digest(parts.keybag.code_key(parts.device), before.encode("utf-8", "surrogateescape"), "sha256")
        changed = before + f',"mac":"{encode64(code)}"}}'
    value = json.loads(parts.header)
    value["keybag"] = changed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    parts.header = canonical.encode(value).encode("utf-8", "replace") + b"\n"
    return parts.bytes()


BOTH = [
    change_header,
    change_metadata,
    change_metadata,
    change_metadata,
    change_secrets,
    change_secrets,
    change_items,
    change_ends,
    change_gzip,
    change_gzip,
    change_members,
    change_signature,
    change_tar,
    change_tar,
]
ENCRYPTED = BOTH + [change_age_header, change_age_header, change_age_payload]
PASSPHRASE = [change_identity]
UNENCRYPTED = BOTH + [change_keybag]
