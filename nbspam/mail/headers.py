"""The header block: where it starts and ends, its raw lines, its decoded fields.

A line ends with LF, CRLF, CR or CR CR LF.  A line that is not a field ends the block, as in Postfix,
sendmail and mutt, so a mail without an empty line keeps its text.  One or two short ones are skipped when
well-known fields follow, as in Thunderbird: see `find_raw_fields`.

`parse_parameters` reads Content-Type and Content-Disposition as mail really writes them (no semicolon, no
closing quote, duplicates; RFC 2045), and RFC 2231 (charsets, percent signs, continuations).
"""

from nbspam import limits
from nbspam.tables import read_table

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FROM_LINES = (b"From ", b">From ")
_FIELDS = read_table("fields")
_CONTENT = frozenset(_FIELDS["content"])
_KNOWN = _CONTENT.union(_FIELDS["known"])
_MAX_JUNK_LINES = 2
_MAX_JUNK_CHARACTERS = 200


class HeaderBlock:
    """A header block that was read.

    fields  : (lower-case name, unfolded and decoded value) in order
    sizes   : bytes of each as it was sent, with one line end
    content : raw values of the first Content-Type, -Transfer-Encoding, -Disposition and -ID
    body    : offset of the text after the block
    """

    def __init__(self, body: int) -> None:
        self.fields: list[tuple[str, str]] = []
        self.sizes: list[int] = []
        self.content: dict[str, str] = {}
        self.body = body


def find_header(data: bytes, start: int = 0) -> int:
    """Offset of the first header line at or after `start`, after a byte order mark and mbox "From " lines."""
    if data.startswith(BYTE_ORDER_MARK, start):
        start += len(BYTE_ORDER_MARK)
    for _ in range(limits.MAX_FROM_LINES):
        if not data.startswith(_FROM_LINES, start):
            break
        _, _, rest = data[start : start + limits.MAX_FIELD_NAME].partition(b" ")
        if rest.lstrip(b" \t").startswith(b":"):
            break  # the field "From : a@b.example" (RFC 5322, 4.5)
        start = _skip_line(data, start)
    return start


def _skip_line(data: bytes, start: int) -> int:
    stop = data.find(b"\n", start)
    if stop < 0:
        stop = data.find(b"\r", start)
    return stop + 1 if stop >= 0 else len(data)


def find_blank_line(data: bytes, start: int) -> tuple[int, int]:
    """(end of the header lines, start of the body): the first empty line at or after `start`."""
    if data.startswith((b"\n", b"\r"), start):
        return start, start + (2 if data.startswith(b"\r\n", start) else 1)
    stop = data.find(b"\n\n", start)
    end = (stop + 1, stop + 2) if stop >= 0 else (len(data), len(data))
    if data.find(b"\r", start, end[0]) < 0:
        return end
    for blank in (b"\n\r\n", b"\n\r\r\n"):
        at = data.find(blank, start, end[0] + 2)
        if at >= 0:
            end = (at + 1, at + len(blank))
    twice = data.find(b"\r\r", start, end[0])
    if twice >= 0 and data.find(b"\n", start, twice + 3) < 0:  # every line ends with a CR alone
        end = (twice + 1, twice + 2)
    return end


def find_header_fields(data: bytes) -> list[tuple[int, int, str]]:
    """The raw fields of the top header block: (start, stop, lower-case name) of each.

    A span includes the line end and the folded lines that follow, so the spans are contiguous, and
    cutting one out removes that field and nothing else.  A line inside the block that is not a field has
    the name "".
    """
    start = find_header(data)
    return find_raw_fields(data, start, find_blank_line(data, start)[0])


def find_raw_fields(data: bytes, start: int, stop: int) -> list[tuple[int, int, str]]:
    """Spans of the fields in data[start:stop], up to the first line that ends the block.

    The rest after MAX_HEADER_BYTES is one span with the name "".
    """
    fields: list[tuple[int, int, str]] = []
    limit = _find_limit(data, start, stop)
    lines = data[start:limit].splitlines(keepends=True)
    last_known = -1
    junk = 0
    position = start
    for number, raw in enumerate(lines):
        end = position + len(raw)
        is_empty = raw == b"\r" and data[position - 1 : position] == b"\n"  # not the rest of a CR CR LF
        if fields and raw[:1] in (b" ", b"\t", b"\r", b"\n") and not is_empty:
            begin, _, name = fields[-1]
            fields[-1] = (begin, end, name)
        else:
            line = (raw if fields else raw.lstrip(b" \t"))[: limits.MAX_FIELD_NAME + 1]
            before, colon, _ = line.decode("latin-1").partition(":")
            name = _parse_field_name(before) if colon else ""
            if not name and (is_empty or raw.strip(b" \t\r\n")):  # form feeds are not blanks
                junk += 1
                if junk == 1:
                    last_known = _find_last_known(lines)
                if not fields or number > last_known or not _may_skip(junk, raw):
                    return fields
            fields.append((position, end, name))
        position = end
    if limit < stop:
        fields.append((limit, stop, ""))
    return fields


