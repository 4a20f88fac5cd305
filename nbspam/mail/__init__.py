"""The mail room: bytes to Message, whatever the bytes are.

Splits MIME itself, on bytes: the standard parser costs 16 ms to import, recurses and is quadratic in known
ways, and this project has to decide what a hostile mail says.  Reading order: message, limits, headers,
splitter, leaf; then transfer, charset.  Imported only if a message needs them: encoded_words
(RFC 2047), guess (charsets), uuencode, cards, dates, and the rooms html and
attachments.
"""

from nbspam.limits import MAX_SCORED_BYTES, Allowance, Stage
from nbspam.mail.headers import (
    HeaderBlock,
    find_blank_line,
    find_header,
    find_header_fields,
    is_known,
    read_block,
    unify_line_ends,
)
from nbspam.mail.leaf import MESSAGES, SIGNED, begin_part, read_leaf
from nbspam.mail.message import Message, Part

__all__ = ["Message", "Part", "find_header_fields", "parse"]


def parse(data: bytes) -> Message:
    """Take a mail apart.  Never raises; linear in time, within the bounds of limits.py.

    A fault of this program in a stage is kept in `failures` and as a defect; the message is what was read
    before it.
    """
    message = Message(data)
    allowance = Allowance()
    message.defects, message.failures = allowance.defects, allowance.failures
    block = None
    with Stage(allowance, "header"):
        block = _read_header(message, data, allowance)
    if block is not None:
        with Stage(allowance, "body"):
            _read_body(message, data, block, allowance)
    return message


def _read_header(message: Message, data: bytes, allowance: Allowance) -> HeaderBlock:
    start = find_header(data)
    stop, body = find_blank_line(data, start)
    block = read_block(data, start, stop, body, allowance)
    if block.fields and not any(is_known(name) for name, _ in block.fields):
        allowance.note("no-header")  # text that begins with "word: ..."
        block = HeaderBlock(start)
    message.headers = block.fields
    message.header_sizes = block.sizes
    return block


def _read_body(message: Message, data: bytes, block: HeaderBlock, allowance: Allowance) -> None:
    text = data[block.body : block.body + MAX_SCORED_BYTES]
    if len(data) - block.body > MAX_SCORED_BYTES:
        allowance.note("long-body")
    text = unify_line_ends(text)
    message.body_bytes = len(text.rstrip(b"\n"))
    part = begin_part(block.content, "text/plain", allowance)
    if part.content_type.startswith("multipart/") or part.content_type in MESSAGES | SIGNED:
        from nbspam.mail.splitter import Splitter  # half of all mail is one part

        Splitter(message, allowance).run(part, text)
    else:
        message.parts = read_leaf(part, text, allowance)
        message.structure = [part.content_type for part in message.parts]
