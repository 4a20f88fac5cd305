"""The header block: where it is, its raw lines, its fields.

Hides line ends (LF, CRLF, lone CR, CR CR LF), the mbox "From " line, a byte order mark, folding,
and what counts as a field.  A line that is no field ends the block, as Postfix, sendmail and mutt
have it, so a mail without a blank line keeps its text; one or two short ones are left out when
known fields follow, as Thunderbird does.  Two readers of one rule: `header_lines` walks the raw
bytes for those who pass a mail on unchanged; `read_block` is the fast one, about 0.4 us a field,
and asks the first where a block ends early.
"""

from __future__ import annotations

from nbspam.mail.limits import MAX_FIELD_NAME, MAX_FROM_LINES, MAX_HEADER_BYTES, MAX_HEADER_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTENT = frozenset(("content-type", "content-transfer-encoding", "content-disposition", "content-id"))
_KNOWN = frozenset(
    (
        "bcc",
        "cc",
        "content-disposition",
        "content-transfer-encoding",
        "content-type",
        "date",
        "delivered-to",
        "envelope-to",
        "from",
        "in-reply-to",
        "list-id",
        "message-id",
        "mime-version",
        "received",
        "references",
        "reply-to",
        "return-path",
        "sender",
        "subject",
        "to",
    )
)
_MAX_NAMES = 2_000
_MAX_JUNK_LINES = 2
_MAX_JUNK_CHARACTERS = 200
_BLANK = b" \t\r\n"  # form feeds are no blanks: both readers of the header end it at a line of them
# Of each byte whether it is an LF, a CR or anything else: a search of the whole mail at the speed of C.
_LINE_ENDS = b"." * 10 + b"n" + b"." * 2 + b"r" + b"." * 242
# Spelling of a field name -> its lower-case form.  Mail uses a few hundred spellings, and one
# look-up is cheaper than checking the characters each time.
_names: dict[str, str] = {}


class HeaderBlock:
    """A header block that was read.

    fields  : (lower-case name, unfolded and decoded value) in order
    sizes   : bytes of each as it was sent, with one line end
    content : raw values of the first Content-Type, -Transfer-Encoding, -Disposition and -ID
    body    : offset of what follows the block
    """

    __slots__ = ("body", "content", "fields", "sizes")

    def __init__(self, body: int) -> None:
        self.fields: list[tuple[str, str]] = []
        self.sizes: list[int] = []
        self.content: dict[str, str] = {}
        self.body = body


def header_start(data: bytes) -> int:
    """Offset of the first header line: behind an mbox "From " line, before anything else."""
    start = 0
    if data.startswith(BYTE_ORDER_MARK) and data.startswith((b"From ", b">From "), 3):
        start = 3
    for _ in range(MAX_FROM_LINES):
        if not data.startswith((b"From ", b">From "), start) or _is_spaced_field(data, start):
            break
        start = _next_line(data, start)
    return start


def _is_spaced_field(data: bytes, start: int) -> bool:
    """Whether it is the field From with blanks before its colon (RFC 5322, 4.5), and no mbox line."""
    return data[start : start + MAX_FIELD_NAME].partition(b" ")[2].lstrip(b" \t").startswith(b":")


def _next_line(data: bytes, start: int) -> int:
    line_feed = data.find(b"\n", start)
    stop = line_feed if line_feed >= 0 else len(data)
    carriage_return = data.find(b"\r", start, stop)
    if carriage_return < 0 or data[carriage_return:stop].strip(b"\r") == b"":
        return min(stop + 1, len(data))
    return carriage_return + 1


