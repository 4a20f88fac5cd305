"""Mail for the program under bad conditions, and what a refusal looks like."""

from tests.tiny_mail import error, mail

HAM = [mail(f"minutes of the meeting number{n} about the garden fence") for n in range(12)]
SPAM = [mail(f"cheap pills offer{n} buy now without prescription") for n in range(12)]


def refusal(status: int, slug: str, where: object, *arguments: object, stdin: bytes = b"") -> str:
    """The error of a command that is refused: it names what and where, what to do next, and its slug."""
    text = error(*arguments, status=status, stdin=stdin)
    first, second = text.splitlines()[-2:]
    assert first.startswith(f"nbspam: {where}")
    assert second.startswith("  next: ")
    assert second.endswith(f"  [{slug}]")
    return text
