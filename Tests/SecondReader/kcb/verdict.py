"""The verdicts of a reader: each is an exit code of kcbackup."""


class Refused(Exception):
    """Why a file is not read. `code` is the exit code that kcbackup gives it."""

    code = 0


class NotThisDevice(Refused):
    code = 4


class WrongKey(Refused):
    code = 12


class Damaged(Refused):
    code = 13


class Unsupported(Refused):
    """Over a limit, or of a newer version."""

    code = 18


def require(condition, text):
    if not condition:
        raise Damaged(text)


def within(value, limit, text):
    if value > limit:
        raise Unsupported(f"{text}: {value} is more than {limit}")
