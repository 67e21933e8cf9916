"""Starts KWallet as a login does: with the wallet's key, derived from the user's password, and without a dialog.

    kwallet.py PASSWORD
"""
import hashlib
import os
import socket
import sys

folder = os.environ["HOME"] + "/.local/share/kwalletd"
os.makedirs(folder, exist_ok=True)
salt = folder + "/kdewallet.salt"
if not os.path.exists(salt):
    with open(salt, "wb") as file:
        file.write(os.urandom(56))
with open(salt, "rb") as file:
    key = hashlib.pbkdf2_hmac("sha512", sys.argv[1].encode(), file.read(), 50000, 56)
reading, writing = os.pipe()
os.write(writing, key)
path = os.environ["XDG_RUNTIME_DIR"] + "/kwallet5.socket"
if os.path.exists(path):
    os.unlink(path)
waiting = socket.socket(socket.AF_UNIX)
waiting.bind(path)
waiting.listen()
if os.fork() == 0:
    # The environment of the session, which a login sends only later.
    with socket.socket(socket.AF_UNIX) as session:
        session.connect(path)
        for name, value in os.environ.items():
            session.sendall(f"{name}={value}\n".encode())
    os._exit(0)
os.environ["PAM_KWALLET5_LOGIN"] = path
for descriptor in (reading, waiting.fileno()):
    os.set_inheritable(descriptor, True)
os.execvp("kwalletd5", ["kwalletd5", "--pam-login", str(reading), str(waiting.fileno())])
