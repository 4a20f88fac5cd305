"""What a walk through mail passed by: files that could not be read, mail left out on purpose.

Nothing is lost in silence: what is not read is named (skipped) or counted (left out), for the
command line to say so.
"""

from __future__ import annotations

from nbspam.errors import NoInputError

Skipped = list[tuple[str, str]]  # path or name, and reason, of what could not be read


class Notes:
    """skipped: (path, reason) in the order met; left_out: how many, by reason."""

    __slots__ = ("left_out", "skipped")

    def __init__(self) -> None:
        self.skipped: Skipped = []
        self.left_out: dict[str, int] = {}

    def skip(self, path: str, reason: str | OSError) -> None:
        """Note that `path` was meant to be read and could not be."""
        if isinstance(reason, OSError):
            reason = reason.strerror or str(reason)
        self.skipped.append((path, reason))

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Note that `count` messages were left out on purpose."""
        self.left_out[reason] = self.left_out.get(reason, 0) + count

    def clear(self) -> None:
        self.skipped.clear()
        self.left_out.clear()


def unread_error(skipped: Skipped) -> NoInputError:
    """What is wrong with mail some of which could not be read; all other is done with.

    skipped : at least one
    """
    what = "1 file or folder" if len(skipped) == 1 else f"{len(skipped):,} files or folders"
    remedy = "check that all is there and whole, and the permissions"
    return NoInputError("SOURCE", f"{what} could not be read; all other mail is done", remedy, "no-input")
