"""The bounds of a message, named once, and the account of one message against them.

Hides nothing but keeps the numbers together: a hostile mail may be as odd as it likes, it is
read in linear time and cannot cost more than these say.  What is beyond a bound is not scored;
it still passes through, byte for byte.  Bounds of one thing inside of a part, as the tags of a page,
stand where that is read.
"""

from __future__ import annotations

MAX_SCORED_BYTES = 1 << 20  # of the body
MAX_HEADER_BYTES = 256 << 10  # of each header block
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
MAX_BOUNDARY_GUESSES = 8  # regions split again with a boundary found in them
MAX_PARAMETER_BYTES = 8_192  # of one Content-Type or Content-Disposition
MAX_PARAMETERS = 200
MAX_UU_BLOCKS = 100  # uuencoded files inside one text
MAX_UU_LINES = 50_000  # uuencoded lines of a message: 2 MB, if they are full
MAX_DOCUMENT_BYTES = 4_000_000  # that documents of a message may inflate to
MAX_DOCUMENT_ITEMS = 60_000  # elements, operators, codes of fonts in documents of a message
MAX_BASE64_RUNS = 1_000  # padded base64 texts one after the other


class Allowance:
    """What one message may still cost, and what was found wrong with it."""

    __slots__ = (
        "boundary_guesses",
        "defects",
        "delimiter_lines",
        "document_bytes",
        "document_items",
        "encoded_words",
        "guesses",
        "parts",
        "uu_lines",
    )

    def __init__(self) -> None:
        self.parts = MAX_PARTS
        self.encoded_words = MAX_ENCODED_WORDS
        self.guesses = MAX_GUESSES
        self.boundary_guesses = MAX_BOUNDARY_GUESSES
        self.delimiter_lines = MAX_DELIMITER_LINES
        self.document_bytes = MAX_DOCUMENT_BYTES
        self.document_items = MAX_DOCUMENT_ITEMS
        self.uu_lines = MAX_UU_LINES
        self.defects: list[str] = []

    def note(self, slug: str) -> None:
        """Keep a defect; each slug once, in the order found."""
        if slug not in self.defects:
            self.defects.append(slug)
