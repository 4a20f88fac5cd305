"""Own words: what a pattern of the user matches, in place of our tokens (docs/models.md, "Your own words").

Patterns run under the package `regex`: it knows the properties of Unicode, and can be stopped.
"""

from functools import lru_cache
from itertools import islice

import regex

from nbspam.errors import BadDataError, UsageError
from nbspam.limits import MAX_OWN_WORD, MAX_PATTERN_SECONDS, MAX_TOKENS
from nbspam.mail.message import Message, pin
from nbspam.tokens.bag import Tokens
from nbspam.tokens.structure import Texts


@lru_cache
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """The pattern, of at most one group; UsageError for a wrong one."""
    try:
        compiled = regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        why, remedy = f"is not a regular expression ({error})", r"for example: \w\w+"
        raise UsageError(pattern, why, remedy, "token-pattern", option="token_pattern") from None
    if compiled.groups > 1:
        why, remedy = "has more than one group", "write (?:...) for a group that is not the word"
        raise UsageError(pattern, why, remedy, "token-pattern", option="token_pattern")
    return compiled


def match_words(pattern: str, text: str, name: str = "") -> list[str]:
    """The first MAX_TOKENS matches in the lower-case text, or what the group has of them.

    name : of the message, for the error of a pattern that takes too long
    White space within a word becomes one space, because a vocabulary has one line for each word.  Empty words
    are dropped.
    """
    compiled = compile_pattern(pattern)
    try:
        matches = compiled.finditer(pin(text).lower(), timeout=MAX_PATTERN_SECONDS)
        words = [match[compiled.groups] or "" for match in islice(matches, MAX_TOKENS)]
    except TimeoutError:
        why = f"the token pattern {pattern} needs more than {MAX_PATTERN_SECONDS:g} seconds"
        remedy = "write another pattern; a repeat within a repeat, as (a+)+, may take for ever"
        raise BadDataError(name or "message", why, remedy, "token-pattern-slow") from None
    return [short for word in words if (short := " ".join(word.split())[:MAX_OWN_WORD])]


def replace_words(tokens: Tokens, pattern: str, message: Message, texts: Texts, name: str) -> None:
    """Make the words of the subject and of the texts shown the only tokens; numeric features stay."""
    subjects = [value for field, value in message.headers if field == "subject"]
    tokens.body = match_words(pattern, "\n".join([*subjects, *texts.visible]), name)
    tokens.header = tokens.structure = tokens.bigrams = tokens.raw = tokens.measures = ()