def blank_line(data: bytes, start: int) -> tuple[int, int]:
    """(stop of the header lines, start of the body) by the first empty line at or after `start`."""
    if data.startswith((b"\n", b"\r"), start):
        return start, start + (2 if data.startswith(b"\r\n", start) else 1)
    size = len(data)
    stop = data.find(b"\n\n", start)
    found = (stop + 1, stop + 2) if stop >= 0 else (size, size)
    if data.find(b"\r", start, found[0]) < 0:
        return found
    for blank in (b"\n\r\n", b"\n\r\r\n"):
        at = data.find(blank, start, found[0] + 2)
        if at >= 0:
            found = (at + 1, at + len(blank))
    twice = _twice_cr(data, start, found[0])
    return found if twice < 0 else (twice + 1, twice + 2)


def _twice_cr(data: bytes, start: int, stop: int) -> int:
    """Offset of two CRs in data[start:stop] with no line end behind them, -1 if there are none."""
    first = data.find(b"\r\r", start, stop)
    if first < 0:
        return -1
    found = data[first : stop + 1].translate(_LINE_ENDS).find(b"rr.")
    if found >= 0:
        return first + found
    return stop - 2 if stop == len(data) and data.endswith(b"\r\r") else -1


def header_lines(data: bytes) -> list[tuple[int, int, str]]:
    """The raw fields of the top header block: (start, stop, lower-case name) of each.

    A span takes in the line end and the folded lines that follow, so that the spans are
    contiguous and cutting one out removes that field and nothing else.  A line in the midst of
    the block that is no field has the name "".
    """
    start = header_start(data)
    return raw_fields(data, start, blank_line(data, start)[0])


def raw_fields(data: bytes, start: int, stop: int) -> list[tuple[int, int, str]]:
    """Spans of the fields in data[start:stop], up to the first line that ends the block.

    What is beyond MAX_HEADER_BYTES is one span with the name "".
    """
    fields: list[tuple[int, int, str]] = []
    limit = _line_limit(data, start, stop)
    lines = data[start:limit].splitlines(keepends=True)
    skippable = -1
    junk = 0
    position = start
    for number, raw in enumerate(lines):
        end = position + len(raw)
        line = raw if fields else raw.lstrip(b" \t")
        empty = raw == b"\r" and data[position - 1 : position] == b"\n"  # not the rest of a CR CR LF
        if fields and raw[:1] in (b" ", b"\t", b"\r", b"\n") and not empty:
            begin, _, lower = fields[-1]
            fields[-1] = (begin, end, lower)
        else:
            name, colon, _ = line[: MAX_FIELD_NAME + 1].decode("latin-1").partition(":")
            lower = field_name(name) if colon else ""
            if not lower and (empty or line.strip(_BLANK)) and not name.startswith(("From ", ">From ")):
                junk += 1
                if junk == 1:
                    skippable = _last_known([text[:100].decode("latin-1") for text in lines])
                if not fields or number > skippable or not _may_skip(junk, name):
                    return fields
            fields.append((position, end, lower if lower != ":" else ""))
        position = end
    if limit < stop:
        fields.append((limit, stop, ""))
    return fields


def _line_limit(data: bytes, start: int, stop: int) -> int:
    """Where the lines of a block that are read end: after MAX_HEADER_BYTES, at a line end."""
    if stop - start <= MAX_HEADER_BYTES:
        return stop
    for line_end in (b"\n", b"\r"):
        found = data.find(line_end, start + MAX_HEADER_BYTES - 1, stop)
        if found >= 0:
            return found + 1
    return stop


def _last_known(lines: list[str]) -> int:
    """Number of the last line that is a field every mail program knows, -1 if there is none."""
    for number in range(len(lines) - 1, -1, -1):
        if is_known(lines[number].partition(":")[0].lower()):
            return number
    return -1


def is_known(name: str) -> bool:
    """Whether a lower-case field name is one that tells a header from text."""
    return name in _KNOWN or (name.startswith("x-") and " " not in name)


def _may_skip(junk: int, line: str) -> bool:
    """Whether the next line that is no field may be left out when known fields follow it.

    Postfix and mutt end the header here, Thunderbird goes on.  Going on shows more of the mail,
    as long as no text worth reading is left out with the line.
    """
    return junk <= _MAX_JUNK_LINES and len(line) <= _MAX_JUNK_CHARACTERS and not line.startswith("--")


