"""Scripts of a page -> tokens of the structure view.

Hides which of their words come again: what hides a script from filters names all things anew each time.
What a script writes in another form, so that nobody reads it before a browser does, is read as well.
"""

from __future__ import annotations

from nbspam.mail.transfer import base64_run
from nbspam.tokens.odd_urls import unescaped
from nbspam.tokens.urls import inner_hosts

MAX_SCRIPT_WORDS = 200  # other ones of all scripts of a page
MAX_NAME = 40
MIN_RUN = 24  # characters of one of base64, or of hexadecimal digits, that is decoded
MIN_NUMBERS = 10  # of a list that is taken for letters
MAX_LAYERS = 2  # one form in another
MAX_WRITTEN = 200_000  # characters of a layer in which other forms are looked for
# What is base64, or part of a name, in a script stays together; all else parts words.
_SCRIPT = (
    bytes(ord(chr(c).lower()) if chr(c).isalnum() or c in b"_$+/" else 32 for c in range(128)) + b" " * 128
)
_BASE64 = bytes(c if chr(c).isalnum() or c in b"+/" else 32 for c in range(128)) + b" " * 128
_DIGITS = b"0123456789abcdefABCDEF"
_HEX = frozenset(_DIGITS.decode("ascii"))
_WHITE = dict.fromkeys(map(ord, "\t\r\n"))


def script_tokens(script: str) -> list[str]:
    """What a page does in a browser, and where it leads to: its words, and the hosts of the addresses in it.

    Words with a digit are left out.
    """
    layers = [script]
    while len(layers) <= MAX_LAYERS and (inside := _written_otherwise(layers[-1])):
        layers.append(inside)
    names: dict[str, None] = {}
    hosts: list[str] = []
    for layer in layers:
        spaced = layer.encode("ascii", "replace").translate(_SCRIPT).decode("ascii")
        names |= dict.fromkeys(
            [word for word in spaced.split() if word.isalpha() and 2 < len(word) <= MAX_NAME]
        )
        hosts.extend([host for host in inner_hosts(layer) if host not in hosts])
    return [*("script=" + name for name in list(names)[:MAX_SCRIPT_WORDS]), *hosts]


def _written_otherwise(script: str) -> str:
    """What stands in a script as escapes, numbers, base64, in pieces or from its end; "" if nothing does."""
    script = script[:MAX_WRITTEN]
    found = []
    if "\\x" in script or "\\u" in script:
        found.append(_without_escapes(script))
    if "unescape(" in script or "decodeURI" in script:
        found.append(unescaped(script))
    if "fromCharCode" in script:
        found.extend([_from_numbers(piece.partition(")")[0]) for piece in script.split("fromCharCode(")[1:]])
        lists = [piece.partition("]")[0] for piece in script.split("[")[1:]]
        lists = [numbers for numbers in lists if numbers.count(",") >= MIN_NUMBERS - 1]
        found.extend(filter(_is_text, map(_from_numbers, lists)))
    found.extend(_from_runs(script))
    pieces = script.replace(" +", "+").replace("+ ", "+") if "+" in script else ""
    if "'+'" in pieces or '"+"' in pieces:
        found.append(pieces.replace("'+'", "").replace('"+"', ""))
    if "//:" in script:  # .split("").reverse()
        found.append(script[::-1])
    return "\n".join(found)


def _without_escapes(script: str) -> str:
    """The script with \\x41, \\u0041 and \\u{41} as letters."""
    for mark, size in (("\\x", 2), ("\\u", 4)):
        first, *pieces = script.split(mark)
        letters = [first]
        for piece in pieces:
            digits, behind = piece[:size], piece[size:]
            if piece[:1] == "{":
                digits, _, behind = piece[1:].partition("}")
            is_number = 0 < len(digits) <= 6 and _HEX.issuperset(digits)
            letters.append(_letter(int(digits, 16)) + behind if is_number else mark + piece)
        script = "".join(letters)
    return script


def _from_numbers(text: str) -> str:
    """The letters of a list of numbers: 104,0x74,116,112."""
    numbers = [number.strip().lower() for number in text.split(",")]
    return "".join([_letter(_value(number)) for number in numbers if 0 < len(number) < 8])


def _value(number: str) -> int:
    """A number as scripts write it; -1 for what is none."""
    if number.startswith("0x"):
        return int(number[2:], 16) if _HEX.issuperset(number[2:]) and number[2:] else -1
    return int(number) if number.isdecimal() else -1


def _letter(number: int) -> str:
    """The character of a number; "?" for one that is none, or half of one."""
    return chr(number) if 0 <= number < 0xD800 or 0xDFFF < number < 0x110000 else "?"


def _is_text(letters: str) -> bool:
    return letters.translate(_WHITE).isprintable()


def _from_runs(script: str) -> list[str]:
    """The texts in base64 or in hexadecimal digits: what decodes to UTF-8 without control characters."""
    if max(map(len, script.split()), default=0) < MIN_RUN:
        return []
    spaced = script.encode("ascii", "replace").translate(_BASE64)
    found = []
    for run in [run for run in spaced.split() if len(run) >= MIN_RUN]:
        payload = base64_run(run)
        if not run.translate(None, _DIGITS) and not len(run) % 2:
            payload = bytes.fromhex(run.decode("ascii"))
        try:
            text = payload.decode()
        except UnicodeDecodeError as error:
            if error.start < len(payload) - 3:  # else a letter that is cut off
                continue
            text = payload[: error.start].decode()
        if _is_text(text):
            found.append(text)
    return found
