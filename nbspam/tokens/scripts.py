"""Scripts of a page -> tokens of the structure view.

Hides which of their words come again: what hides a script from filters names all things anew each time.
"""

from __future__ import annotations

from nbspam.tokens.urls import inner_hosts

MAX_SCRIPT_WORDS = 200  # other ones of all scripts of a page
MAX_NAME = 40
# What is base64, or part of a name, in a script stays together; all else parts words.
_SCRIPT = (
    bytes(ord(chr(c).lower()) if chr(c).isalnum() or c in b"_$+/" else 32 for c in range(128)) + b" " * 128
)


def script_tokens(script: str) -> list[str]:
    """What a page does in a browser, and where it leads to: its words, and the hosts of the addresses in it.

    Words with a digit are left out.
    """
    spaced = script.encode("ascii", "replace").translate(_SCRIPT).decode("ascii")
    names = dict.fromkeys([word for word in spaced.split() if word.isalpha() and 2 < len(word) <= MAX_NAME])
    return [*("script=" + name for name in list(names)[:MAX_SCRIPT_WORDS]), *inner_hosts(script)]
