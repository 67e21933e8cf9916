"""Encodings and keys that both formats use."""

import base64
import binascii
import hashlib
import hmac

from .verdict import Damaged, require

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
P = 2**255 - 19


def extract(salt, key):
    """HKDF-Extract of RFC 5869 with SHA-256."""
    return hmac.digest(salt, key, "sha256")


def expand(key, info, size=32):
    """HKDF-Expand of RFC 5869 with SHA-256."""
    result, block, number = b"", b"", 0
    while len(result) < size:
        number += 1
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        result += block
    return result[:size]


def sha256(data):
    return hashlib.sha256(data).digest()


def decode64(text, size=None):
    """The bytes of padded base 64 in canonical form."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Damaged("not base 64") from error
    require(base64.b64encode(data).decode() == text, "base 64 in another form")
    require(size is None or len(data) == size, "base 64 of another length")
    return data


def encode64(data):
    return base64.b64encode(data).decode()


def decode_hex(text, size):
    require(isinstance(text, str) and len(text) == 2 * size, "hexadecimal of another length")
    require(all(digit in "0123456789abcdef" for digit in text), "not lower-case hexadecimal")
    return bytes.fromhex(text)


def _polymod(values):
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                check ^= generator
    return check


def _expanded(prefix):
    return [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]


def _regroup(values, width, into, pad):
    accumulator = count = 0
    result = []
    for value in values:
        accumulator, count = accumulator << width | value, count + width
        while count >= into:
            count -= into
            result.append(accumulator >> count & (1 << into) - 1)
    if pad and count:
        result.append(accumulator << into - count & (1 << into) - 1)
    elif not pad:
        require(count < width and not accumulator & (1 << count) - 1, "Bech32 with odd bits at the end")
    return result


def decode_bech32(text, prefix, size=32):
    """The bytes of Bech32 text (BIP 173, of any length), whose prefix is given in lower case."""
    require(text.lower() == text or text.upper() == text, "Bech32 in both cases")
    name, separator, data = text.lower().rpartition("1")
    require(separator and name == prefix and all(letter in BECH32 for letter in data), "not Bech32 of this kind")
    values = [BECH32.index(letter) for letter in data]
    require(_polymod(_expanded(prefix) + values) == 1, "a Bech32 checksum that does not match")
    result = bytes(_regroup(values[:-6], 5, 8, pad=False))
    require(len(result) == size, "Bech32 of another length")
    return result


def encode_bech32(data, prefix):
    values = _regroup(data, 8, 5, pad=True)
    check = _polymod(_expanded(prefix) + values + [0] * 6) ^ 1
    values += [check >> 5 * (5 - index) & 31 for index in range(6)]
    return prefix + "1" + "".join(BECH32[value] for value in values)


def is_honest_ed25519(public):
    """Whether a public key is one that an honest signer can have: a coordinate below p, and no point of small order."""
    y = int.from_bytes(public, "little") & (1 << 255) - 1
    if y >= P:
        return False
    # Doubling a point needs x² only: a point has small order if doubling it three times gives the neutral element.
    d = -121665 * pow(121666, P - 2, P) % P
    for _ in range(3):
        square = (y * y - 1) * pow(d * y * y + 1, P - 2, P) % P
        below = (1 - d * square * y * y) % P
        if not below:
            return False
        y = (y * y + square) * pow(below, P - 2, P) % P
    return y != 1
