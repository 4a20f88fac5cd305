"""Reports: the messages attached to a message of a reader, and the spam in a report of SpamAssassin.

They are taken out as they were sent; a message forwarded inline is not there any more.
"""

from email import message_from_bytes
from email.message import Message
from typing import Any

from nbspam.limits import MAX_READ_BYTES

_ATTACHED = ("message/rfc822", "message/global")
_ORIGINAL = ("message/rfc822", "text/plain")  # with report_safe 1 and 2


class _Report(Message):
    """A message that is not read on inside an attached message, so the parser keeps its bytes.

    source : of a part its text, still encoded, with surrogates for other bytes than ASCII
    """

    source = ""

    def set_payload(self, payload: Any, charset: Any = None) -> None:
        self.source = payload
        super().set_payload(payload, charset)

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


def cut_report(data: bytes) -> tuple[bytes, bytes]:
    """The message inside a report of SpamAssassin (report_safe), as it came, and the report without it.

    (data, b"") if it is no such report.  The report is a multipart/mixed of a text and the message.
    Source: Mail::SpamAssassin::Conf and sa-learn(1), which learns that message, too.
    """
    report = message_from_bytes(data[:MAX_READ_BYTES], _Report)
    parts: Any = report.get_payload()
    if report.get_content_type() != "multipart/mixed" or not isinstance(parts, list) or len(parts) != 2:
        return data, b""
    text, original = parts
    is_marked = str(original.get_param("x-spam-type")).lower() == "original"
    if (
        not is_marked
        or original.get_content_type() not in _ORIGINAL
        or text.get_content_type() != "text/plain"
    ):
        return data, b""
    inside = original.get_payload(decode=True)
    if not isinstance(inside, bytes) or not inside.strip():
        return data, b""
    before, _, after = data.rpartition(original.source.encode("ascii", "surrogateescape"))
    return inside, before + after
