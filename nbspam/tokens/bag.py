"""The tokens of one message, by view.

A view is a kind of evidence that is weighed by itself, because header, body and structure fail in
different ways (docs/decisions.md, "Views").  The words of a view are averaged; measures are few, and each
has a weight of its own.  A signature tells the same text from all others.
The text of a token shows its view: `subject:` or the like begins those of the header, a mark like `url=`
those of the structure, a `+` joins two words of the body, and a measure has its name, `<` or `>=`, and an
edge of its bin.  So one token is never in two views.

A model counts a token under its key: the first eight bytes of its MD5, the fastest good hash that every
Python has; spammers gain nothing from a collision.  Integers keep the model file small and look-ups fast.
Of a million tokens two share a key with probability 3e-8.
"""

from __future__ import annotations

from binascii import crc32
from itertools import pairwise
from sys import byteorder

try:
    from _md5 import md5  # type: ignore[import-not-found]  # loading OpenSSL's costs 3 ms
except ImportError:  # another build of Python
    from hashlib import md5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

# What can be read in addition to the words of a message.
BIGRAMS, RAW, MEASURES, SIGNATURE = "bigrams", "raw", "measures", "signature"
NUMERIC, DATE = "numeric", "date"
# Private characters at which text of scripts without spaces is cut into words, see unicode_words.
EDGE = "\ue000"  # on both sides of each character
INNER = "\ue001"  # between two of them
# Bigrams are pairs of so many words at the beginning and the end of a text: docs/decisions.md, "Bigrams".
FIRST_PAIRED = 50
LAST_PAIRED = 50
# A signature is hashes of runs of words: two texts share about as many of the smallest as they share runs.
# Source: Broder 1997, "On the resemblance and containment of documents".
RUN_WORDS = 5
SIGNATURE_HASHES = 4
SIGNATURE_MARK = "signature="
_CONTENT = ("file=", "url=", "attached=", "magic=")  # what tells messages apart that have hardly any text
TEXTBOOK_VIEWS = ("header", "body", "structure")  # what the event models of words know
VIEWS = (*TEXTBOOK_VIEWS, BIGRAMS, RAW)  # whose tokens are averaged
HEADER_VIEW = 0
BODY_VIEW = 1
BIGRAMS_VIEW = 3
RAW_VIEW = 4
NOTAWORD_VIEW = 5
MEASURES_VIEW = 6
SIGNATURE_VIEW = 7
NO_TEXTBOOK_VIEWS = (BIGRAMS_VIEW, RAW_VIEW, MEASURES_VIEW, SIGNATURE_VIEW)
VIEW_NAMES = (*VIEWS, "NOTAWORD", MEASURES, SIGNATURE)  # by the number that a model file keeps
N_VIEWS = len(VIEW_NAMES)
READ_VIEWS = (*VIEWS, MEASURES, SIGNATURE)  # whose tokens a message has
READ_NUMBERS = (*range(len(VIEWS)), MEASURES_VIEW, SIGNATURE_VIEW)

