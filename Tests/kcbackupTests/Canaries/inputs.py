"""Writes the files whose secrets are canaries, of several programs, for `import` and for options with a secret.

    inputs.py FOLDER STEM COUNT

STEM is in each secret four times: the C library overwrites the first bytes of memory that is freed, and OpenSSL keeps up to
63 bytes of what it hashes.
"""

import base64
import json
import os
import sys
import urllib.parse
import zipfile

folder, stem, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = stem * 4
few = range(20)


def write(name, lines):
    with open(os.path.join(folder, name), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.writelines(line + "\n" for line in lines)


def written(value):
    return json.dumps(value, ensure_ascii=False)


def quoted(value):
    return '"' + value.replace('"', '""') + '"'


write("canaries.jsonl", (
    written({"class": "genp", "attributes": {"svce": f"c{number}"}, "secret": f"{text}{number}"})
    for number in range(count)))
write("items.jsonl", [written({"class": "genp", "attributes": {"svce": "c0"}, "secret": f"{text}0"})])
write("old", [text + "old"])
write("new", [text + "new"])
write("logins.csv", ["name,url,username,password"] + [
    f"a{number},https://a{number}.example,ada,{quoted(text + str(number))}" for number in few])
write("bitwarden.json", [written({"encrypted": False, "items": [
    {"type": 1, "name": f"b{number}", "notes": text,
     "login": {"username": "ada", "password": f"{text}{number}", "uris": [{"uri": "https://b.example"}]},
     "fields": [{"name": "PIN", "value": text, "type": 1}]} for number in few]})])
write("secrets.yaml", (
    f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{number}, namespace: d}}\n"
    # A long value grows while it is read.
    f"stringData:\n  password: {written(text * (1 if number else 50))}" for number in few))
# It ends in the middle of a value, after some that grew while they were read.
encoded = base64.b64encode((text * 50).encode()).decode()
write("broken.yaml", ["apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:"] + [
    f"  k{number}: {encoded[:30 << number % 8]}" for number in few] + ['  last: "' + encoded])
write("git-credentials", (f"https://g{number}:{urllib.parse.quote(text, safe='')}@g{number}.example" for number in few))
write("keepass.xml", [
    '<?xml version="1.0" encoding="utf-8"?><KeePassFile><Meta><Generator>KeePass</Generator></Meta><Root><Group>'
    "<UUID>AAAAAAAAAAAAAAAAAAAAAA==</UUID><Name>R</Name>", *(
        f"<Entry><UUID>AAAAAAAAAAAAAAAAAAA{number // 10}{number % 10}w==</UUID>"
        f"<String><Key>Title</Key><Value>k{number}</Value></String>"
        f"<String><Key>Password</Key><Value ProtectInMemory=\"True\">{text}{number}</Value></String></Entry>"
        for number in few), "</Group></Root></KeePassFile>"])
write("kwallet.xml", [
    '<?xml version="1.0"?>', '<wallet name="kdewallet"><folder name="Passwords">', *(
        f'<password name="w{number}">{text.replace(chr(34), "&quot;")}{number}</password>' for number in few),
    "</folder></wallet>"])
write("plain.keyring", [
    "[keyring]\ndisplay-name=Login\nctime=1600000000\nmtime=1600000000\nlock-on-idle=false\nlock-after=false\n", *(
        f"[{number}]\nitem-type=0\ndisplay-name=k{number}\nsecret={text}{number}\nmtime=1600000000\nctime=1600000000\n"
        for number in few)])
logins = [
    {"uuid": f"o{number}", "favIndex": 0, "createdAt": 1635522833, "updatedAt": 1635522872, "state": "active",
     "categoryUuid": "001",
     "overview": {"subtitle": "", "title": f"o{number}", "url": f"https://o{number}.example", "ps": 0},
     "details": {"notesPlain": text, "sections": [], "passwordHistory": [], "loginFields": [
         {"value": "ada", "id": "", "name": "u", "fieldType": "T", "designation": "username"},
         {"value": f"{text}{number}", "id": "", "name": "p", "fieldType": "P", "designation": "password"}]}}
    for number in range(200)]
vaults = [{"attrs": {"uuid": "v", "desc": "", "avatar": "", "name": "P", "type": "P"}, "items": logins}]
account = {"accountName": "A", "name": "A", "avatar": "", "email": "a@o.example", "uuid": "U", "domain": "https://o.example/"}
with zipfile.ZipFile(os.path.join(folder, "export.1pux"), "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("export.attributes", written({"version": 3, "description": "", "createdAt": 1635522872}))
    file.writestr("export.data", written({"accounts": [{"attrs": account, "vaults": vaults}]}))
