#!/usr/bin/env python3
"""Makes the encrypted files in this folder, from the documented forms of their programs.

The programs of these formats are apps for phones, which do not run here. The files are made with other libraries than
those of kcbackup: cryptography, argon2-cffi and PyNaCl. All of them open with the password "pw one".

    pip install cryptography argon2-cffi pynacl && python3 make.py
"""

import base64
import hashlib
import json
import os
import struct

import nacl.bindings
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

PASSWORD = b"pw one"
# "12345678901234567890", the seed of the vectors in RFC 4226 and RFC 6238.
SEED = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def some(name, count):
    """Bytes that look random and are the same each time."""
    return hashlib.shake_256(name.encode()).digest(count)


def base64_text(data):
    return base64.b64encode(data).decode()


def pbkdf2(algorithm, salt, rounds):
    return PBKDF2HMAC(algorithm, 32, salt, rounds).derive(PASSWORD)


def write(name, data):
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def aegis():
    entry = {
        "type": "totp", "uuid": "01234567-89ab-cdef-0123-456789abcdef", "name": "ada", "issuer": "Forum",
        "note": "spare codes in the safe", "favorite": False, "icon": None, "icon_mime": None, "icon_hash": None,
        "info": {"secret": SEED, "algo": "SHA1", "digits": 8, "period": 30},
        "groups": ["11111111-89ab-cdef-0123-456789abcdef"],
    }
    group = {"uuid": "11111111-89ab-cdef-0123-456789abcdef", "name": "Home"}
    database = {"version": 3, "entries": [entry], "groups": [group], "icons_optimized": True}

    def seal(key, nonce, data):
        sealed = AESGCM(key).encrypt(nonce, data, None)
        return sealed[:-16], {"nonce": nonce.hex(), "tag": sealed[-16:].hex()}

    master = some("aegis master", 32)
    salt = some("aegis salt", 32)
    wrapping = Scrypt(salt, 32, 2**15, 8, 1).derive(PASSWORD)
    key, key_params = seal(wrapping, some("aegis key nonce", 12), master)
    contents, params = seal(master, some("aegis nonce", 12), json.dumps(database).encode())
    # A slot that only the device could open comes first.
    slots = [
        {
            "type": 2, "uuid": "22222222-89ab-cdef-0123-456789abcdef", "key": some("aegis other", 32).hex(),
            "key_params": {"nonce": "00" * 12, "tag": "00" * 16},
        },
        {
            "type": 1, "uuid": "33333333-89ab-cdef-0123-456789abcdef", "key": key.hex(), "key_params": key_params,
            "n": 2**15, "r": 8, "p": 1, "salt": salt.hex(), "repaired": True, "is_backup": False,
        },
    ]
    vault = {"version": 1, "header": {"slots": slots, "params": params}, "db": base64_text(contents)}
    write("aegis.json", json.dumps(vault, indent=4).encode())


def two_fas():
    service = {
        "name": "Forum", "secret": SEED, "updatedAt": 1700000000000,
        "otp": {
            "label": "ada", "account": "ada", "issuer": "Forum", "digits": 6, "period": 30, "algorithm": "SHA1",
            "tokenType": "TOTP", "source": "Link",
        },
        "order": {"position": 0}, "groupId": "11111111-89ab-cdef-0123-456789abcdef",
    }
    salt = some("2fas salt", 256)
    key = pbkdf2(hashes.SHA256(), salt, 10_000)

    def seal(name, data):
        nonce = some(name, 12)
        return ":".join(base64_text(part) for part in (AESGCM(key).encrypt(nonce, data, None), salt, nonce))

    backup = {
        "services": [], "groups": [{"id": "11111111-89ab-cdef-0123-456789abcdef", "name": "Home", "isExpanded": True}],
        "updatedAt": 1700000000000, "schemaVersion": 4, "appVersionCode": 5000000, "appVersionName": "5.0.0",
        "appOrigin": "android", "servicesEncrypted": seal("2fas nonce", json.dumps([service]).encode()),
        "reference": seal("2fas reference", b"any text"),
    }
    write("backup.2fas", json.dumps(backup).encode())


