"""The bounds of a message, named once, and what one message may still use of them.

They keep the time of a hostile mail linear and small.  Whatever is over a bound is not scored; it still
passes through, byte for byte.  Bounds of one kind of part, as the tags of a page, are in its own file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_SCORED_BYTES = 1 << 20  # of the body
MAX_HEADER_BYTES = 256 << 10  # of each header block
MAX_READ_BYTES = MAX_HEADER_BYTES + MAX_SCORED_BYTES  # of a file: all of it that can matter
MAX_HEADER_LINES = 1_000  # fields of one header block
MAX_NESTING = 64  # multiparts and messages inside each other
MAX_TOKENS = 20_000
MAX_OWN_WORD = 170  # characters of a match of the user's own pattern
MAX_PATTERN_SECONDS = 5.0  # of CPU, of that pattern on one message
MAX_FIELD_NAME = 998  # characters; RFC 5322 has no longer lines
MAX_FROM_LINES = 10  # mbox "From " lines one after the other
MAX_PARAMETER_BYTES = 8_192  # of one Content-Type or Content-Disposition
MAX_PARAMETERS = 200
MAX_UU_BLOCKS = 100  # uuencoded files inside one text
MAX_FAILURES = 5  # faults of this program that are kept of one message
MAX_BASE64_RUNS = 1_000  # padded base64 texts one after the other


class Allowance:
    """What one message may still cost, first the bounds of any message, and what was found wrong with it."""

    header_bytes = 2 << 20  # of all blocks: those without an end are read again with what follows
    parts = 1_000  # multiparts included
    encoded_words = 5_000  # of RFC 2047
    guesses = 100  # charset guesses
    boundary_guesses = 8  # multiparts split again with a boundary found in them
    delimiter_lines = 100_000  # lines that begin with "--" that are looked at
    document_bytes = 4_000_000  # that documents may inflate to
    document_items = 60_000  # elements, operators, codes of fonts in documents
    uu_lines = 50_000  # 2 MB, if they are full

    def __init__(self) -> None:
        self.defects: list[str] = []
        self.failures: list[str] = []

    def note(self, slug: str) -> None:
        """Keep a defect; each slug once, in the order found."""
        if slug not in self.defects:
            self.defects.append(slug)


class Stage:
    """A stage of reading a message: `with Stage(message, "text"): ...`

    A fault of this program in it ends the stage, and the rest of the message still counts.  The message gets
    a defect, and for the first few faults a text: the stage and the error, then the traceback.
    """

    __slots__ = ("_account", "_name")

    def __init__(self, account: Any, name: str) -> None:
        """account : an Allowance or a Message, which have defects and failures"""
        self._account, self._name = account, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception):
            return False
        defect = "failed-" + self._name
        if defect not in self._account.defects:
            self._account.defects += [defect]
        if len(self._account.failures) < MAX_FAILURES:
            from traceback import format_exception  # 3 ms, for a message that fails

            text = f"{self._name}: {error!r}\n" + "".join(format_exception(error))
            self._account.failures += [text]
        return True
