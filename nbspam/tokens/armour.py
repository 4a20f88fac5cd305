"""Armour: keys, signatures and files that are in a text as base64.

No word of it comes again, and one file fills a model with thousands.
"""

import re

_LONG = 60  # characters of a line, as in texts.LONG_LINE
_LEAST = 120  # characters of a run, if no checksum ends it
_LETTERS, _GAP = "[A-Za-z0-9+/]", r"\s[\s>|]*"  # also quoted
# Long lines, a short one that is padded, and the checksum of OpenPGP (RFC 9580, 6.1) after any short one.
# `data:image/png;base64,` goes before some, and a parenthesis may end them.
_RUN = re.compile(
    rf"(?<![^\s>|,]){_LETTERS}{{{_LONG},}}(?:{_GAP}{_LETTERS}{{{_LONG},}})*=?=?(?:{_GAP}{_LETTERS}{{1,59}}==?)?"
    rf"(?:(?:{_GAP}{_LETTERS}{{1,59}})?{_GAP}(=[A-Za-z0-9+/]{{4}}))?(?![^\s)])",
    re.ASCII,
)


def remove_armour(text: str) -> str:
    """The text without runs of base64; words between slashes have fewer capitals and digits."""
    return _RUN.sub(_keep_words, text)


def _keep_words(run: re.Match[str]) -> str:
    run_text = run[0]
    capitals, digits = sum(map(str.isupper, run_text)), sum(map(str.isdigit, run_text))
    is_long = run[1] is not None or len(run_text) >= _LEAST
    return " " if is_long and 4 * capitals >= len(run_text) and 16 * digits >= len(run_text) else run_text
