"""Message -> tokens of each view, and their counts.  The specification is docs/tokens.md.

Reading order: bag (the views), words, headers, structure, texts, measures.  Imported only if a
mail or a model needs them: unicode_words, characters, numeric, own_words.
What is remembered between messages (`Memory`) saves time and changes no result.
"""

from __future__ import annotations

from nbspam.errors import log_faults
from nbspam.mail import parse
from nbspam.mail.limits import MAX_READ_BYTES, MAX_TOKENS, Stage
from nbspam.settings import ALL_VIEWS, OWN_WORDS
from nbspam.tokens.bag import (
    BIGRAMS,
    DATE,
    MEASURES,
    NUMERIC,
    RAW,
    READ_NUMBERS,
    SIGNATURE,
    VIEW_NAMES,
    VIEWS,
    Tokens,
    digest_message,
    hash_tokens,
    identify_message,
    make_bigrams,
    sign_text,
)
from nbspam.tokens.headers import measure_size, tokenize_header, tokenize_order
from nbspam.tokens.structure import tokenize_form, tokenize_raw
from nbspam.tokens.texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from nbspam.mail.message import Message

__all__ = [
    "BIGRAMS",
    "DATE",
    "MEASURES",
    "NUMERIC",
    "RAW",
    "SIGNATURE",
    "VIEWS",
    "Counted",
    "Tokens",
    "count_tokens",
    "read",
    "tokenize",
]


def read(data: bytes, wanted: Collection[str] = (), name: str = "") -> Tokens:
    """The tokens of a mail: the one way from bytes to tokens.  Pure; only a pattern of the user may raise.

    wanted : what is read in addition to the words, some of BIGRAMS, RAW, MEASURES, SIGNATURE, NUMERIC, DATE;
             or OWN_WORDS and a pattern: the words that it matches are read in place of ours
    name   : of the message, for the error of that pattern
    """
    return tokenize(parse(data), wanted, name)


def tokenize(message: Message, wanted: Collection[str] = (), name: str = "") -> Tokens:
    """The tokens of a message, at most MAX_TOKENS a view; an empty message gives few, never none.

    A fault of this program in a stage is kept in `failures` and as a defect; the other stages count.
    """
    tokens, texts = Tokens(), Texts()
    tokens.failures = message.failures
    with Stage(message, "header-tokens"):
        header, sent = tokenize_header(message.headers)
        tokens.header, tokens.sent = header[:MAX_TOKENS], sent[:MAX_TOKENS]
    for part in message.parts:
        with Stage(message, "text"):
            texts.read_part(part)
    with Stage(message, "text"):
        texts.read_rest(message.parts)
    tokens.body = texts.body[:MAX_TOKENS]
    if BIGRAMS in wanted:
        tokens.bigrams = make_bigrams(tokens.body)
    if RAW in wanted:
        with Stage(message, "raw"):
            tokens.raw = tokenize_raw(message.data)
    if MEASURES in wanted:
        with Stage(message, "measures"):
            from nbspam.tokens.measures import tokenize_measures  # not needed for textbook models

            tokens.measures = tokenize_measures(message, texts)
    if DATE in wanted or NUMERIC in wanted:
        with Stage(message, "date"):
            from nbspam.mail.dates import find_date  # for mail in order of time

            tokens.date = find_date(message)
    with Stage(message, "structure"):
        # Those of the whole message come first, so that a flood of URLs does not push them out.
        of_message = tokenize_form(message, measure_size(message))
        tokens.structure = [*of_message, *tokenize_order(message.headers), *texts.structure][:MAX_TOKENS]
        tokens.sent = [*tokens.sent, *texts.structure[:MAX_TOKENS]]
    if not tokens.structure:  # that stage has failed
        tokens.structure = ["defect=" + defect for defect in message.defects]
    if SIGNATURE in wanted:
        tokens.signature = sign_text(tokens.body, tokens.structure)
    if NUMERIC in wanted:
        with Stage(message, "numeric"):
            from nbspam.tokens.numeric import measure_features  # few models have them

            tokens.numeric = measure_features(message, tokens, texts)
    for asked in wanted:
        if asked.startswith(OWN_WORDS):
            from nbspam.tokens.own_words import replace_words  # needs `regex`

            replace_words(tokens, asked.removeprefix(OWN_WORDS), message, texts, name)
    return tokens


class Counted:
    """The distinct tokens of a message under their keys.

    tokens   : by number of the view (VIEW_NAMES), key -> (text, how often)
    features : values of tokens.numeric.NAMES; empty where they were not measured
    """

    __slots__ = ("_digest", "_read", "features", "tokens")

    def __init__(self, tokens: Tokens) -> None:
        self.features = tokens.numeric
        self.tokens: list[dict[int, tuple[str, int]]] = [{} for _ in VIEW_NAMES]
        self._digest: int | None = None
        self._read = tokens
        for view, found in zip(READ_NUMBERS, tokens.views(), strict=True):
            times: dict[str, int] = {}
            for token in found:
                times[token] = times.get(token, 0) + 1
            self.tokens[view] = dict(zip(hash_tokens(times), times.items(), strict=True))

    @property
    def has_words(self) -> bool:
        """False for a message with neither header nor text: its form alone is no evidence."""
        return any(self.tokens[:2])  # header, body

    @property
    def digest(self) -> int:
        """Equal for equal messages; all forms of a message share its upper bits, see digest_message."""
        if self._digest is None:
            counts = {key: n for view in self.tokens for key, (_, n) in view.items()}
            self._digest = digest_message(identify_message(self._read), counts, self.features)
        return self._digest

    def keys(self) -> list[int]:
        """All keys."""
        return [key for view in self.tokens for key in view]

    def keep(self, views: str) -> None:
        """Drop the tokens of all other views (names separated by commas, or `all`); the digest stays."""
        if views != ALL_VIEWS:
            self._digest = self.digest
            kept = views.split(",")
            for number, name in enumerate(VIEW_NAMES):
                if name not in kept:
                    self.tokens[number] = {}


def count_tokens(data: bytes, wanted: Collection[str], name: str = "") -> Counted:
    """The distinct tokens of the first MAX_READ_BYTES of a message.

    wanted : as for read
    name   : of the message, for what is logged and for errors
    """
    tokens = read(data[:MAX_READ_BYTES], wanted, name)
    log_faults(name, tokens.failures)
    return Counted(tokens)
