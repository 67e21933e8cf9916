"""Items like those of a real keychain; a number of them is always the same ones."""

import base64
import json
import random

WORDS = """
    alder amber anchor aspen autumn barley beacon birch bramble brook candle cedar cinder clover copper coral cotton
    crystal dahlia delta ember falcon fern flint garnet ginger granite harbor hazel heron indigo ivory jasper
    juniper kettle lantern laurel linen lotus maple marble meadow mint moss nectar oak onyx opal orchard otter
    pebble pepper pine plum poplar quartz quill raven reed ridge river rowan saffron sage silver spruce tulip velvet
    walnut willow
""".split()
DOMAINS = ["example.com", "example.org", "example.net", "shop.example", "mail.example", "intern.example"]
SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-_!."
GROUPS = [f"com.example.app{number}" for number in range(7)]
KINDS = ["Web form password", "application password", "Wi-Fi network password", "secure note"]


def account(index):
    """The account of the item with that number, which no other item has."""
    return f"{WORDS[index % len(WORDS)]}.{index}@{DOMAINS[index % len(DOMAINS)]}"


def item(index, source):
    """Three of ten are for a server; two of a hundred hold something long, such as a key or a token."""
    site = f"{source.choice(WORDS)}-{source.choice(WORDS)}-{index}.{source.choice(DOMAINS)}"
    attributes = {"acct": account(index), "labl": " ".join(source.choices(WORDS, k=source.randint(1, 4))).title(),
                  "agrp": source.choice(GROUPS), "pdmn": "aku" if index % 10 == 0 else "ak"}
    if source.random() < 0.4:
        attributes["icmt"] = " ".join(source.choices(WORDS, k=source.randint(3, 20)))
    if source.random() < 0.3:
        attributes["desc"] = source.choice(KINDS)
    server = source.random() < 0.3
    if server:
        attributes.update(srvr=site, ptcl=1752461427, atyp="form", port=source.choice([443, 8443]), path="/login")
    else:
        attributes["svce"] = site
    if source.random() < 0.02:
        key = base64.encodebytes(source.randbytes(source.randint(120, 1800))).decode()
        secret = "-----BEGIN PRIVATE KEY-----\n" + key
    else:
        secret = "".join(source.choices(SIGNS, k=source.randint(10, 32)))
    return {"class": "inet" if server else "genp", "attributes": attributes, "secret": secret}


def write(path, count, folder):
    """Writes `count` items as JSON lines, and each as a file of its own below `folder`, if there is one."""
    source = random.Random(count)
    with open(path, "w", encoding="utf-8") as lines:
        for index in range(count):
            line = json.dumps(item(index, source), separators=(",", ":")) + "\n"
            lines.write(line)
            if folder:
                place = folder / f"{index // 1000:04d}"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{index}.json").write_text(line)
