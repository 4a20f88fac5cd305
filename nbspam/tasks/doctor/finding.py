"""What a check-up finds.

Hides nothing; it is data.  A finding that is wrong names the error that the next command would meet, for
scripts act on the status of that.
"""

from __future__ import annotations

from typing import NamedTuple

from nbspam.errors import NbspamError

FINE = "ok"
NOTE = "note"  # worth knowing, no fault
WRONG = "wrong"


class Finding(NamedTuple):
    """One thing that was looked at.

    about  : what it was, a word or two
    text   : what was found, one line
    state  : FINE, NOTE or WRONG
    remedy : what the user can do next, one line; may be empty
    fault  : of what is WRONG the kind of error that it is
    """

    about: str
    text: str
    state: str = FINE
    remedy: str = ""
    fault: type[NbspamError] | None = None


def note(about: str, text: str, remedy: str = "") -> Finding:
    """Something that is worth knowing."""
    return Finding(about, text, NOTE, remedy)


def wrong(about: str, error: NbspamError) -> Finding:
    """The finding that tells of an error."""
    return Finding(about, error.why, WRONG, error.remedy, type(error))
