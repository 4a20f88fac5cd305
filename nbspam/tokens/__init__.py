"""Message -> tokens of each view, and their counts.  The specification is docs/tokens.md.

Mail is read by the compiled core, if it is installed, else by the Python of mail/ and of this room.  Both
give the same tokens; a message that the core leaves (a rare form, a fault of the core) is read by Python.
Reading order: bag (the views), words, headers, structure, measures.  Imported only if a
mail or a model needs them: unicode_words, characters, numeric, own_words.
What is remembered between messages (`lru_cache`) saves time and changes no result.
"""

from __future__ import annotations

import os

from nbspam import __version__
from nbspam.errors import UsageError, log_faults
from nbspam.limits import MAX_READ_BYTES, MAX_TOKENS, Stage
from nbspam.settings import ALL_VIEWS, OWN_WORDS
from nbspam.tokens import bag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from nbspam.mail.message import Message

    KeyedView = dict[int, tuple[str, int]]  # key -> text, how often

HeaderLines = list[tuple[int, int, str]]  # start, stop and name of each field
VARIABLE = "NBSPAM_CORE"
NO, REQUIRE = "no", "require"
LEFT_TO_PYTHON = ("numeric", OWN_WORDS)  # beginnings of what the core does not read
_found: list[tuple[Any, str]] = []  # the core or None, and why; empty until it is asked for


def read(data: bytes, wanted: Collection[str] = (), name: str = "") -> bag.Tokens:
    """The tokens of a mail: the one way from bytes to tokens.  Pure; only a pattern of the user may raise.

    wanted : what is read in addition to the words, some of BIGRAMS, RAW, MEASURES, SIGNATURE, NUMERIC, DATE;
             or OWN_WORDS and a pattern: the words that it matches are read in place of ours
    name   : of the message, for the error of that pattern
    """
    core = choose_core(wanted)
    by_core = core.read(data, list(wanted)) if core else None
    if by_core is None:
        return read_in_python(data, wanted, name)
    tokens = bag.Tokens()
    views, tokens.sent, tokens.date = by_core
    for view, words in zip(bag.READ_VIEWS, views, strict=True):
        setattr(tokens, view, words)
    return tokens


def read_in_python(data: bytes, wanted: Collection[str] = (), name: str = "") -> bag.Tokens:
    """The same without the compiled core; a fault of the core that has left the message is in `failures`."""
    from nbspam.mail import parse  # with the compiled core few messages are read here

    tokens = tokenize(parse(data), wanted, name)
    core = find_core()
    if core:
        tokens.failures = [*tokens.failures, *core.take_faults()]
    return tokens


def tokenize(message: Message, wanted: Collection[str] = (), name: str = "") -> bag.Tokens:
    """The tokens of a message, at most MAX_TOKENS a view; an empty message gives few, never none.

    A fault of this program in a stage is kept in `failures` and as a defect; the other stages count.
    """
    from nbspam.tokens.headers import measure_size, tokenize_header, tokenize_order  # few, with the core
    from nbspam.tokens.structure import ENCODING_MARK, Texts, tokenize_form, tokenize_raw

    tokens, texts = bag.Tokens(), Texts()
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
    if bag.BIGRAMS in wanted:
        tokens.bigrams = bag.make_bigrams(tokens.body)
    if bag.RAW in wanted:
        with Stage(message, "raw"):
            tokens.raw = tokenize_raw(message.data)
    if bag.MEASURES in wanted:
        with Stage(message, "measures"):
            from nbspam.tokens.measures import tokenize_measures  # not needed for textbook models

            tokens.measures = tokenize_measures(message, texts)
    if bag.DATE in wanted or bag.NUMERIC in wanted:
        with Stage(message, "date"):
            from nbspam.mail.dates import find_date  # for mail in order of time

            tokens.date = find_date(message)
    with Stage(message, "structure"):
        # Those of the whole message come first, so that a flood of URLs does not push them out.
        of_message = tokenize_form(message, measure_size(message))
        tokens.structure = [*of_message, *tokenize_order(message.headers), *texts.structure][:MAX_TOKENS]
        written = [token for token in texts.structure if not token.startswith(ENCODING_MARK)]
        tokens.sent = [*tokens.sent, *written[:MAX_TOKENS]]  # a server may change the encoding
    if not tokens.structure:  # that stage has failed
        tokens.structure = ["defect=" + defect for defect in message.defects]
    if bag.SIGNATURE in wanted:
        tokens.signature = bag.sign_text(tokens.body, tokens.structure)
    if bag.NUMERIC in wanted:
        with Stage(message, "numeric"):
            from nbspam.tokens.numeric import measure_features  # few models have them

            tokens.numeric = measure_features(message, tokens, texts)
    for asked in wanted:
        if asked.startswith(OWN_WORDS):
            from nbspam.tokens.own_words import replace_words  # needs `regex`

            replace_words(tokens, asked.removeprefix(OWN_WORDS), message, texts, name)
    return tokens


