"""The mail room: bytes to Message, whatever the bytes are.

Hides MIME.  Our own splitter on bytes, because the stdlib parser costs 16 ms to import, recurses
and is quadratic in known ways; deciding what a hostile mail says is what this project exists for.
Reading order: message, limits, headers, splitter, leaf; then transfer, charset, parameters.
Imported only where a mail needs them: words (RFC 2047), uuencode, aliases, japanese and guess (charsets),
dates, flowed (lines broken inside of words), cards (and calendars), signed (S/MIME), saved (pages as
documents); and the rooms html and attachments.
"""

from __future__ import annotations

from nbspam.mail.headers import (
    HeaderBlock,
    blank_line,
    header_lines,
    header_start,
    is_known,
    read_block,
    with_line_feeds,
)
from nbspam.mail.leaf import MESSAGES, Entity, read_leaf
from nbspam.mail.limits import MAX_SCORED_BYTES, Allowance
from nbspam.mail.message import SIGNED, Message, Part

__all__ = ["Message", "Part", "header_lines", "parse"]


def parse(data: bytes) -> Message:
    """Take a mail apart.  Never raises; linear in time, within the bounds of limits.py."""
    message = Message()
    allowance = Allowance()
    message.defects = allowance.defects
    start = header_start(data)
    stop, body = blank_line(data, start)
    block = read_block(data, start, stop, body, allowance)
    if block.fields and not any(is_known(name) for name, _ in block.fields):
        allowance.note("no-header")  # text that begins with "word: ..."
        block = HeaderBlock(start)
    message.headers = block.fields
    message.header_sizes = block.sizes
    text = data[block.body : block.body + MAX_SCORED_BYTES]
    if len(data) - block.body > MAX_SCORED_BYTES:
        allowance.note("long-body")
    text = with_line_feeds(text)
    message.body_bytes = len(text.rstrip(b"\n"))
    entity = Entity(block.content, "text/plain", allowance)
    kind = entity.content_type
    if kind.startswith("multipart/") or kind in MESSAGES or kind in SIGNED:
        from nbspam.mail.splitter import Splitter  # half of all mail is one part

        Splitter(message, allowance).run(entity, text)
    else:
        message.parts = read_leaf(entity, text, allowance)
        message.structure = [part.content_type for part in message.parts]
    return message
