"""Message -> tokens of each view.  The specification is docs/tokens.md.

Reading order: bag (the views), words, headers, structure, texts, measures.  Imported only if a
mail or a model needs them: unicode_words, characters, numeric.
What is remembered between messages (`Memory`) saves time and changes no result.
"""

from __future__ import annotations

from nbspam.mail import parse
from nbspam.mail.limits import MAX_TOKENS, add_failure
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC, VIEWS, Tokens, bigram_tokens
from nbspam.tokens.headers import field_order, header_tokens, size_in_bytes
from nbspam.tokens.structure import message_tokens
from nbspam.tokens.texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar, TypeVarTuple

    from nbspam.mail.message import Message

    Given = TypeVarTuple("Given")
    Result = TypeVar("Result")

__all__ = ["BIGRAMS", "DATE", "MEASURES", "NUMERIC", "VIEWS", "Tokens", "read", "tokenize"]


def read(data: bytes, wanted: Collection[str] = ()) -> Tokens:
    """The tokens of a mail: the one way from bytes to tokens.  Pure; never raises.

    wanted : what is read in addition to the words, some of BIGRAMS, MEASURES, NUMERIC, DATE
    """
    return tokenize(parse(data), wanted)


def tokenize(message: Message, wanted: Collection[str] = ()) -> Tokens:
    """The tokens of a message, at most MAX_TOKENS a view; an empty message gives few, never none.

    A fault of this program in a stage is kept in `failures` and as a defect; the other stages count.
    """
    tokens, texts = Tokens(), Texts()
    tokens.failures = message.failures
    _attempt(message, "header-tokens", _read_header, message, tokens)
    for part in message.parts:
        _attempt(message, "text", texts.read_part, part)
    _attempt(message, "text", texts.read_rest, message.parts)
    if MEASURES in wanted:
        _attempt(message, "measures", _measure, message, texts, tokens)
    if DATE in wanted or NUMERIC in wanted:
        _attempt(message, "date", _read_date, message, tokens)
    structure = _attempt(message, "structure", _structure, message, texts)
    if structure is None:
        structure = ["defect=" + defect for defect in message.defects]
    tokens.body = texts.body[:MAX_TOKENS]
    tokens.structure = structure[:MAX_TOKENS]
    if BIGRAMS in wanted:
        tokens.bigrams = bigram_tokens(tokens.body)
    if NUMERIC in wanted:
        _attempt(message, "numeric", _read_numbers, message, texts, tokens)
    return tokens


def _attempt(message: Message, stage: str, work: Callable[[*Given], Result], *given: *Given) -> Result | None:
    """work(*given); None where it meets a fault of this program, which the message keeps."""
    try:
        return work(*given)
    except Exception as error:
        add_failure(message, stage, error)
        return None


def _read_header(message: Message, tokens: Tokens) -> None:
    tokens.header = header_tokens(message.headers)[:MAX_TOKENS]


def _structure(message: Message, texts: Texts) -> list[str]:
    """Tokens of the whole message come first, so that a flood of URLs does not push them out."""
    of_message = message_tokens(message, size_in_bytes(message))
    return [*of_message, *field_order(message.headers), *texts.structure]


def _measure(message: Message, texts: Texts, tokens: Tokens) -> None:
    from nbspam.tokens.measures import measures  # not needed for textbook models

    tokens.measures = measures(message, texts)


def _read_date(message: Message, tokens: Tokens) -> None:
    from nbspam.mail.dates import received_date  # for mail in order of time

    tokens.date = received_date(message)


def _read_numbers(message: Message, texts: Texts, tokens: Tokens) -> None:
    from nbspam.tokens.numeric import numeric_features  # few models have them

    tokens.numeric = numeric_features(message, tokens, texts)
