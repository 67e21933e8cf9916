"""Archives and keychain files that kcbackup makes, and those of released versions; the second reader reads them all."""

import base64
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from . import archive, keychain, limits, samples
from .primitives import decode_bech32, encode_bech32
from .sides import (
    PASSCODE,
    PASSPHRASE,
    Case,
    Difference,
    Machine,
    can_restore,
    compare_inspect,
    compare_keychain,
    compare_verify,
    opened,
    same,
)

TESTS = Path(__file__).resolve().parents[2]
ARCHIVES = TESTS / "KCBackupEngineTests" / "Archives"
KEYCHAINS = TESTS / "KCKeychainStoreTests" / "Keychains"
MANY = 15_000


def _keychain(trial, source, number, count, passcode):
    """A keychain into which kcbackup imported items, and these items."""
    machine = trial.machine
    path = f"./made{number}.keychain"
    machine.run("keychain", "create", path, *(["--passcode", "file:passcode"] if passcode else ["--no-passcode"]))
    codes = tuple(keychain.ACCESSIBILITIES if passcode else samples.items.TRAVELS)
    given = samples.some(source, count, constraints=passcode, both_bindings=False, accessibilities=codes)
    if given:
        machine.write("items.jsonl", "".join(samples.import_line(one) + "\n" for one in given).encode())
        machine.run(
            "import",
            "items.jsonl",
            "--keychain",
            path,
            "--no-undo",
            *(["--passcode", "file:passcode"] if passcode else []),
        )
    return path, given


def _compare(trial, path, given, keys, arguments, inspect_arguments=None):
    """Compares the verdicts, then what was imported with what the second reader finds in the archive."""
    machine = trial.machine
    case = Case(machine.home / path, keys, arguments)
    shown = arguments if inspect_arguments is None else inspect_arguments
    compare_inspect(case, machine.objects("inspect", *shown, case.path)[0][0])
    found = compare_verify(case, machine.objects("verify", *arguments, case.path)[0][0])
    if found is None:
        raise Difference("both refuse an archive that kcbackup has just made")
    archived = [one for one in given if one.attributes["pdmn"] != "akpu"]
    same([one.item().line for one in archived], [record.item.line for record in found.records], "lines")
    if can_restore(case, found):
        same([one.secret for one in archived], [record.secret for record in found.records], "secrets")
        same(opened(found), opened(machine.backed_up_again(case.path, *arguments)), "items after a restore")
    case.path.unlink()


def _recipients(trial, numbers):
    return [word for number in numbers for word in ("-r", encode_bech32(trial.machine.recipients[number], "age"))]


def _encrypted(trial, source, number, count, passcode=False, recipients=(0,), inspectors=(), with_passphrase=False):
    machine = trial.machine
    path, given = _keychain(trial, source, number, count, passcode)
    compare_keychain(machine, machine.home / path)
    words = _recipients(trial, recipients)
    for one in inspectors:
        words += ["--inspect-recipient", encode_bech32(machine.recipients[one], "age")]
    if with_passphrase:
        words += ["--passphrase", "file:passphrase"]
    if passcode:
        words += ["--passcode", "file:passcode"]
    out = f"made{number}.kcb"
    machine.run("create", "--keychain", path, *words, out)
    if inspectors:
        shown = Case(machine.home / out, archive.Keys((machine.identities[inspectors[0]],), device=machine.device), [])
        compare_verify(shown, machine.objects("verify", "-i", f"key{inspectors[0]}", shown.path)[0][0])
    if with_passphrase:
        keys, arguments = archive.Keys(passphrase=PASSPHRASE, device=machine.device), [
            "--passphrase",
            "file:passphrase",
        ]
    else:
        last = recipients[-1]
        keys, arguments = archive.Keys((machine.identities[last],), device=machine.device), ["-i", f"key{last}"]
    _compare(trial, out, given, keys, arguments)


def one_recipient(trial, source, number):
    _encrypted(trial, source, number, 40)


def three_recipients(trial, source, number):
    _encrypted(trial, source, number, 30, recipients=(0, 1, 2), passcode=True)


def inspect_recipient(trial, source, number):
    _encrypted(trial, source, number, 20, inspectors=(1,))


def passphrase(trial, source, number):
    _encrypted(trial, source, number, 20, recipients=(), with_passphrase=True)


def passphrase_and_recipient(trial, source, number):
    _encrypted(trial, source, number, 20, recipients=(1,), with_passphrase=True)


def no_items(trial, source, number):
    _encrypted(trial, source, number, 0)


