"""Content-Type and Content-Disposition: the value and its parameters.

Hides RFC 2045 syntax as it is really written (no semicolon, no closing quote, comments, doubles:
the first counts) and RFC 2231 (charset, percent signs, continuations).
"""

from __future__ import annotations

from nbspam.mail.limits import MAX_PARAMETER_BYTES, MAX_PARAMETERS
from nbspam.mail.transfer import percent_decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance


def parse_parameters(value: str, allowance: Allowance) -> tuple[str, dict[str, str]]:
    """("text/plain", {"charset": "utf-8"}): lower-case value and names, parameters as they came.

    value : str of Latin-1 code points; what is over MAX_PARAMETER_BYTES is not read
    Returns parameters of Latin-1 code points, too: of UTF-8 where RFC 2231 says how they are written.
    """
    if len(value) > MAX_PARAMETER_BYTES:
        value = value[:MAX_PARAMETER_BYTES]
    if "(" in value:
        value = _without_comments(value)
    head, _, rest = value.partition(";")
    if " / " in head or " /" in head or "/ " in head:
        head = head.replace(" /", "/").replace("/ ", "/")
    words = head.split(None, 1)
    if len(words) > 1 and "=" in words[1]:  # the first semicolon was forgotten
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
        if rest.startswith('"', start):
            text, position = _quoted(rest, start + 1)
        else:
            stop = rest.find(";", start)
            position = stop if stop >= 0 else len(rest)
            text = rest[start:position].strip()
        pairs.append((name, text))
    return pairs


def _quoted(rest: str, start: int) -> tuple[str, int]:
    """(text of a quoted string that begins at `start`, offset behind its closing quote)."""
    stop = rest.find('"', start)
    if stop < 0:  # no closing quote: up to the next parameter
        stop = rest.find(";", start)
        stop = stop if stop >= 0 else len(rest)
        return rest[start:stop].strip(), stop
    text = rest[start:stop]
    if "\\" not in text:
        return text, stop + 1
    characters: list[str] = []
    position = start
    while position < len(rest) and rest[position] != '"':
        if rest[position] == "\\" and rest[position + 1 : position + 2] in ('"', "\\"):
            position += 1
        characters.append(rest[position])
        position += 1
    return "".join(characters), position + 1


def _without_comments(value: str) -> str:
    """The value without (comments); a parenthesis inside a word or quotes is none."""
    kept: list[str] = []
    depth = 0
    quoted = escaped = False
    before = " "
    for character in value:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif depth:
            depth += (character == "(") - (character == ")")
            before = " "
            continue
        elif character == '"':
            quoted = not quoted
        elif character == "(" and not quoted and before in " \t;":
            depth = 1
            continue
        if not depth:
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
        encoded = number == "" or number.endswith("*")
        digits = number.rstrip("*")
        if digits and not (digits.isascii() and digits.isdigit() and len(digits) < 5):
            allowance.note("bad-parameter")
            continue
        # `name*` alone goes before continuations: it is whole.
        pieces = extended.setdefault(base, {})
        pieces.setdefault(int(digits) if digits else -1, (encoded, text))
    for base, pieces in extended.items():
        plain[base] = _decode_extended(pieces, allowance)
    return plain


def _decode_extended(pieces: dict[int, tuple[bool, str]], allowance: Allowance) -> str:
    """The parameter in UTF-8, as its bytes would have come without an encoding."""
    from nbspam.mail.charset import decode

    numbers = [-1] if -1 in pieces else sorted(pieces)
    charset = ""
    chunks: list[bytes] = []
    for place, number in enumerate(numbers):
        encoded, text = pieces[number]
        if place == 0 and encoded and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        chunks.append(percent_decoded(text.encode("latin-1")) if encoded else text.encode("latin-1"))
    text = decode(b"".join(chunks), charset.lower(), allowance)[0]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("latin-1")
