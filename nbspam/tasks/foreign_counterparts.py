"""Which of our tokens a word of another filter is.

Hides the comparison: the word is given to our own tokenizer as text of the same place, and it is taken if
the tokenizer makes of it, in lower case, that very token (beside others, as of `www.example.com`).  So
nothing is taken that we would never ask for, and a word with signs around it (`free!!!`), which others count
apart, is not mixed with the word: docs/decisions.md.
"""

from __future__ import annotations

from nbspam.tokens.bag import INNER, TEXTBOOK_VIEWS
from nbspam.tokens.headers import header_tokens
from nbspam.tokens.structure import atom
from nbspam.tokens.unicode_words import folded
from nbspam.tokens.words import words

Counterpart = tuple[int, str]  # view and text of a token of ours

_HEADER, _BODY, _STRUCTURE = range(len(TEXTBOOK_VIEWS))
_MAX_WORDS = 16  # that one word of others may be cut into


def body_word(text: str) -> Counterpart | None:
    """A word of the text."""
    wanted = _as_written(text)
    return (_BODY, wanted) if wanted in words(text, _MAX_WORDS) else None


def header_word(field: str, text: str, token: str = "") -> Counterpart | None:
    """A word of a header field, whose name is in lower case; `token` is what it becomes, if not itself."""
    wanted = f"{field}:{token or _as_written(text)}"
    return (_HEADER, wanted) if wanted in header_tokens([(field, text)]) else None


def _as_written(text: str) -> str:
    """A word in the letters that our tokens have: `Über` is `uber`."""
    return folded(text).replace(INNER, "").strip().lower()


def field_named(name: str) -> Counterpart | None:
    """That a message has a field."""
    wanted = "field:" + name.lower()
    return (_HEADER, wanted) if wanted in header_tokens([(name.lower(), "")]) else None


def declared(kind: str, text: str, limit: int) -> Counterpart | None:
    """What a part declares of itself: its type or charset; `limit` is the longest that is kept."""
    return (_STRUCTURE, f"{kind}={text}") if text and atom(text, limit) == text.lower() else None


def scheme(text: str) -> Counterpart | None:
    """The scheme of an address of the web."""
    return (_STRUCTURE, "url=" + text) if text in ("http", "https", "ftp") else None
