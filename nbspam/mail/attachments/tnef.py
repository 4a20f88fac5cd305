"""TNEF, the winmail.dat of Outlook: text and files in it; its text as compressed RTF is not read.

Source: [MS-OXTNEF], 2.1.3; [MS-OXPROPS] for the numbers of properties.
"""

from nbspam.limits import MAX_UU_BLOCKS
from nbspam.mail.attachments.archive import read_number
from nbspam.mail.charset import decode_with, look_up_codec

_BODY, _FILE, _NAME, _CONTENTS = 0x2800C, 0x69002, 0x18010, 0x6800F  # attributes; _FILE begins a file
_CODE_PAGE = 0x69007  # of all text but that of Unicode and HTML
_PROPERTIES = (0x69003, 0x69005)  # attributes that hold them, of the message and of a file
_TEXT, _HTML, _LONG_NAME = b"\x00\x10", b"\x13\x10", b"\x07\x37"
_UTF_16, *_OTHER_KINDS = b"\x1f\0", b"\x1e\0", b"\x02\x01"


def read_tnef(payload: bytes) -> tuple[str, bytes, list[tuple[bytes, bytes]]]:
    """(type of the text, text, [(file name, contents)]); text and names are UTF-8 or of unknown charset."""
    message: dict[int, bytes] = {}
    scopes = [message]  # attributes of the message, then of each file
    at = 6
    while at < len(payload) and len(scopes) <= MAX_UU_BLOCKS:
        attribute, size = read_number(payload, at + 1, 4), read_number(payload, at + 5, 4)
        if attribute == _FILE:
            scopes.append({})
        scopes[-1][attribute] = payload[at + 9 : at + 9 + size]
        at += size + 11
    codec = look_up_codec(f"cp{read_number(message.get(_CODE_PAGE, b''), 0, 4)}")
    html = _find_text(message, _HTML)
    text = html or _find_text(message, _TEXT, _BODY, codec)
    files = [(_find_text(file, _LONG_NAME, _NAME, codec), file.get(_CONTENTS, b"")) for file in scopes[1:]]
    return "text/html" if html else "text/plain", text, files


def _find_text(scope: dict[int, bytes], number: bytes, attribute: int = 0, codec: str = "") -> bytes:
    """The value of a property: after kind, number, how many values, and length; or else of an attribute.

    codec : of a value that is not UTF-16, if that is known
    """
    value = scope.get(attribute, b"")
    properties = b"".join([scope.get(each, b"") for each in _PROPERTIES])
    for kind in (_UTF_16, *_OTHER_KINDS):
        at = properties.find(kind + number)
        if at >= 0:
            value = properties[at + 12 : at + 12 + read_number(properties, at + 8, 4)]
            if kind == _UTF_16:
                return value.decode("utf-16-le", "replace").encode().rstrip(b"\0")
            break
    return (decode_with(codec, value).encode() if codec else value).rstrip(b"\0")
