"""The bounds of a message, named once, what one message may still use of them, and of what is remembered.

They keep the time of a hostile mail linear and small.  Whatever is over a bound is not scored; it still
passes through, byte for byte.  Bounds of one kind of part, as the tags of a page, are in its own file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, TypeVar

    Key = TypeVar("Key", bound=str | tuple[str, str])
    Value = TypeVar("Value")

    from nbspam.mail.message import Message

MAX_SCORED_BYTES = 1 << 20  # of the body
MAX_HEADER_BYTES = 256 << 10  # of each header block
MAX_HEADERS_BYTES = 2 << 20  # of all blocks: those without an end are read again with what follows
MAX_READ_BYTES = MAX_HEADER_BYTES + MAX_SCORED_BYTES  # of a file: all of it that can matter
MAX_HEADER_LINES = 1_000  # fields of one header block
MAX_NESTING = 64  # multiparts and messages inside each other
MAX_PARTS = 1_000  # parts of a message, multiparts included
MAX_TOKENS = 20_000
MAX_ENCODED_WORDS = 5_000  # RFC 2047 words of a whole message
MAX_GUESSES = 100  # charset guesses, a message
MAX_DELIMITER_LINES = 100_000  # lines that begin with "--" looked at in a message
MAX_FIELD_NAME = 998  # characters; RFC 5322 has no longer lines
MAX_FROM_LINES = 10  # mbox "From " lines one after the other
MAX_BOUNDARY_GUESSES = 8  # multiparts split again with a boundary found in them
MAX_PARAMETER_BYTES = 8_192  # of one Content-Type or Content-Disposition
MAX_PARAMETERS = 200
MAX_UU_BLOCKS = 100  # uuencoded files inside one text
MAX_UU_LINES = 50_000  # uuencoded lines of a message: 2 MB, if they are full
MAX_FAILURES = 5  # faults of this program that are told of one message
MAX_DOCUMENT_BYTES = 4_000_000  # that documents of a message may inflate to
MAX_DOCUMENT_ITEMS = 60_000  # elements, operators, codes of fonts in documents of a message
MAX_BASE64_RUNS = 1_000  # padded base64 texts one after the other
PAIR = 2  # the length of a pair


class Allowance:
    """What one message may still cost, and what was found wrong with it."""

    header_bytes = MAX_HEADERS_BYTES
    parts = MAX_PARTS
    encoded_words = MAX_ENCODED_WORDS
    guesses = MAX_GUESSES
    boundary_guesses = MAX_BOUNDARY_GUESSES
    delimiter_lines = MAX_DELIMITER_LINES
    document_bytes = MAX_DOCUMENT_BYTES
    document_items = MAX_DOCUMENT_ITEMS
    uu_lines = MAX_UU_LINES

    def __init__(self) -> None:
        self.defects: list[str] = []
        self.failures: list[str] = []

    def note(self, slug: str) -> None:
        """Keep a defect; each slug once, in the order found."""
        if slug not in self.defects:
            self.defects.append(slug)


class Memory(dict["Key", "Value"]):
    """Text, or a pair of texts -> what `work` makes of it, worked out once.

    Bulk training meets the same words, hosts and fields over and over.  No mail, however hostile, may fill
    the memory: long texts are not kept, and a full memory starts anew.

    most    : how many are remembered, times `scale`
    longest : len() of the longest text that is; a pair has 2, so the caller must not ask for long pairs
    """

    __slots__ = ("_longest", "_most", "_work")
    scale: ClassVar[int] = 1  # of all memories; larger in a process that reads very many messages

    def __init__(self, work: Callable[[Key], Value], most: int, longest: int = PAIR) -> None:
        super().__init__()
        self._work = work
        self._most = most
        self._longest = longest

    def __missing__(self, text: Key) -> Value:
        value = self._work(text)
        if len(text) <= self._longest:
            if len(self) >= self._most * Memory.scale:
                self.clear()
            self[text] = value
        return value


def add_failure(account: Allowance | Message, stage: str, error: Exception) -> None:
    """Keep that a stage of reading met a fault of this program; the rest of the message still counts.

    There is a defect, and for the first few faults a text: the stage and the error, then the traceback.
    """
    defect = "failed-" + stage
    if defect not in account.defects:
        account.defects.append(defect)
    if len(account.failures) < MAX_FAILURES:
        from traceback import format_exception  # 3 ms, for a message that fails

        account.failures.append(f"{stage}: {error!r}\n" + "".join(format_exception(error)))
