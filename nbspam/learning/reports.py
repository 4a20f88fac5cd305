"""Reports of readers: the messages attached to a message.

They are taken out as they were sent; a message forwarded inline is not there any more.
"""

from email import message_from_bytes
from email.message import Message

from nbspam.limits import MAX_READ_BYTES

_ATTACHED = ("message/rfc822", "message/global")


class _Report(Message):
    """A message that is not read on inside an attached message, so the parser keeps its bytes."""

    def get_content_maintype(self) -> str:
        kind = super().get_content_maintype()
        return "application" if kind == "message" else kind


def list_attached(data: bytes) -> list[bytes]:
    """The messages attached to a message, in order; a transfer encoding is undone."""
    try:
        parts = message_from_bytes(data[:MAX_READ_BYTES], _Report).walk()
        found = [part.get_payload(decode=True) for part in parts if part.get_content_type() in _ATTACHED]
        return [one for one in found if isinstance(one, bytes)]
    except RecursionError:  # hundreds of parts inside each other
        return []