def many_items(trial, source, number):
    _encrypted(trial, source, number, MANY)


def unencrypted(trial, source, number):
    machine = trial.machine
    path, given = _keychain(trial, source, number, 40, passcode=False)
    machine.run("create", "--keychain", path, "--unencrypted", "made.kcb")
    _compare(trial, "made.kcb", given, archive.Keys(device=machine.device), [])


def unencrypted_with_passcode(trial, source, number):
    machine = trial.machine
    path, given = _keychain(trial, source, number, 40, passcode=True)
    compare_keychain(machine, machine.home / path)
    machine.run("create", "--keychain", path, "--unencrypted", "made.kcb", "--passcode", "file:passcode")
    # Once with the passcode that the keychain had, and once without.
    copy = machine.write("copy.kcb", (machine.home / "made.kcb").read_bytes())
    case = Case(copy, archive.Keys(device=machine.device), [])
    compare_verify(case, machine.objects("verify", copy)[0][0])
    _compare(
        trial,
        "made.kcb",
        given,
        archive.Keys(device=machine.device, passcode=PASSCODE),
        ["--archive-passcode", "file:passcode"],
        inspect_arguments=[],
    )


def released_archives(trial, source, number):
    """Archives of version 1, on the device that made them and on another one."""
    secret = bytes.fromhex((ARCHIVES / "v1-device.hex").read_text().strip())
    lines = [line for line in (ARCHIVES / "v1-identity.txt").read_text().splitlines() if line.startswith("AGE")]
    identity = X25519PrivateKey.from_private_bytes(decode_bech32(lines[0], "age-secret-key-"))
    expected = [line.split("\t") for line in (ARCHIVES / "v1-contents.tsv").read_text().split("\n")[:-1]]
    with tempfile.TemporaryDirectory(prefix="second-reader-") as folder:
        for machine in (Machine(trial.machine.kcbackup, folder, secret), trial.machine):
            machine.write("golden-passphrase", b"correct horse battery staple\n")
            machine.write("golden-passcode", b"1234\n")
            machine.write("golden-key", (ARCHIVES / "v1-identity.txt").read_bytes())
            for name, keys, arguments in (
                ("recipient", archive.Keys((identity,), device=machine.device), ["-i", "golden-key"]),
                (
                    "passphrase",
                    archive.Keys(passphrase=b"correct horse battery staple", device=machine.device),
                    ["--passphrase", "file:golden-passphrase"],
                ),
                ("unencrypted", archive.Keys(device=machine.device), []),
                (
                    "unencrypted",
                    archive.Keys(device=machine.device, passcode=b"1234"),
                    ["--archive-passcode", "file:golden-passcode"],
                ),
            ):
                if keys.passcode and machine is trial.machine:
                    continue
                path = machine.write("golden.kcb", (ARCHIVES / f"v1-{name}.kcb").read_bytes())
                case = Case(path, keys, arguments)
                compare_inspect(case, machine.objects("inspect", *([] if keys.passcode else arguments), path)[0][0])
                found = compare_verify(case, machine.objects("verify", *arguments, path)[0][0])
                same([line for line, _ in expected], [record.item.line.decode() for record in found.records], "lines")
                for record, (_, text) in zip(found.records, expected):
                    if record.state == "opened":
                        same(None if text == "-" else base64.b64decode(text), record.secret, "secrets")


def released_keychains(trial, source, number):
    """Keychain files of version 1, whose items have their code as their secret."""
    with tempfile.TemporaryDirectory(prefix="second-reader-") as folder:
        machine = Machine(trial.machine.kcbackup, folder, bytes(range(32)))
        for name, passcode in (("none", None), ("passcode", b"walnut"), ("escrow", b"lantern")):
            path = machine.write(f"{name}.keychain", (KEYCHAINS / f"v1-{name}.keychain").read_bytes())
            compare_keychain(machine, path)
            for row in keychain.read(path, machine.device, passcode).rows:
                code = row.item.attributes.get("accc", row.item.attributes["pdmn"])
                same(("opened", code.encode()), (row.state, row.secret), "a secret")


def at_limits(trial, source, number):
    limits.compare(trial)


#: The first four are a sample of all.
MAKERS = [
    released_archives,
    released_keychains,
    inspect_recipient,
    unencrypted_with_passcode,
    one_recipient,
    three_recipients,
    passphrase,
    passphrase_and_recipient,
    no_items,
    unencrypted,
    many_items,
    at_limits,
]