def _find_limit(data: bytes, start: int, stop: int) -> int:
    """Where reading a block stops: at the last line end within MAX_HEADER_BYTES."""
    limit = start + limits.MAX_HEADER_BYTES
    if stop <= limit:
        return stop
    line_end = max(data.rfind(b"\n", start, limit), data.rfind(b"\r", start, limit))
    return line_end + 1 if line_end >= 0 else limit


def _find_last_known(lines: list[bytes]) -> int:
    """Index of the last line that is a well-known field, or -1."""
    for number in range(len(lines) - 1, -1, -1):
        if is_known(lines[number][:100].decode("latin-1").partition(":")[0].lower()):
            return number
    return -1


def is_known(name: str) -> bool:
    """True if a lower-case field name tells a header from text."""
    return name in _KNOWN or (name.startswith("x-") and " " not in name)


def has_known_field(data: bytes) -> bool:
    """True if data begins with a header that has a well-known field."""
    name, colon, _ = data[: limits.MAX_FIELD_NAME].partition(b":")
    if colon and is_known(name.decode("latin-1").lower()):
        return True
    return b":" in data and any(is_known(name) for _, _, name in find_header_fields(data))


def _may_skip(junk: int, line: bytes) -> bool:
    """True if this line is short enough to be skipped and cannot be the delimiter of a part."""
    return junk <= _MAX_JUNK_LINES and len(line) <= _MAX_JUNK_CHARACTERS and not line.startswith(b"--")


def _parse_field_name(name: str) -> str:
    """The lower-case name of a field, from what comes before the colon; "" if it is not one.

    A name is graphic ASCII characters, then perhaps blanks (obsolete syntax).
    """
    lower = name.rstrip(" \t").lower()
    is_graphic = lower.isascii() and lower.isprintable() and " " not in lower
    return lower if is_graphic and len(name) <= limits.MAX_FIELD_NAME else ""


def read_block(data: bytes, start: int, stop: int, body: int, allowance: limits.Allowance) -> HeaderBlock:
    """Read the fields in data[start:stop]; the text after the empty line begins at `body`."""
    block = HeaderBlock(body)
    if start >= stop:
        return block
    limit = _find_limit(data, start, stop)
    if limit < stop:
        allowance.note("long-header")
    raw = data[start:limit]
    allowance.header_bytes -= len(raw)
    end = start
    for first, end, name in find_raw_fields(data, start, limit):
        line = unify_line_ends(data[first:end]).decode("latin-1").replace("\n", "").lstrip(" \t")
        if name:
            block.fields.append((name, line.partition(":")[2].strip(" \t")))
            block.sizes.append(len(line) + 1)
        elif line:
            allowance.note("bad-header")
    if end < limit:
        block.body = end
        allowance.note("no-header-end")
    if b"\0" in raw:
        allowance.note("nul")
        block.fields = [(name, value.replace("\0", "")) for name, value in block.fields]
    for name, value in block.fields:
        if name in _CONTENT:
            block.content.setdefault(name, value)
    if len(block.fields) > limits.MAX_HEADER_LINES:
        allowance.note("many-headers")
        del block.fields[limits.MAX_HEADER_LINES :]
        del block.sizes[limits.MAX_HEADER_LINES :]
    _decode_values(block, allowance)
    return block


def _decode_values(block: HeaderBlock, allowance: limits.Allowance) -> None:
    """Decode encoded words, escapes and raw 8-bit values in place."""
    fields = block.fields
    eight_bit: list[int] = []
    for number, (name, value) in enumerate(fields):
        if "=?" in value:
            from nbspam.mail.encoded_words import decode_words  # not every mail has them

            fields[number] = (name, decode_words(value, allowance))
        elif not value.isascii():
            eight_bit.append(number)
        elif "\x1b" in value or "\x0e" in value or "~{" in value:
            _decode_escapes(block, number, allowance)
    if eight_bit:
        allowance.note("8bit-header")
        _decode_eight_bit(block, eight_bit, allowance)


def _decode_escapes(block: HeaderBlock, number: int, allowance: limits.Allowance) -> None:
    """Decode a value with escapes of ISO-2022 or HZ; for parameters as UTF-8, since escapes hide quotes."""
    from nbspam.mail.charset import decode_raw

    name, value = block.fields[number]
    text = decode_raw(value.encode("ascii"), _find_body_charset(block, allowance), allowance)
    block.fields[number] = (name, text)
    if block.content.get(name) == value:
        block.content[name] = text.encode("utf-8").decode("latin-1")


def _find_body_charset(block: HeaderBlock, allowance: limits.Allowance) -> str:
    """The charset that Content-Type declares, lower-case, perhaps ""."""
    _, parameters = parse_parameters(block.content.get("content-type", ""), allowance)
    return parameters.get("charset", "").lower()


