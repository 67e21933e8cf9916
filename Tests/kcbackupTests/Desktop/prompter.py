"""A stand-in for GNOME's prompter on the session bus, which answers without a user.

    prompter.py ANSWER    answers every prompt with ANSWER
    prompter.py           closes every prompt without an answer, or leaves it open if the file `mode` exists

It appends a line to the file `prompts` when a prompt is opened or closed.
"""
import base64
import hashlib
import hmac
import os
import secrets
import subprocess
import sys

from gi.repository import Gio, GLib

INTERFACE = """
<node>
  <interface name="org.gnome.keyring.internal.Prompter">
    <method name="BeginPrompting"><arg name="callback" type="o" direction="in"/></method>
    <method name="PerformPrompt">
      <arg name="callback" type="o" direction="in"/>
      <arg name="type" type="s" direction="in"/>
      <arg name="properties" type="a{sv}" direction="in"/>
      <arg name="exchange" type="s" direction="in"/>
    </method>
    <method name="StopPrompting"><arg name="callback" type="o" direction="in"/></method>
  </interface>
</node>
"""
# The 1,536-bit group of RFC 3526.
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF",
    16,
)
SIZE = 192
PRIVATE = secrets.randbits(1024)


def note(text):
    with open("prompts", "a") as file:
        print(text, file=file, flush=True)


def text_of(values):
    return "[sx-aes-1]\n" + "".join(f"{name}={base64.b64encode(value).decode()}\n" for name, value in values)


def public():
    return ("public", pow(2, PRIVATE, PRIME).to_bytes(SIZE, "big"))


def sealed(answer, exchange):
    """Encrypts the answer with AES-128-CBC, under a key derived from the shared secret with HKDF-SHA256."""
    line = next(line for line in exchange.splitlines() if line.startswith("public="))
    peer = int.from_bytes(base64.b64decode(line.removeprefix("public=")), "big")
    shared = pow(peer, PRIVATE, PRIME).to_bytes(SIZE, "big")
    extracted = hmac.digest(bytes(32), shared, hashlib.sha256)
    key = hmac.digest(extracted, b"\1", hashlib.sha256)[:16]
    iv = secrets.token_bytes(16)
    done = subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", iv.hex()],
        input=answer.encode(), capture_output=True, check=True)
    return text_of([public(), ("secret", done.stdout), ("iv", iv)])


def called(connection, sender, path, interface, method, arguments, invocation):
    callback = arguments[0]

    def ready(reply, exchange):
        connection.call(
            sender, callback, "org.gnome.keyring.internal.Prompter.Callback", "PromptReady",
            GLib.Variant("(sa{sv}s)", (reply, {}, exchange)), None, 0, -1, None, None)

    invocation.return_value(None)
    if method == "BeginPrompting":
        ready("", text_of([public()]))
    elif method == "PerformPrompt":
        note(f"open {arguments[1]}")
        if os.path.exists("mode"):
            return
        if len(sys.argv) > 1:
            ready("yes", sealed(sys.argv[1], arguments[3]))
        else:
            ready("no", text_of([public()]))
    else:
        note("closed")
        connection.call(
            sender, callback, "org.gnome.keyring.internal.Prompter.Callback", "PromptDone", None, None, 0, -1, None,
            None)


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.register_object(
    "/org/gnome/keyring/Prompter", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], called, None, None)
Gio.bus_own_name_on_connection(bus, "org.gnome.keyring.SystemPrompter", 0, None, None)
GLib.MainLoop().run()
