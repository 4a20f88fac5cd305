"""Messages that a model has counted on the filter's own verdict, and that nobody has labelled yet.

Their tokens are kept, so that they can be removed when the message itself is gone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from nbspam.errors import DamagedModelError
from nbspam.store.connection import MAX_VALUE_BYTES, Connection
from nbspam.store.digest import stream_sound
from nbspam.store.reader import Model

# Settings: how many such messages a person has labelled, and how many of these as another class.
LABELLED, CORRECTED = "autolearn_labelled", "autolearn_corrected"


def read_autolearned(connection: Connection) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class number, tokens) of each, the oldest first."""
    return stream_sound(connection, "autolearned", "digest, class, tokens", "ORDER BY number")


def count_autolearned(model: Model) -> list[int]:
    """How many there are, by class."""
    found = dict(model.connection.ask("SELECT class, count(*) FROM autolearned GROUP BY class"))
    return [found.get(k, 0) for k in range(len(model.classes))]


def pack_tokens(tokens: Iterable[tuple[int, int]]) -> bytes:
    """(key, times) as the column `tokens` of `autolearned` has them."""
    return zlib.compress(" ".join(f"{key}:{times}" for key, times in sorted(tokens)).encode())


def unpack_tokens(tokens: bytes, path: str) -> dict[int, int]:
    """key -> times; DamagedModelError of the model at `path` for what `pack_tokens` did not make."""
    try:
        stream = zlib.decompressobj()
        text = stream.decompress(tokens, MAX_VALUE_BYTES)  # without a bound, a small blob may fill the memory
        if not stream.eof:
            raise ValueError(text)
        pairs = [pair.split(b":") for pair in text.split()]
        return {int(key): int(times) for key, times in pairs}
    except (zlib.error, ValueError, TypeError):
        raise DamagedModelError(path, "the tokens of a message cannot be read") from None
