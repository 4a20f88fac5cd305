"""What a tag does in a browser: handlers of events, scripts and pages in addresses, values for scripts.

Hides in which attributes these stand, and how a page is written into an address (RFC 2397).  Who opens an
attached SVG or page is led on by these as often as by a `script`.
"""

from __future__ import annotations

from nbspam.mail.html.entities import decode
from nbspam.mail.transfer import percent_decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_KEPT = 24  # characters of a value that is kept for a script
MAX_KEPT = 1_000  # values
_SCRIPTS = ("javascript", "vbscript")
# What begins the content of `data:` that is no page and no script.
_PASSIVE = ("image/", "font/", "audio/", "video/")
_QUOTES = "\"'"
_SIGNS = str.maketrans("", "", "+/=-_")  # of base64, beside letters and digits


def acts(attributes: dict[str, str], addresses: Iterable[str]) -> str:
    """The scripts and pages in the attributes of a tag and its addresses, one a line; "" for none."""
    found = [decode(text, True) for name, text in attributes.items() if name[:2] == "on" or name == "srcdoc"]
    found.extend(map(_inside, addresses))
    return "\n".join([text for text in found if text])


def _inside(address: str) -> str:
    """The script or page that an address is, still in base64 if it was; "" if it is a place."""
    scheme, _, rest = address.partition(":")
    scheme = scheme.lower()
    if scheme == "data":
        kind, _, rest = rest.partition(",")
        kind = kind.strip().lower()
        if kind.startswith(_PASSIVE) and not kind.startswith("image/svg"):
            return ""
    elif scheme not in _SCRIPTS:
        return ""
    return percent_decoded(rest.encode("utf-8", "replace")).decode("utf-8", "replace")


def kept_for_scripts(page: str) -> list[str]:
    """What only scripts read: values in base64 of attributes `data-…` and of hidden fields."""
    found: list[str] = []
    for piece in page.split("<"):
        tag = piece.partition(">")[0]
        lower = tag.lower()
        if "data-" not in lower and "hidden" not in lower:
            continue
        names = ("data-", "value=") if "hidden" in lower else ("data-",)
        words = [word.partition("=")[2] for word in tag.split() if word.lower().startswith(names)]
        found.extend(filter(_may_be_base64, [word.strip(_QUOTES) for word in words]))
        if len(found) >= MAX_KEPT:
            break
    return found[:MAX_KEPT]


def _may_be_base64(value: str) -> bool:
    letters = value.translate(_SIGNS)
    return len(value) >= MIN_KEPT and letters.isalnum() and letters.isascii()
