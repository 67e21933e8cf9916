"""A Secret Service, or a session bus, that answers wrongly.

    hostile.py METHOD=ANSWER …    a Secret Service with two items, in which these methods give these answers
    hostile.py bus=PATH           a socket that accepts connections and never answers

ANSWER is `never`, `end` (the service ends), `empty`, `number`, `text`, `nowhere` (paths of "/"), `asks` (a prompt), or
`gone` (no such object). METHOD@PATH=ANSWER is for one object. `locked=yes` locks the collection, `items=none` empties it, `items=twice`
lists each item twice, `items=more` lists another one each time, and `label=TEXT` names it. `attribute=NAME` gives the
second item another attribute. `sessions=N` encrypts the first N sessions, and offers no encryption later; `owns=NAME` also
takes that name on the bus. `truncate=FILE` empties a file when the first item is created. It appends the name of
each called method to the file `calls`.
"""
import hashlib
import hmac
import os
import secrets
import socket
import subprocess
import sys

from gi.repository import Gio, GLib

ROOT = "/org/freedesktop/secrets"
COLLECTION = ROOT + "/collection/c"
ITEMS = [COLLECTION + "/1", COLLECTION + "/2"]
PROMPT = ROOT + "/prompt/p"
SESSION = ROOT + "/session/s"
METHODS = {
    "org.freedesktop.Secret.Service": {
        "OpenSession": "s v", "ReadAlias": "s", "GetSecrets": "ao o", "Unlock": "ao", "CreateCollection": "a{sv} s",
    },
    "org.freedesktop.Secret.Collection": {"CreateItem": "a{sv} (oayays) b"},
    "org.freedesktop.Secret.Item": {"GetSecret": "o", "SetSecret": "(oayays)", "Delete": ""},
    "org.freedesktop.Secret.Prompt": {"Prompt": "s"},
    "org.freedesktop.DBus.Properties": {"GetAll": "s", "Get": "s s", "Set": "s s v"},
}
OBJECTS = {
    ROOT: "Service", COLLECTION: "Collection", PROMPT: "Prompt", **{item: "Item" for item in ITEMS},
}
# The second Oakley group of RFC 2409.
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
    16,
)
answers = dict(word.split("=", 1) for word in sys.argv[1:])
key = b""
more = 0
sessions = 0


def note(text):
    with open("calls", "a") as file:
        print(text, file=file, flush=True)


def opened(public):
    """Derives the key as the specification says, and returns the other public number."""
    global key
    private = secrets.randbits(1000)
    shared = pow(int.from_bytes(bytes(public), "big"), private, PRIME).to_bytes(128, "big")
    extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
    key = hmac.new(extracted, b"\x01", hashlib.sha256).digest()[:16]
    return pow(2, private, PRIME).to_bytes(128, "big")


def secret(text):
    start = os.urandom(16)
    command = ["openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", start.hex()]
    sealed = subprocess.run(command, input=text, capture_output=True, check=True).stdout
    return (SESSION, start, sealed, "text/plain")


def listed():
    global more
    if answers.get("items") == "more":
        more += 1
        return [COLLECTION + f"/{number + 10}" for number in range(more)]
    return {"none": [], "twice": ITEMS * 2}.get(answers.get("items"), ITEMS)


def properties(path):
    if path == ROOT:
        return {"Collections": GLib.Variant("ao", [COLLECTION] * (2 if answers.get("items") == "twice" else 1))}
    if path == COLLECTION:
        return {
            "Label": GLib.Variant("s", answers.get("label", "Work")), "Items": GLib.Variant("ao", listed()),
            "Locked": GLib.Variant("b", "locked" in answers),
        }
    attributes = {"number": path[-1]}
    if "attribute" in answers and path == ITEMS[1]:
        attributes[answers["attribute"]] = "1"
    return {
        "Label": GLib.Variant("s", "Item " + path[-1]), "Attributes": GLib.Variant("a{ss}", attributes),
        "Locked": GLib.Variant("b", False),
    }