def _decode_eight_bit(block: HeaderBlock, numbers: list[int], allowance: limits.Allowance) -> None:
    """Decode raw 8-bit values: as UTF-8, else in the charset of the body, else in a guessed one.

    All values share one guess: a single value is often too short for it.
    """
    from nbspam.mail.charset import choose_header_codec, decode_with

    legacy: list[tuple[int, bytes]] = []
    for number in numbers:
        name, text = block.fields[number]
        value = text.encode("latin-1")
        try:
            block.fields[number] = (name, value.decode("utf-8"))
        except UnicodeDecodeError:
            legacy.append((number, value))
    if legacy:
        sample = b" ".join([value for _, value in legacy])
        codec = choose_header_codec(sample, _find_body_charset(block, allowance), allowance)
        for number, value in legacy:
            block.fields[number] = (block.fields[number][0], decode_with(codec, value))


def unify_line_ends(data: bytes) -> bytes:
    """The bytes with CRLF, CR CR LF and lone CR as LF."""
    if b"\r" not in data:
        return data
    return data.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def parse_parameters(value: str, allowance: limits.Allowance) -> tuple[str, dict[str, str]]:
    """("text/plain", {"charset": "utf-8"}): lower-case value and names; of duplicates the first.

    value : Latin-1 code points; nothing after MAX_PARAMETER_BYTES is read
    Returns parameters of Latin-1 code points, too; those of RFC 2231 are UTF-8.
    """
    head, _, rest = value[: limits.MAX_PARAMETER_BYTES].partition(";")
    words = head.split(None, 1)
    if len(words) > 1 and "=" in words[1]:  # the first semicolon is missing
        allowance.note("bad-content-type")
        rest = words[1] + ";" + rest
    head = words[0].strip("\"',").lower() if words else ""
    return head, _join_parameters(_split_pairs(rest), allowance) if rest else {}


def _split_pairs(rest: str) -> list[tuple[str, str]]:
    """(lower-case name, raw text) of each parameter in order."""
    pairs: list[tuple[str, str]] = []
    position = 0
    for _ in range(limits.MAX_PARAMETERS):
        equals = rest.find("=", position)
        if equals < 0:
            break
        name = rest[position:equals].rpartition(";")[2].rpartition(")")[2].strip().lower()
        start = equals + 1
        while rest[start : start + 1] in (" ", "\t"):
            start += 1
        if rest.startswith('"', start) and rest.find('"', start + 1) > 0:
            text, position = _parse_quoted(rest, start + 1)
        else:
            stop = rest.find(";", start)
            position = stop if stop >= 0 else len(rest)
            text = rest[start:position].strip().removeprefix('"')  # a quote that is never closed
            text = text.partition(" (")[0] if text.endswith(")") else text  # a comment
        pairs.append((name, text))
    return pairs


def _parse_quoted(rest: str, start: int) -> tuple[str, int]:
    """(text of the quoted string that begins at `start`, offset after its closing quote)."""
    stop = rest.find('"', start)
    while rest[stop - 1] == "\\" and stop > 0:
        stop = rest.find('"', stop + 1)
    stop = stop if stop > 0 else len(rest)
    return rest[start:stop].replace('\\"', '"').replace("\\\\", "\\"), stop + 1


def _join_parameters(pairs: list[tuple[str, str]], allowance: limits.Allowance) -> dict[str, str]:
    """RFC 2231: plain parameters, extended ones (name*) and continuations (name*0, name*1*)."""
    plain: dict[str, str] = {}
    extended: dict[str, dict[int, tuple[bool, str]]] = {}
    for name, text in pairs:
        base, star, number = name.partition("*")
        digits = number.rstrip("*") or "0"
        if star and digits.isascii() and digits.isdigit() and len(digits) < 5:
            is_encoded = number == "" or number.endswith("*")
            extended.setdefault(base, {}).setdefault(int(digits), (is_encoded, text))
        elif name in plain:
            allowance.note("duplicate-parameter")
        else:
            plain[name] = text
    for base, pieces in extended.items():
        plain[base] = _decode_extended(pieces, allowance)
    return plain


def _decode_extended(pieces: dict[int, tuple[bool, str]], allowance: limits.Allowance) -> str:
    """The parameter in UTF-8, as its bytes would be without an encoding."""
    from nbspam.mail.charset import decode
    from nbspam.mail.transfer import decode_percent  # few messages have such a parameter

    charset = ""
    chunks: list[bytes] = []
    for number in sorted(pieces):
        is_encoded, text = pieces[number]
        if not chunks and is_encoded and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        chunk = text.encode("latin-1")
        chunks.append(decode_percent(chunk) if is_encoded else chunk)
    text = decode(b"".join(chunks), charset.lower(), allowance)[0]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("latin-1")