class KeyedTokens:
    """The distinct tokens of a message under their keys.

    tokens   : by number of the view (VIEW_NAMES), key -> (text, how often)
    features : values of tokens.numeric.NAMES; empty where they were not measured
    report   : of the spam in a report of SpamAssassin the tokens of that, else None
    """

    __slots__ = ("_digest", "_identity", "features", "report", "tokens")

    def __init__(
        self, views: Sequence[KeyedView], identity: int, features: Sequence[float | None] = ()
    ) -> None:
        """views : tokens in the order of READ_VIEWS;  identity : of identify_message"""
        self.features = features
        self.tokens: list[KeyedView] = [{} for _ in bag.VIEW_NAMES]  # NOTAWORD has no tokens
        for number, view in zip(bag.READ_NUMBERS, views, strict=True):
            self.tokens[number] = view
        self._identity = identity
        self._digest: int | None = None
        self.report: KeyedTokens | None = None

    @property
    def has_words(self) -> bool:
        """False for a message with neither header nor text: its form alone is no evidence."""
        return any(self.tokens[:2])  # header, body

    @property
    def digest(self) -> int:
        """Equal for equal messages; all forms of a message share its upper bits, see digest_message."""
        if self._digest is None:
            counts = {key: n for view in self.tokens for key, (_, n) in view.items()}
            self._digest = bag.digest_message(self._identity, counts, self.features)
        return self._digest

    def keys(self) -> list[int]:
        """All keys."""
        return [key for view in self.tokens for key in view]

    def keep(self, views: str) -> None:
        """Drop the tokens of all other views (names separated by commas, or `all`); the digest stays."""
        if views != ALL_VIEWS:
            self._digest = self.digest
            kept = views.split(",")
            for number, name in enumerate(bag.VIEW_NAMES):
                if name not in kept:
                    self.tokens[number] = {}


def key_tokens(tokens: bag.Tokens) -> KeyedTokens:
    """The distinct tokens of what was read of a message."""
    return KeyedTokens([*map(_count_view, tokens.views())], bag.identify_message(tokens), tokens.numeric)


def _count_view(tokens: Sequence[str]) -> KeyedView:
    """The distinct tokens of a view under their keys: key -> (text, how often)."""
    times: dict[str, int] = {}
    for token in tokens:
        times[token] = times.get(token, 0) + 1
    return dict(zip(bag.hash_tokens(times), times.items(), strict=True))


def count_tokens(data: bytes, wanted: Collection[str], name: str = "") -> KeyedTokens:
    """The distinct tokens of the first MAX_READ_BYTES of a message.

    wanted : as for read
    name   : of the message, for what is logged and for errors
    """
    data = data[:MAX_READ_BYTES]
    core = choose_core(wanted)
    by_core = core.count_tokens(data, list(wanted)) if core else None
    if by_core is not None:
        return KeyedTokens(*by_core)
    tokens = read_in_python(data, wanted, name)
    log_faults(name, tokens.failures)
    return key_tokens(tokens)


def find_core() -> Any:
    """The module of the compiled core, or None; UsageError for a wrong NBSPAM_CORE."""
    if not _found:
        _found.append(_load(os.environ.get(VARIABLE, "")))
    return _found[0][0]


def find_fields(data: bytes) -> tuple[int, HeaderLines]:
    """The start of the header, and its raw fields: (start, stop, lower-case name) of each."""
    core = find_core()
    by_core: tuple[int, HeaderLines] | None = core.find_fields(data) if core else None
    if by_core is not None:
        return by_core
    from nbspam.mail.headers import find_header, find_header_fields  # the core does without

    return find_header(data), find_header_fields(data)


def _load(asked: str) -> tuple[Any, str]:
    """(the core, ""), or (None, why Python reads)."""
    if asked not in ("", NO, REQUIRE):
        why, remedy = "chooses no reader of mail", f"unset it, or set it to {NO} or {REQUIRE}"
        raise UsageError(f"{VARIABLE}={asked}", why, remedy, "core")
    if asked == NO:
        return None, f"{VARIABLE}={NO}"
    try:
        import nbspam_core

        version = nbspam_core.__version__
    except ModuleNotFoundError:
        why = "no compiled core is installed"
    except Exception as error:  # whatever a damaged file may raise
        why = f"the compiled core cannot be loaded: {error}"
    else:
        if version == __version__:
            return nbspam_core, ""
        why = f"the compiled core is of version {version}, and nbspam of {__version__}"
    if asked == REQUIRE:
        remedy = "install that of this version from the source: pip install ./core, or: make core"
        raise UsageError(f"{VARIABLE}={asked}", why, remedy, "core")
    return None, why


def choose_core(wanted: Collection[str]) -> Any:
    """The core, if it is there and reads all that is wanted, or None."""
    if any(asked.startswith(LEFT_TO_PYTHON) for asked in wanted):
        return None
    return find_core()


def describe_reader() -> str:
    """The reader that runs, in words."""
    core = find_core()
    return f"compiled core {core.__version__}" if core else f"Python ({_found[0][1]})"