def usual(method, path, values):
    if method == "OpenSession":
        return GLib.Variant("(vo)", (GLib.Variant("ay", opened(values[1])), SESSION))
    if method == "ReadAlias":
        return GLib.Variant("(o)", (COLLECTION,))
    if method == "GetAll":
        return GLib.Variant("(a{sv})", (properties(path),))
    if method == "GetSecrets":
        return GLib.Variant("(a{o(oayays)})", ({item: secret(item.encode()) for item in values[0]},))
    if method == "GetSecret":
        return GLib.Variant("((oayays))", (secret(path.encode()),))
    if method == "Unlock":
        return GLib.Variant("(aoo)", ([], PROMPT))
    if method == "CreateItem":
        return GLib.Variant("(oo)", (COLLECTION + "/9", "/"))
    if method == "Delete":
        return GLib.Variant("(o)", ("/",))
    return GLib.Variant("()", ())


def opened_sessions(algorithm):
    """How many sessions were opened before; a second try without encryption is part of the first."""
    global sessions
    sessions += algorithm != "plain"
    return sessions - 1


def wrong(method, answer):
    if answer == "plain":
        return GLib.Variant("(vo)", (GLib.Variant("s", ""), SESSION))
    if answer == "number":
        return GLib.Variant("(u)", (7,))
    if answer == "text":
        return GLib.Variant("(sss)", ("no path !",) * 3)
    if answer == "asks":
        return GLib.Variant("(o)", (PROMPT,)) if method == "Delete" else GLib.Variant("(oo)", ("/", PROMPT))
    if answer == "nowhere":
        return GLib.Variant("(oo)", ("/", "/"))
    return GLib.Variant("()", ())


def called(connection, sender, path, interface, method, parameters, invocation):
    note(method)
    answer = answers.get(f"{method}@{path}", answers.get(method))
    if answer == "never":
        return
    if method == "OpenSession" and int(answers.get("sessions", "1000")) <= opened_sessions(parameters.unpack()[0]):
        if parameters.unpack()[0] != "plain":
            invocation.return_dbus_error("org.freedesktop.DBus.Error.NotSupported", "only plain")
            return
        answer = "plain"
    if method == "CreateItem" and "truncate" in answers:
        os.truncate(answers["truncate"], 0)
    if answer == "end":
        os._exit(0)
    if answer == "gone":
        invocation.return_dbus_error("org.freedesktop.Secret.Error.NoSuchObject", "gone")
        return
    # GLib itself would refuse to send what the interface does not define.
    reply = Gio.DBusMessage.new_method_reply(invocation.get_message())
    reply.set_body(wrong(method, answer) if answer else usual(method, path, parameters.unpack()))
    connection.send_message(reply, Gio.DBusSendMessageFlags.NONE)


def described(interface):
    methods = ""
    for name, types in METHODS[interface].items():
        arguments = "".join(f'<arg type="{kind}" direction="in"/>' for kind in types.split())
        methods += f'<method name="{name}">{arguments}</method>'
    node = f'<node><interface name="{interface}">{methods}</interface></node>'
    return Gio.DBusNodeInfo.new_for_xml(node).interfaces[0]


def listen(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        note("listening")
        kept = []
        while True:
            kept.append(server.accept())
            note("connected")


if "bus" in answers:
    listen(answers["bus"])
connection = Gio.bus_get_sync(Gio.BusType.SESSION)
for path, kind in OBJECTS.items():
    for interface in [f"org.freedesktop.Secret.{kind}", "org.freedesktop.DBus.Properties"]:
        connection.register_object(path, described(interface), called, None, None)
for name in filter(None, ["org.freedesktop.secrets", answers.get("owns")]):
    Gio.bus_own_name_on_connection(connection, name, Gio.BusNameOwnerFlags.NONE)
GLib.MainLoop().run()
