"""Where the pictures of a style or a sheet are: those of grounds, of list marks and their like.

Hides how CSS writes an address.  Loaded when a mail has one: pages that are one picture lay it under a link.
"""

from __future__ import annotations

MAX_PICTURES = 50  # of a style or a sheet
MAX_ADDRESS = 4_096  # characters of one that are looked at; that of a picture within the mail may be long


def pictures(css: str) -> list[str]:
    """Addresses in url(), as they are written; not those of fonts, of other sheets, of places in the page."""
    lower = css.lower()
    if len(lower) != len(css):  # a letter that is two in lower case
        css = lower
    found: list[str] = []
    name, end = "", 0
    for _ in range(MAX_PICTURES):
        place = lower.find("url(", end)
        if place < 0:
            break
        begin = max(lower.rfind(sign, end, place) for sign in "{};") + 1
        if begin > end or not end:  # a declaration begins; other addresses may follow in it
            name = lower[begin:place].partition(":")[0]
        address, end = _address(css, place + 4)
        if address and address[0] != "#" and "@" not in name and name.split()[-1:] != ["src"]:
            found.append(address)
    return found


def _address(css: str, start: int) -> tuple[str, int]:
    """The address that begins behind a bracket, and where it ends."""
    inside = css[start : start + MAX_ADDRESS]
    text = inside.lstrip()
    quote = text[:1] if text[:1] in ("'", '"') else ""
    text = text[len(quote) :]
    address = text.partition(quote or ")")[0]
    return address.strip(), start + len(inside) - len(text) + len(address)