# The bins of the measures are the same for all mail and all models, so that counts can be added, taken away
# and merged: docs/decisions.md, "Measures".
_SHARE = (0.001, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
_NUMBER = (1, 2, 3, 5, 8, 16, 32)
# Name -> inner edges of its bins, ascending; a value on an edge belongs to the bin above it.
# docs/numeric-features.md says what each one measures.
BIN_EDGES: dict[str, tuple[float, ...]] = {
    "size": tuple(2**n for n in range(6, 20)),
    "defects": _NUMBER,
    "digit_share": _SHARE,
    "punctuation_share": _SHARE,
    "exclamation_marks": _NUMBER,
    "currency_marks": _NUMBER,
    "quoted_share": _SHARE,
    "distinct_hosts": _NUMBER,
    "html_comments": _NUMBER,
    "subject_length": (1, 10, 20, 30, 40, 50, 60, 80),
    "foreign_message_id": (0.5,),
    "unnamed_origin": (0.5,),
    "telephone_numbers": _NUMBER,
}
MEASURE_NAMES = tuple(BIN_EDGES)
N_BINS = {name: len(edges) + 2 for name, edges in BIN_EDGES.items()}  # the last: no value


def number_views(views: str) -> tuple[int, ...]:
    """The numbers of the views that are read.  views : `all`, or some of READ_VIEWS with commas between"""
    return READ_NUMBERS if views == "all" else tuple(map(VIEW_NAMES.index, views.split(",")))


def join_neighbours(words: Sequence[str], mark: str = "") -> list[str]:
    """Each two neighbours as one token, after a mark."""
    return [f"{mark}{first}+{second}" for first, second in pairwise(words)]


def make_bigrams(body: Sequence[str]) -> list[str]:
    """Pairs of neighbours among the first and among the last words of a text; of a short one, all.

    body : all its words, in order
    """
    if len(body) <= FIRST_PAIRED + LAST_PAIRED:
        return join_neighbours(body)
    return [*join_neighbours(body[:FIRST_PAIRED]), *join_neighbours(body[-LAST_PAIRED:])]


def sign_text(body: Sequence[str], structure: Sequence[str]) -> list[str]:
    """The SIGNATURE_HASHES smallest CRC-32 of all runs of RUN_WORDS words, ascending; fewer of a short text.

    body : all its words, in order; if they are no run, then also what `structure` says of files and links
    A message that has no run even so gets none: `Sent from my phone` is the text of ham and spam.
    """
    words = body
    if len(body) < RUN_WORDS:
        words = [*body, *[token for token in structure if token.startswith(_CONTENT)]]
    if len(words) < RUN_WORDS:
        return []
    shifted = [words[start:] for start in range(RUN_WORDS)]
    runs = "\n".join(map(" ".join, zip(*shifted, strict=False))).encode("utf-8", "replace").split(b"\n")
    return [f"{SIGNATURE_MARK}{number:08x}" for number in sorted({*map(crc32, runs)})[:SIGNATURE_HASHES]]


class Tokens:
    """What is read of one message: token lists in order of appearance, repeats kept.

    header, body, structure : always read
    bigrams  : pairs of words of the body, see make_bigrams; if BIGRAMS is wanted
    raw      : runs of bytes, see tokenize_raw; if RAW is wanted
    measures : one token a measure, see nbspam.tokens.measures; if MEASURES is wanted
    signature : hashes of the text, see sign_text; if SIGNATURE is wanted
    sent     : of header and structure those that delivery leaves as the sender wrote them
    numeric  : values of nbspam.tokens.numeric.NAMES, None where missing; if NUMERIC is wanted
    date     : unix time of arrival, None if unknown; if DATE or NUMERIC is wanted
    failures : faults of this program met while reading: "STAGE: ERROR" and a traceback each
    """

    __slots__ = (*VIEWS, "date", "failures", "measures", "numeric", "sent", "signature")

    def __init__(
        self,
        header: Sequence[str] = (),
        body: Sequence[str] = (),
        structure: Sequence[str] = (),
        measures: Sequence[str] = (),
        bigrams: Sequence[str] = (),
        date: float | None = None,
    ) -> None:
        self.header = header
        self.body = body
        self.structure = structure
        self.measures = measures
        self.bigrams = bigrams
        self.raw: Sequence[str] = ()
        self.signature: Sequence[str] = ()
        self.sent: Sequence[str] = ()
        self.numeric: Sequence[float | None] = ()
        self.date = date
        self.failures: Sequence[str] = ()

    def views(self) -> tuple[Sequence[str], ...]:
        """The lists of tokens in the order of READ_VIEWS."""
        return tuple([getattr(self, view) for view in READ_VIEWS])


NOTAWORD = "NOTAWORD"
NOTAWORD_KEY = 0
_BITS = (1 << 64) - 1


def hash_token(text: str) -> int:
    """A signed 64-bit integer, the same on every machine; never NOTAWORD_KEY."""
    digest = md5(text.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "little", signed=True) or 1


def hash_tokens(texts: Collection[str]) -> list[int]:
    """The keys of many tokens: hash_token of each, for the tokens of one message."""
    if byteorder != "little":
        return [hash_token(text) for text in texts]
    encoded = "\n".join(texts).encode("utf-8", "replace").split(b"\n")
    keys = memoryview(digest_tokens(encoded if texts else ())).cast("q")[::2].tolist()
    return [key or 1 for key in keys] if NOTAWORD_KEY in keys else keys


def digest_tokens(texts: Iterable[bytes]) -> bytes:
    """Sixteen bytes a token, the first eight of which are its key, little-endian, where 0 stands for 1."""
    return b"".join([md5(text).digest() for text in texts])


def mix_bits(number: Any) -> Any:
    """A 64-bit number, each bit of which depends on all bits of the given one; an integer or uint64 array.

    Source: Steele, Lea and Flood 2014, the finalizer of SplitMix64.
    """
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _BITS
    return number ^ (number >> 31)


# A digest is 64 bits: the upper 44 are of the message, the lower 20 of its form.  Delivery, forwarding and
# stores add header fields, and so give the same message another form.  Of a million messages two are taken
# for one with a probability of 3 %, and two forms of one message with 1e-6.
FORM_BITS = 20
_FORM = (1 << FORM_BITS) - 1


def identify_message(tokens: Tokens) -> int:
    """The bits of a digest that all forms of a message share, signed; those of the form are 0.

    Made of tokens, not of bytes: other line ends or a quoted `From ` make no other message.
    """
    return hash_token("\n".join([*tokens.sent, *tokens.body])) & ~_FORM


def digest_message(identity: int, counts: dict[int, int], features: Sequence[float | None] = ()) -> int:
    """The same for messages of the same tokens, signed; 20 bits of a sum over (key, count) and the features.

    identity : of identify_message
    """
    total = sum(key * (2 * count + 1) for key, count in counts.items()) + digest_features(features)
    return identity | int(find_form(total & _BITS))


def find_form(total: Any) -> Any:
    """The form of a digest: the upper bits of a 64-bit sum; an integer or int64 array."""
    return (total >> (64 - FORM_BITS)) & _FORM


def digest_features(features: Sequence[float | None]) -> int:
    """What the numeric features of a message add to its digest; 0 where none were measured.

    Messages of the same tokens may differ in capitals, and a model must forget the values that it learned.
    """
    if not features:
        return 0
    values = ["" if value is None or value != value else repr(float(value)) for value in features]
    return hash_token(" ".join(values))


def list_bins(name: str) -> list[str]:
    """The tokens of a measure, the lowest bin first, that of a missing value last."""
    edges = [f"{edge:g}" for edge in BIN_EDGES[name]]
    return [f"{name}<{edges[0]}", *(f"{name}>={edge}" for edge in edges), f"{name}=none"]


def find_measure(token: str) -> str:
    """The name of the measure that a token is of."""
    return token.partition("<")[0].partition(">")[0].partition("=")[0]


def count_measured(documents: Sequence[float]) -> list[float]:
    """m_k from the sums of n_jk over the tokens of all measures: each message is in one bin of each."""
    return [total / len(MEASURE_NAMES) for total in documents]
