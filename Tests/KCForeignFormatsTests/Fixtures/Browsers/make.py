#!/usr/bin/env python3
"""Makes the files in this folder with the programs themselves, as far as they can be told to.

make.py firefox     a profile of firefox-esr, without a primary password, filled through Marionette
make.py nss         key4.db and logins.json by libnss3 alone, with a primary password
make.py nss-3des    the same, with the key encrypted as versions before 3.46 did, by its description
make.py chromium    Login Data of chromium, with rows encrypted by openssl, and the keyring with its key

Databases are repacked with smaller pages. chromium needs a session bus: dbus-run-session make.py chromium
"""
import base64, ctypes, hashlib, hmac, json, os, shutil, socket, sqlite3, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
password = "pw one"


def repack(source, folder, name):
    os.makedirs(f"{here}/{folder}", exist_ok=True)
    target = f"{here}/{folder}/{name}"
    if os.path.exists(target):
        os.remove(target)
    database = sqlite3.connect(source)
    database.execute("PRAGMA page_size = 512")
    database.execute("VACUUM INTO ?", (target,))


def openssl(cipher, key, iv, data, direction="-e"):
    command = ["openssl", "enc", direction, "-" + cipher, "-K", key.hex(), "-iv", iv.hex()]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def firefox():
    profile = tempfile.mkdtemp()
    with open(profile + "/user.js", "w") as file:
        file.write('user_pref("marionette.port", 2928);\n')
    program = subprocess.Popen(
        ["firefox-esr", "--headless", "--marionette", "-remote-allow-system-access", "--profile", profile],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", 2928))
            break
        except OSError:
            time.sleep(0.5)
    stream = connection.makefile("rb")

    def receive():
        length = b""
        while (byte := stream.read(1)) != b":":
            length += byte
        return json.loads(stream.read(int(length)))

    def command(name, parameters):
        text = json.dumps([0, 1, name, parameters]).encode()
        connection.sendall(b"%d:%s" % (len(text), text))
        return receive()

    receive()
    command("WebDriver:NewSession", {"capabilities": {}})
    command("Marionette:SetContext", {"value": "chrome"})
    logins = [
        ["https://example.com", "https://example.com/login", None, "ada", "correct horse", "user", "pass"],
        ["https://forum.example:8443", "", None, "", "only a pässword", "", ""],
        ["https://git.example", None, "Private area", "bob", "x" * 40, "", ""],
        ["chrome://FirefoxAccounts", None, "Firefox Accounts credentials", "uid", '{"version":1}', "", ""],
    ]
    script = """
        const [logins, done] = arguments;
        (async () => {
            await Services.logins.initializationPromise;
            for (const values of logins) {
                const login = Cc["@mozilla.org/login-manager/loginInfo;1"].createInstance(Ci.nsILoginInfo);
                login.init(...values);
                await Services.logins.addLoginAsync(login);
            }
        })().then(done, done);"""
    print(command("WebDriver:ExecuteAsyncScript", {"script": script, "args": [logins], "sandbox": "system"}))
    command("Marionette:Quit", {"flags": ["eAttemptQuit"]})
    program.wait()
    repack(profile + "/key4.db", "firefox", "key4.db")
    shutil.copyfile(profile + "/logins.json", here + "/firefox/logins.json")


def write_logins(folder, encrypt):
    values = [
        ("https://example.com", None, "ada", "correct horse"),
        ("imap://mail.example", "imap://mail.example", "ada", "päss"),
        ("https://git.example", "Private area", "bob", "x" * 40),
    ]
    guid = "{%08x-0000-4000-8000-000000000000}"
    logins = [
        dict(
            id=number, hostname=host, httpRealm=realm, formSubmitURL=None if realm else host, usernameField="",
            passwordField="", encryptedUsername=encrypt(user), encryptedPassword=encrypt(secret),
            guid=guid % number, encType=1, timeCreated=1700000000000, timeLastUsed=1700000002000,
            timePasswordChanged=1700000001000, timesUsed=1)
        for number, (host, realm, user, secret) in enumerate(values, 1)
    ]
    logins.append(dict(guid=guid % 9, deleted=True, timePasswordChanged=1700000001000, syncCounter=1, everSynced=True))
    os.makedirs(f"{here}/{folder}", exist_ok=True)
    with open(f"{here}/{folder}/logins.json", "w") as file:
        json.dump(
            dict(
                nextId=5, logins=logins, potentiallyVulnerablePasswords=[], dismissedBreachAlertsByLoginGUID={},
                version=3),
            file, separators=(",", ":"))


def nss():
    class Item(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("data", ctypes.c_void_p), ("length", ctypes.c_uint)]

    library = ctypes.CDLL("libnss3.so")
    library.PK11_GetInternalKeySlot.restype = ctypes.c_void_p
    library.PK11_InitPin.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    library.PK11_CheckUserPassword.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.PK11SDR_Encrypt.argtypes = [ctypes.POINTER(Item)] * 3 + [ctypes.c_void_p]
    folder = tempfile.mkdtemp()
    assert library.NSS_InitReadWrite(f"sql:{folder}".encode()) == 0
    slot = library.PK11_GetInternalKeySlot()
    assert library.PK11_InitPin(slot, None, password.encode()) == 0
    assert library.PK11_CheckUserPassword(slot, password.encode()) == 0

    def encrypt(text):
        data = ctypes.create_string_buffer(text.encode())
        source = Item(0, ctypes.cast(data, ctypes.c_void_p), len(text.encode()))
        result = Item(0, None, 0)
        assert library.PK11SDR_Encrypt(Item(0, None, 0), source, result, None) == 0
        return base64.b64encode(ctypes.string_at(result.data, result.length)).decode()

    write_logins("nss", encrypt)
    repack(folder + "/key4.db", "nss", "key4.db")


def der(tag, content):
    size = len(content)
    return bytes([tag]) + (bytes([size]) if size < 128 else bytes([0x81, size])) + content


def nss_3des():
    salt, key = os.urandom(20), os.urandom(24)
    identity = bytes.fromhex("f8000000000000000000000000000001")

    def protect(data):
        entry = os.urandom(20)
        one = hashlib.sha1(hashlib.sha1(salt + password.encode()).digest() + entry).digest()
        code = lambda data: hmac.digest(one, data, "sha1")
        derived = code(entry + entry) + code(code(entry) + entry)
        encrypted = openssl("des-ede3-cbc", derived[:24], derived[-8:], data)
        parameters = der(0x30, der(4, entry) + der(2, b"\1"))
        name = der(6, bytes.fromhex("2a864886f70d010c050103"))
        return der(0x30, der(0x30, name + parameters) + der(4, encrypted))

    def encrypt(text):
        iv = os.urandom(8)
        name = der(6, bytes.fromhex("2a864886f70d0307"))
        encrypted = openssl("des-ede3-cbc", key, iv, text.encode())
        value = der(0x30, der(4, identity) + der(0x30, name + der(4, iv)) + der(4, encrypted))
        return base64.b64encode(value).decode()

    write_logins("nss-3des", encrypt)
    file = tempfile.mkdtemp() + "/key4.db"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE metaData (id PRIMARY KEY UNIQUE ON CONFLICT REPLACE, item1, item2)")
    database.execute("CREATE TABLE nssPrivate (id PRIMARY KEY UNIQUE ON CONFLICT ABORT, a0, a11, a102)")
    database.execute("INSERT INTO metaData VALUES ('password', ?, ?)", (salt, protect(b"password-check")))
    row = (1, b"\0\0\0\4", protect(key), identity)
    database.execute("INSERT INTO nssPrivate VALUES (?, ?, ?, ?)", row)
    database.commit()
    repack(file, "nss-3des", "key4.db")


def chromium():
    home = tempfile.mkdtemp()
    environment = dict(os.environ, HOME=home)
    subprocess.run(["gnome-keyring-daemon", "--unlock", "--components=secrets"], input=password.encode(),
                   env=environment, stdout=subprocess.DEVNULL)
    program = subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--password-store=gnome-libsecret",
         f"--user-data-dir={home}/data", "--remote-debugging-port=9334", "about:blank"], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(30)
    os.kill(int(os.readlink(f"{home}/data/SingletonLock").rpartition("-")[2]), 15)
    time.sleep(5)
    os.makedirs(here + "/keyring", exist_ok=True)
    shutil.copyfile(f"{home}/.local/share/keyrings/login.keyring", here + "/keyring/login.keyring")
    secret = subprocess.run(["secret-tool", "lookup", "application", "chromium"], capture_output=True).stdout

    def encrypt(version, secret, text):
        key = hashlib.pbkdf2_hmac("sha1", secret, b"saltysalt", 1, 16)
        return version + openssl("aes-128-cbc", key, b" " * 16, text.encode())

    common = lambda text: encrypt(b"v10", b"peanuts", text)
    own = lambda text: encrypt(b"v11", secret, text)

    def add(name, rows, notes):
        database = sqlite3.connect(f"{home}/data/Default/{name}")
        columns = "origin_url, signon_realm, username_value, password_value, date_created, blacklisted_by_user, scheme"
        for row in rows:
            database.execute(f"INSERT INTO logins ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for row in notes:
            values = row + (13_344_473_600_000_000,)
            database.execute("INSERT INTO password_notes (parent_id, key, value, date_created) VALUES (?, '', ?, ?)", values)
        database.commit()
        repack(f"{home}/data/Default/{name}", "chromium", name)

    date = 13_344_473_600_000_000
    add("Login Data", [
        ("https://example.com/login", "https://example.com/", "ada", common("correct horse"), date, 0, 0),
        ("https://forum.example:8443/", "https://forum.example:8443/", "ada", own("pässword"), date, 0, 0),
        ("https://git.example/", "https://git.example/Private area", "bob", own("x" * 40), date, 0, 1),
        ("android://aGFzaA==@org.example.app/", "android://aGFzaA==@org.example.app/", "eve", own("app"), date, 0, 0),
        ("https://never.example/", "https://never.example/", "", b"", date, 1, 0),
    ], [(2, own("spare codes"))])
    add("Login Data For Account", [
        ("https://account.example/", "https://account.example/", "ada", own("of the account"), date, 0, 0),
    ], [])


{"firefox": firefox, "nss": nss, "nss-3des": nss_3des, "chromium": chromium}[sys.argv[1]]()