def and_otp():
    entry = {
        "secret": SEED + "======", "issuer": "Forum", "label": "ada", "digits": 6, "type": "TOTP", "algorithm": "SHA1",
        "thumbnail": "Default", "last_used": 0, "used_frequency": 0, "period": 30, "tags": ["Home"],
    }
    salt, nonce, rounds = some("andotp salt", 12), some("andotp nonce", 12), 140_000
    sealed = AESGCM(pbkdf2(hashes.SHA1(), salt, rounds)).encrypt(nonce, json.dumps([entry]).encode(), None)
    write("otp_accounts.json.aes", struct.pack(">I", rounds) + salt + nonce + sealed)


def stratum():
    backup = {
        "Authenticators": [
            {
                "Type": 2, "Icon": None, "Issuer": "Forum", "Username": "ada", "Secret": SEED, "Pin": None,
                "Algorithm": 0, "Digits": 6, "Period": 30, "Counter": 0, "Ranking": 0, "CopyCount": 0,
            },
        ],
        "Categories": [{"Id": "a8323a2a", "Name": "Home", "Ranking": 0}],
        "AuthenticatorCategories": [{"CategoryId": "a8323a2a", "AuthenticatorSecret": SEED, "Ranking": 0}],
        "CustomIcons": [], "IconPacks": [],
    }
    data = json.dumps(backup).encode()
    salt, nonce = some("stratum salt", 16), some("stratum nonce", 12)
    key = hash_secret_raw(PASSWORD, salt, 3, 65_536, 4, 32, Type.ID)
    write("stratum.authpro", b"AUTHENTICATORPRO" + salt + nonce + AESGCM(key).encrypt(nonce, data, None))
    salt, nonce = some("legacy salt", 20), some("legacy nonce", 16)
    padder = padding.PKCS7(128).padder()
    cipher = Cipher(algorithms.AES(pbkdf2(hashes.SHA1(), salt, 64_000)), modes.CBC(nonce)).encryptor()
    sealed = cipher.update(padder.update(data) + padder.finalize()) + cipher.finalize()
    write("legacy.authpro", b"AuthenticatorPro" + salt + nonce + sealed)


def ente(name, others):
    address = "otpauth://totp/Forum:ada?algorithm=SHA1&digits=6&issuer=Forum&period=30&secret=" + SEED
    display = "%7B%22pinned%22%3Afalse%2C%22trashed%22%3Afalse%2C%22note%22%3A%22spare%22%2C%22tags%22%3A%5B%22Home%22%5D%7D"
    text = "\n".join([address + "&codeDisplay=" + display] + others).encode()
    salt, memory, passes = some("ente salt", 16), 64 << 20, 4
    key = nacl.bindings.crypto_pwhash_alg(
        32, PASSWORD, salt, passes, memory, nacl.bindings.crypto_pwhash_ALG_ARGON2ID13)
    state = nacl.bindings.crypto_secretstream_xchacha20poly1305_state()
    # libsodium chooses the header, so this file is another one each time.
    header = nacl.bindings.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    sealed = nacl.bindings.crypto_secretstream_xchacha20poly1305_push(
        state, text, None, nacl.bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL)
    export = {
        "version": 1, "kdfParams": {"memLimit": memory, "opsLimit": passes, "salt": base64_text(salt)},
        "encryptedData": base64_text(sealed), "encryptionNonce": base64_text(header),
    }
    write(name, json.dumps(export).encode())


def proton():
    entries = [
        {
            "id": "01234567-89ab-cdef-0123-456789abcdef", "note": "spare",
            "content": {"uri": "otpauth://totp/Forum:ada?secret=" + SEED + "&issuer=Forum", "entry_type": "Totp", "name": "ada"},
        },
        {
            "id": "11234567-89ab-cdef-0123-456789abcdef", "note": None,
            "content": {"uri": "steam://" + base64_text(base64.b32decode(SEED)), "entry_type": "Steam", "name": "eve"},
        },
    ]
    data = json.dumps({"version": 1, "entries": entries}).encode()
    salt, nonce = some("proton salt", 16), some("proton nonce", 12)
    key = hash_secret_raw(PASSWORD, salt, 2, 19 * 1024, 1, 32, Type.ID)
    content = nonce + AESGCM(key).encrypt(nonce, data, b"proton.authenticator.export.v1")
    export = {"version": 1, "salt": base64_text(salt), "content": base64_text(content)}
    write("proton-authenticator.json", json.dumps(export).encode())


for make in (aegis, two_fas, and_otp, stratum, proton):
    make()
last = "otpauth://totp/Shop:eve?secret=" + SEED
ente("ente.txt", [])
ente("ente-two.txt", [last])
ente("ente-odd.txt", ["otpauth://totp/Odd", last])