def field_name(name: str) -> str:
    """The lower-case form of a field name; "" if it cannot be one, ":" if it is to be left out.

    Graphic ASCII characters, then spaces (obsolete syntax); a byte order mark before is dropped.
    """
    lower = _names.get(name)
    if lower:
        return lower
    lower = name.rstrip(" \t").lower()
    if lower.startswith("\xef\xbb\xbf"):
        lower = lower[3:]
    if not lower:
        return ":"
    if not lower.isascii() or not lower.isprintable() or " " in lower or len(name) > MAX_FIELD_NAME:
        return ""
    if len(_names) < _MAX_NAMES and len(name) < 80:
        _names[name] = lower
    return lower


def read_block(data: bytes, start: int, stop: int, body: int, allowance: Allowance) -> HeaderBlock:
    """Read the fields in data[start:stop]; `body` is where the text behind the empty line begins."""
    block = HeaderBlock(body)
    if start >= stop:
        return block
    text = _unfolded(data, start, stop, allowance)
    if not _read_fields(text, block, allowance):
        lines = raw_fields(data, start, stop)
        begin = lines[-1][1] if lines else start
        if not _is_base64_behind(data, begin, body, block):
            block.body = begin
        allowance.note("no-header-end")
    return block


def _is_base64_behind(data: bytes, begin: int, body: int, block: HeaderBlock) -> bool:
    """Whether lines that are no fields stand before base64: as text they would keep it from being decoded.

    Thunderbird and most libraries pass over such lines up to the empty one, and show what is behind.
    """
    if not block.content.get("content-transfer-encoding", "").lower().startswith("base64"):
        return False
    if len(data[begin:body].strip()) > _MAX_JUNK_CHARACTERS:
        return False
    from nbspam.mail.transfer import BASE64

    behind = data[body : body + _MAX_JUNK_CHARACTERS].lstrip().partition(b"\n")[0].rstrip()
    return bool(behind) and not behind.strip(BASE64 + b"=")


def _unfolded(data: bytes, start: int, stop: int, allowance: Allowance) -> str:
    """The block as text, one line a field, its 8-bit bytes as Latin-1."""
    if stop - start > MAX_HEADER_BYTES:
        allowance.note("long-header")
        limit = start + MAX_HEADER_BYTES
        stop = max(data.rfind(b"\n", start, limit), data.rfind(b"\r", start, limit))
        stop = stop + 1 if stop >= 0 else limit
    text = data[start:stop].decode("latin-1")
    if "\r" in text:
        if "\r\r\n" in text:  # any number of CRs before an LF are one line end
            *lines, last = text.split("\n")
            text = "\n".join([*[line.rstrip("\r") for line in lines], last])
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.strip("\n")
    if " :" in text or "\t:" in text:
        text = _names_parted(text)
    text = text.replace("\n ", " ").replace("\n\t", "\t")
    return text.lstrip(" \t\n") if text[:1] in (" ", "\t") else text


def _names_parted(text: str) -> str:
    """The block with a zero byte before each colon that a fold parts from its name: that is no field."""
    lines = text.split("\n")
    named = ":" in lines[0] or not lines[0].strip(" \t")  # blanks are nothing, whatever follows
    for number, line in enumerate(lines[1:], 1):
        if line[:1] not in (" ", "\t"):
            named = ":" in line
        elif not named and line.lstrip(" \t")[:1] == ":":
            lines[number] = line[:1] + "\0" + line[1:]
    return "\n".join(lines)


