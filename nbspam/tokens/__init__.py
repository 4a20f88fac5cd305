"""Message -> tokens of each view.  The specification is docs/tokens.md.

Reading order: bag (the views), words, headers, structure, texts, measures.  Imported only if a
mail or a model needs them: unicode_words, characters, numeric.
What is remembered between messages (`Memory`) saves time and changes no result.
"""

from __future__ import annotations

from nbspam.mail import parse
from nbspam.mail.limits import MAX_TOKENS, Stage
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC, VIEWS, Tokens, bigram_tokens
from nbspam.tokens.headers import field_order, header_tokens, size_in_bytes
from nbspam.tokens.structure import message_tokens
from nbspam.tokens.texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from nbspam.mail.message import Message

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
    with Stage(message, "header-tokens"):
        tokens.header = header_tokens(message.headers)[:MAX_TOKENS]
    for part in message.parts:
        with Stage(message, "text"):
            texts.read_part(part)
    with Stage(message, "text"):
        texts.read_rest(message.parts)
    tokens.body = texts.body[:MAX_TOKENS]
    if BIGRAMS in wanted:
        tokens.bigrams = bigram_tokens(tokens.body)
    if MEASURES in wanted:
        with Stage(message, "measures"):
            from nbspam.tokens.measures import measures  # not needed for textbook models

            tokens.measures = measures(message, texts)
    if DATE in wanted or NUMERIC in wanted:
        with Stage(message, "date"):
            from nbspam.mail.dates import received_date  # for mail in order of time

            tokens.date = received_date(message)
    with Stage(message, "structure"):
        # Those of the whole message come first, so that a flood of URLs does not push them out.
        of_message = message_tokens(message, size_in_bytes(message))
        tokens.structure = [*of_message, *field_order(message.headers), *texts.structure][:MAX_TOKENS]
    if not tokens.structure:  # that stage has failed
        tokens.structure = ["defect=" + defect for defect in message.defects]
    if NUMERIC in wanted:
        with Stage(message, "numeric"):
            from nbspam.tokens.numeric import numeric_features  # few models have them

            tokens.numeric = numeric_features(message, tokens, texts)
    return tokens
