"""The program under bad conditions: mail, models and checks for these tests."""

import contextlib
from pathlib import Path

from tests import tiny_mail
from tests.tiny_mail import Done, mail

HAM = [mail(f"minutes of the meeting number{n} about the garden fence") for n in range(12)]
SPAM = [mail(f"cheap pills offer{n} buy now without prescription") for n in range(12)]


def program(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> Done:
    """The program in this process; never a traceback, never a fault of ours."""
    with contextlib.chdir(cwd or Path.cwd()):
        return without_fault(tiny_mail.program(*arguments, stdin=stdin))


def process(*arguments: object, stdin: bytes = b"") -> Done:
    """The program in a process of its own; never a traceback, never a fault of ours."""
    return without_fault(tiny_mail.process(*arguments, stdin=stdin))


def without_fault(done: Done) -> Done:
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"[bug]" not in done.stderr, done.stderr
    return done


def refusal(status: int, slug: str, where: object, *arguments: object, **options: object) -> str:
    """The error of a command that is refused: it names what and where, what to do next, and its slug."""
    done = program(*arguments, **options)
    text = done.stderr.decode()
    assert done.returncode == status, text
    first, second = text.splitlines()[-2:]
    assert first.startswith(f"nbspam: {where}")
    assert second.startswith("  next: ")
    assert second.endswith(f"  [{slug}]")
    return text
