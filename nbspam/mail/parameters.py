"""Content-Type and Content-Disposition: the value and its parameters.

Reads RFC 2045 as mail really writes it (no semicolon, no closing quote, comments, duplicates) and RFC 2231
(charsets, percent signs, continuations).
"""

from __future__ import annotations

from nbspam.mail.limits import MAX_PARAMETER_BYTES, MAX_PARAMETERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance


def parse_parameters(value: str, allowance: Allowance) -> tuple[str, dict[str, str]]:
    """("text/plain", {"charset": "utf-8"}): lower-case value and names; of duplicates the first.

    value : Latin-1 code points; nothing after MAX_PARAMETER_BYTES is read
    Returns parameters of Latin-1 code points, too; those of RFC 2231 are UTF-8.
    """
    if len(value) > MAX_PARAMETER_BYTES:
        value = value[:MAX_PARAMETER_BYTES]
    if "(" in value:
        value = _without_comments(value)
    head, _, rest = value.partition(";")
    words = head.split(None, 1)
    if len(words) > 1 and "=" in words[1]:  # the first semicolon is missing
        allowance.note("bad-content-type")
        rest = words[1] + ";" + rest
    head = words[0].strip("\"',").lower() if words else ""
    if not rest:
        return head, {}
    pairs = _pairs(rest)
    if any("*" in name for name, _ in pairs):
        return head, _merged(pairs, allowance)
    parameters: dict[str, str] = {}
    for name, text in pairs:
        if name in parameters:
            allowance.note("duplicate-parameter")
        else:
            parameters[name] = text
    return head, parameters


def _pairs(rest: str) -> list[tuple[str, str]]:
    """(lower-case name, raw text) of each parameter in order."""
    pairs: list[tuple[str, str]] = []
    position = 0
    for _ in range(MAX_PARAMETERS):
        equals = rest.find("=", position)
        if equals < 0:
            break
        name = rest[position:equals].rpartition(";")[2].strip().lower()
        start = equals + 1
        while rest[start : start + 1] in (" ", "\t"):
            start += 1
        if rest.startswith('"', start) and rest.find('"', start + 1) > 0:
            text, position = _quoted(rest, start + 1)
        else:
            stop = rest.find(";", start)
            position = stop if stop >= 0 else len(rest)
            text = rest[start:position].strip().removeprefix('"')  # a quote that is never closed
        pairs.append((name, text))
    return pairs


def _quoted(rest: str, start: int) -> tuple[str, int]:
    """(text of the quoted string that begins at `start`, offset after its closing quote)."""
    stop = rest.find('"', start)
    while rest[stop - 1] == "\\" and stop > 0:
        stop = rest.find('"', stop + 1)
    stop = stop if stop > 0 else len(rest)
    return rest[start:stop].replace('\\"', '"').replace("\\\\", "\\"), stop + 1


def _without_comments(value: str) -> str:
    """The value without (comments); a parenthesis inside a word or quotes is not a comment."""
    kept: list[str] = []
    depth = 0
    is_quoted = False
    before = " "
    for character in value:
        if depth:
            depth += (character == "(") - (character == ")")
            character = " "
        elif character == "(" and not is_quoted and before in " \t;":
            depth = 1
        else:
            is_quoted ^= character == '"'
            kept.append(character)
        before = character
    return "".join(kept)


def _merged(pairs: list[tuple[str, str]], allowance: Allowance) -> dict[str, str]:
    """RFC 2231: plain parameters, extended ones (name*) and continuations (name*0, name*1*)."""
    plain: dict[str, str] = {}
    extended: dict[str, dict[int, tuple[bool, str]]] = {}
    for name, text in pairs:
        base, star, number = name.partition("*")
        if not star:
            plain.setdefault(base, text)
            continue
        is_encoded = number == "" or number.endswith("*")
        digits = number.rstrip("*") or "0"
        if digits.isascii() and digits.isdigit() and len(digits) < 5:
            extended.setdefault(base, {}).setdefault(int(digits), (is_encoded, text))
        else:
            allowance.note("bad-parameter")
    for base, pieces in extended.items():
        plain[base] = _decode_extended(pieces, allowance)
    return plain


def _decode_extended(pieces: dict[int, tuple[bool, str]], allowance: Allowance) -> str:
    """The parameter in UTF-8, as its bytes would be without an encoding."""
    from nbspam.mail.charset import decode
    from nbspam.mail.transfer import percent_decoded  # few messages have such a parameter

    charset = ""
    chunks: list[bytes] = []
    for number in sorted(pieces):
        is_encoded, text = pieces[number]
        if not chunks and is_encoded and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        chunk = text.encode("latin-1")
        chunks.append(percent_decoded(chunk) if is_encoded else chunk)
    text = decode(b"".join(chunks), charset.lower(), allowance)[0]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("latin-1")