def _read_fields(text: str, block: HeaderBlock, allowance: Allowance) -> bool:
    """Fill the block from one-line fields; False when a line is no field."""
    lines = text.split("\n")
    if not text.isascii() or len(lines) > MAX_HEADER_LINES or ("?" in text and "=?" in text):
        return _read_fields_slowly(text, block, allowance)
    fields = block.fields
    known = _names
    try:
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise KeyError
            fields.append((known[name], value.strip(" \t")))
    except KeyError:  # a name not met before, or no field at all
        fields.clear()
        return _read_fields_slowly(text, block, allowance)
    block.sizes = [len(line) + 1 for line in lines]
    for lower, value in fields:
        if lower in _CONTENT:
            block.content.setdefault(lower, value)
    return True


def _read_fields_slowly(text: str, block: HeaderBlock, allowance: Allowance) -> bool:
    """The same with encoded words, 8-bit text, new names and lines that are no field."""
    fields = block.fields
    eight_bit: list[int] = []
    complete, skippable, junk = True, -1, 0
    lines = text.split("\n", MAX_HEADER_LINES)
    for number, line in enumerate(lines):
        name, colon, value = line.partition(":")
        lower = field_name(name) if colon else ""
        if not lower or lower == ":":
            if not lower and not name.startswith(("From ", ">From ")):
                junk += 1
                if junk == 1:
                    skippable = _last_known(lines)
                if not fields or number > skippable or not _may_skip(junk, name):
                    complete = False
                    break
            allowance.note("bad-header")
            continue
        value = value.strip(" \t")
        if lower in _CONTENT:
            block.content.setdefault(lower, value)
        if "=?" in value:
            from nbspam.mail.words import decode_words  # not every mail has them

            value = decode_words(value, allowance)
        elif not value.isascii():
            eight_bit.append(len(fields))
        fields.append((lower, value))
        block.sizes.append(len(line) + 1)
    if len(lines) > MAX_HEADER_LINES:
        _read_content_beyond(lines[-1], block)
    if eight_bit:
        _decode_eight_bit(block, eight_bit, allowance)
    if len(fields) > MAX_HEADER_LINES:
        fields.pop()
        block.sizes.pop()
        allowance.note("many-headers")
    return complete


def _read_content_beyond(rest: str, block: HeaderBlock) -> None:
    """What the lines behind MAX_HEADER_LINES say of the body: without it, the body is not what is shown."""
    text = "\n" + rest
    lower = text.lower()
    for name in sorted(_CONTENT.difference(block.content)):
        at = lower.find("\n" + name)
        while at >= 0:
            stop = text.find("\n", at + 1)
            line = text[at + 1 : stop if stop >= 0 else len(text)]
            head, colon, value = line.partition(":")
            if colon and field_name(head) == name:
                block.content[name] = value.strip(" \t")
                break
            at = lower.find("\n" + name, at + 1)


def _decode_eight_bit(block: HeaderBlock, numbers: list[int], allowance: Allowance) -> None:
    """Decode raw 8-bit values: UTF-8, then the declared charset of the body, then a guess.

    One guess over all of them together: a single value is often too short to tell.
    """
    from nbspam.mail.charset import codec_of_raw_headers, decode_with

    allowance.note("8bit-header")
    fields = block.fields
    legacy: list[tuple[int, bytes]] = []
    for number in numbers:
        name, text = fields[number]
        value = text.encode("latin-1")
        try:
            fields[number] = (name, value.decode("utf-8"))
        except UnicodeDecodeError:
            legacy.append((number, value))
    if legacy:
        sample = b" ".join([value for _, value in legacy])
        codec = codec_of_raw_headers(sample, block.content.get("content-type", ""), allowance)
        for number, value in legacy:
            fields[number] = (fields[number][0], decode_with(codec, value))


def with_line_feeds(data: bytes) -> bytes:
    """The bytes with CRLF, CR CR LF and lone CR as LF."""
    if b"\r" not in data:
        return data
    if b"\r\r\n" in data:
        data = data.replace(b"\r\r\n", b"\n")
    data = data.replace(b"\r\n", b"\n")
    return data.replace(b"\r", b"\n") if b"\r" in data else data
