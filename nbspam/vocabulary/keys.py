"""Token text -> the 64-bit number under which it is counted.

Hides the hash.  Integers keep the model file small and its look-ups fast; the text is stored
beside the key, for people.  With a million tokens two share a key with probability 3e-8.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b  # the same function, without the 3 ms that loading OpenSSL costs
except ImportError:  # another build of Python
    from hashlib import blake2b

NOTAWORD = "NOTAWORD"
NOTAWORD_KEY = 0


def token_key(text: str) -> int:
    """A signed 64-bit integer, the same on every machine; never NOTAWORD_KEY."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def message_digest(counts: dict[int, int]) -> int:
    """What tells that two messages are the same: a signed 64-bit sum over (key, count).

    Made of tokens, not of bytes, so a message is known again after a mail store has added its
    own header fields.
    """
    total = sum(key * (2 * count + 1) for key, count in counts.items())
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)
