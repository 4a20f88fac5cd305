"""The bytes of a message -> its tokens and, for a model that has them, its measures and numeric features.

Hides what stands around a message in a mailbox.  Stands on the classify lane: words alone import nothing
more than the tokenizer.
"""

from __future__ import annotations

from itertools import chain

from nbspam.model.scorer import Counted
from nbspam.tokens import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbspam.settings import Settings
    from nbspam.tokens import Tokens

MBOX = b"From "  # how mailboxes begin, and many a message on its way
MBOX_HEAD_BYTES = 1024


def counted_message(data: bytes, settings: Settings, name: str = "") -> Counted:
    """What a Scorer reads; never raises on what a mail may hold.

    name : what the message is called where a fault of this program is told
    """
    return counted(read(data, settings.wanted), name)


def counted(tokens: Tokens, name: str = "") -> Counted:
    """As counted_message, of a message that was read already."""
    if tokens.failures:
        from nbspam.errors import log_faults  # rare

        log_faults(name, tokens.failures)
    return Counted(tokens)


def unboxed(head: bytes, rest: Iterable[bytes] = ()) -> bytes | None:
    """The message of an mbox that holds but one, as training reads it; None for an mbox of many.

    head, rest : what begins with `From `, in chunks; of an mbox of many only its first message is read
    The message comes without the `From ` line, the quoting of such lines and the empty line at the end.
    """
    from nbspam.corpus.mbox import begins_mbox, fragments, unquoted  # only for what begins with `From `

    if not begins_mbox(head[:MBOX_HEAD_BYTES]):
        return b"".join([head, *rest])
    pieces: list[bytes] = []
    whole = False
    for _, piece, ended in fragments(chain((head,), rest)):
        if whole:
            return None  # a second message begins
        pieces.append(piece)
        whole = ended
    return unquoted(b"".join(pieces))


def piped_message(data: bytes) -> bytes:
    """What is read of bytes that are one message whatever they look like: those on stdin, or of a client.

    The parser leaves out the `From ` line by itself: procmail writes one before every mail, and a module
    more for each would cost 1 ms.
    """
    found = unboxed(data) if data.startswith(MBOX) and b">From " in data else data
    return data if found is None else found
