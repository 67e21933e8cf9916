"""Archives at a limit, and one beyond it."""

from . import archive
from .items import ATTRIBUTES_LIMIT, EXTRA_LIMIT, SECRET_LIMIT, VALUE_LIMIT
from .sides import CREATED, PASSPHRASE, Case, Difference, compare_inspect, compare_verify, mine, same
from .writer import Given, Parts

PLAIN = {"agrp": "g", "cdat": 0, "mdat": 0, "pdmn": "ak", "sync": 0}
# What PLAIN counts for: the texts, and 8 for each number and date.
PLAIN_LENGTH = 3 + 3 * 8


def _item(attributes=(), extra=(), secret=b"x"):
    return [Given("genp", bytes(16), PLAIN | dict(attributes), dict(extra), secret)]


def _filled(length):
    """Free attributes of that length, names and values together."""
    names = [f"{number:02}" for number in range(-(-length // VALUE_LIMIT))]
    lengths = [VALUE_LIMIT] * (len(names) - 1) + [length - VALUE_LIMIT * (len(names) - 1)]
    return {name: "x" * (part - 2) for name, part in zip(names, lengths)}


def _items(beyond):
    """Items with one part at its limit, or one more."""
    rest = ATTRIBUTES_LIMIT - PLAIN_LENGTH + beyond
    return [
        _item(attributes={"acct": "x" * (VALUE_LIMIT + beyond)}),
        _item(extra={"name": "x" * (VALUE_LIMIT - 4 + beyond)}),
        _item(extra={str(number): "" for number in range(EXTRA_LIMIT + beyond)}),
        _item(extra=_filled(rest)),
        _item(secret=bytes(SECRET_LIMIT + beyond)),
    ]


def _header(parts, length):
    parts.lines(_item())
    parts.header = parts.header.replace(b"second writer", b"w" * (length - len(parts.header) + len("second writer")))
    return parts.bytes()


def _source(parts, length):
    parts.source = {"kind": "items", "name": "n" * length}
    return parts.lines(_item()).bytes()


def _archives(device, recipient, beyond):
    def parts(count=1):
        return Parts(device, [recipient] * count, created=CREATED)

    for given in _items(beyond):
        yield parts().lines(given).bytes()
    yield parts(archive.age.STANZA_LIMIT + beyond).lines(_item()).bytes()
    yield _header(parts(), archive.HEADER_LIMIT + beyond)
    yield _source(parts(), 1024 + beyond)


def compare(trial):
    """Compares both programs at and beyond each limit; at it, everything must be read."""
    machine = trial.machine
    keys = archive.Keys((machine.identities[0],), device=machine.device)
    for beyond in (0, 1):
        for number, data in enumerate(_archives(machine.device, machine.recipients[0], beyond)):
            case = Case(machine.write("limit.kcb", data), keys, ["-i", "key0"])
            try:
                compare_inspect(case, machine.objects("inspect", "-i", "key0", case.path)[0][0])
                compare_verify(case, machine.objects("verify", "-i", "key0", case.path)[0][0])
                same(beyond == 0, mine(data, keys, False)[1] == 0, "whether it is read")
            except Difference as difference:
                raise Difference(f"limit {number} and {beyond}: {difference}") from difference
    parts = Parts(machine.device, passphrase=PASSPHRASE, created=CREATED).lines(_item()).finish().compress().headers()
    parts.identity_text += bytes(archive.IDENTITY_LIMIT)
    case = Case(machine.write("limit.kcb", parts.encrypt().sign().pack()), archive.Keys(passphrase=PASSPHRASE), [])
    compare_inspect(case, machine.objects("inspect", "--passphrase", "file:passphrase", case.path)[0][0])
