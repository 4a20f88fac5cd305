"""Token text -> the 64-bit number under which it is counted.

The hash is the first eight bytes of MD5, the fastest good one that every Python has; spammers gain nothing
from a collision. Integers keep the model file small and its look-ups fast; the text is stored next to the
key, for people. With a million tokens two share a key with
probability 3e-8.
"""

from __future__ import annotations

from sys import byteorder

try:
    from _md5 import md5  # type: ignore[import-not-found]  # loading OpenSSL's costs 3 ms
except ImportError:  # another build of Python
    from hashlib import md5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

NOTAWORD = "NOTAWORD"
NOTAWORD_KEY = 0
LITTLE = byteorder == "little"


def token_key(text: str) -> int:
    """A signed 64-bit integer, the same on every machine; never NOTAWORD_KEY."""
    return int.from_bytes(md5(text.encode("utf-8", "replace")).digest()[:8], "little", signed=True) or 1


def key_list(texts: Collection[str]) -> list[int]:
    """The keys of many tokens: token_key of each, for the tokens of one message."""
    if not LITTLE:
        return [token_key(text) for text in texts]
    keys = memoryview(token_digests(texts)).cast("q")[::2].tolist()
    return [key or 1 for key in keys] if NOTAWORD_KEY in keys else keys


def token_digests(texts: Collection[str]) -> bytes:
    """Sixteen bytes a token, the first eight of which are its key, little-endian, where 0 stands for 1."""
    try:
        return b"".join([md5(text.encode()).digest() for text in texts])
    except UnicodeEncodeError:  # half a surrogate pair
        return b"".join([md5(text.encode("utf-8", "replace")).digest() for text in texts])


def message_digest(counts: dict[int, int], features: Sequence[float | None] = ()) -> int:
    """What tells that two messages are the same: a signed 64-bit sum over (key, count) and the features.

    Made of tokens, not of bytes, so a message is known again after a mail store has added its
    own header fields.
    """
    total = sum(key * (2 * count + 1) for key, count in counts.items()) + features_digest(features)
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def features_digest(features: Sequence[float | None]) -> int:
    """What the numeric features of a message add to its digest; 0 where none were measured.

    Messages of the same tokens may differ in capitals, and a model must forget the values that it learned.
    """
    if not features:
        return 0
    values = ["" if value is None or value != value else repr(float(value)) for value in features]
    return token_key(" ".join(values))
