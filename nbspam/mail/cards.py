"""Calendars (iCalendar) and cards (vCard 2.1 to 4): the values that people see.

Real files are folded wrongly or cut off: a line without the form of a property belongs to the value before.
Source: RFC 5545, 3.1, 3.2, 3.3.11 and 3.8; RFC 7986, 5; RFC 6350, 3.2 to 3.4 and 6; vCard 2.1, 2.1.
"""

import re
from collections.abc import Iterator

from nbspam.limits import Allowance
from nbspam.mail.charset import decode
from nbspam.mail.transfer import decode_transfer
from nbspam.tables import read_table

_SHOWN = frozenset(read_table("kinds")["card"])
_ENVELOPE = re.compile(r"^[ \t]*(?:BEGIN|END):V", re.IGNORECASE | re.MULTILINE)
_PROPERTY = re.compile(
    r"""(?:[A-Z0-9-]{1,60}\.)?([A-Z][A-Z0-9-]{0,60})((?:;(?:[^":]|"[^"]*"|:(?=//))*)?):(.*)""",
    re.IGNORECASE | re.ASCII,
)
_PERSON = re.compile(r';CN=(?:"([^"]*)|([^";]*))', re.IGNORECASE)
_ENCODING = re.compile(r";(?:ENCODING=)?(?:(QUOTED-PRINTABLE)|BASE64|B)(?:;|$)", re.IGNORECASE)
_CHARSET = re.compile(r';CHARSET="?([^";]*)', re.IGNORECASE)
_MARKUP = re.compile(
    r"</?(?:html|body|p|br|a|b|i|u|em|strong|div|span|font|img|table|ul|ol|li|h[1-6]|pre|blockquote|html-blob)(?:[\s/][^<>]*)?>"
    r"|&(?:[a-z]{2,8}|#[0-9]{1,7});",
    re.IGNORECASE,
)
_FOLDED_SOFT = re.compile(r"=\n[ \t]")
_ESCAPED = re.compile(r"\\([nN,;:\\])")


def read_card(text: str, allowance: Allowance) -> tuple[str, bool]:
    """(the values that people see, True if they are HTML) of a calendar or card; any other text as it is."""
    if not _ENVELOPE.search(text):
        return text, False
    plain: list[str] = []
    pages: list[str] = []
    is_alarm = False
    properties = list(_split_properties(text))
    has_name = any(name == "FN" for name, _, _ in properties)
    for name, parameters, value in properties:
        if name in ("BEGIN", "END"):
            is_alarm = name == "BEGIN" and value.strip().upper() == "VALARM"
        if is_alarm:
            continue
        if name == "ORGANIZER" and (person := _PERSON.search(parameters)):
            plain.append(person[1] or person[2])
        if name == "N" and not has_name:
            plain.append(" ".join(reversed(_decode_value(parameters, value, allowance).split(";"))))
        if name in _SHOWN or (name == "ATTACH" and "://" in value):  # a link to a file, not the file
            shown = _decode_value(parameters, value, allowance)
            (pages if _MARKUP.search(shown) else plain).append(shown)
    joined = "\n".join(plain)
    if not pages:
        return joined, False
    joined = joined.replace("&", "&amp;").replace("<", "&lt;")
    return "\n".join([f"<p>{joined}</p>", *pages]), True  # first, for a page may lack its end


def _split_properties(text: str) -> Iterator[tuple[str, str, str]]:
    """(name in capitals, parameters, value as written) of each property."""
    name = parameters = ""
    lines: list[str] = []
    is_coded = False
    text = text.replace("\r\n", "\n")
    if "QUOTED-PRINTABLE" in text.upper():
        text = _FOLDED_SOFT.sub("=20", text)  # vCard 2.1, 2.1.3: the blank of a folded line counts
    for line in text.replace("\n ", "").replace("\n\t", "").split("\n"):
        is_soft = is_coded and lines[-1].endswith("=")  # RFC 2045, 6.7: the value goes on
        match = None if is_soft else _PROPERTY.match(line) or _PROPERTY.match(line.replace('"', ""))
        if match and (match[1].upper() in _SHOWN or _is_property(match[1], match[3])):
            yield name, parameters, "\n".join(lines)
            name, parameters, lines = match[1].upper(), match[2], [match[3]]
            is_coded = "QUOTED-PRINTABLE" in parameters.upper()
        else:
            lines.append(line)
    yield name, parameters, "\n".join(lines)


def _is_property(name: str, value: str) -> bool:
    """False for a sentence as `Place: here`, or an address, in a value that goes on."""
    return not value.startswith("//") and (name.isupper() or value[:1] != " ")


def _decode_value(parameters: str, value: str, allowance: Allowance) -> str:
    if encoding := _ENCODING.search(parameters):
        kind = "quoted-printable" if encoding[1] else "base64"
        payload = decode_transfer(value.encode("utf-8", "replace"), kind, allowance)
        charset = _CHARSET.search(parameters)
        value, _ = decode(payload, charset[1].lower() if charset else "", allowance)
    value = value[7:] if value[:7].lower() == "mailto:" else value
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)
