"""Addresses of a page that are not written where they lead from: behind a base, and in comments for Outlook.

Hides how a comment with a condition is read: `<!--[if mso]> ... <![endif]-->` is markup for Outlook and for
Internet Explorer, and a comment for all others.  Its text mostly says again what the others are shown; its
links are where readers with Outlook get to, and they need not be those of the others.
"""

from __future__ import annotations

from nbspam.mail.html.pieces import CONDITION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Html

MAX_BASED = 1_000  # links, and images, of a page with a base; each may be as long as the base


def complete(html: Html, base: str, text: str) -> None:
    """Add the links and images for Outlook alone; with a base make all whole: those beyond the bound go."""
    _add_conditional(html, text)
    if base:
        html.links = [(absolute(target, base), text) for target, text in html.links[:MAX_BASED]]
        html.images = [absolute(source, base) for source in html.images[:MAX_BASED]]


def _add_conditional(html: Html, text: str) -> None:
    from nbspam.mail.html.reader import read_html  # which needs this

    links, images = {target for target, _ in html.links}, set(html.images)
    for piece in text.split(CONDITION)[1:]:
        markup = piece.partition("-->")[0].partition("]>")[2].partition("<![endif")[0]
        if "href" in markup.lower() or "src" in markup.lower():
            inside = read_html(markup)
            html.links += [(target, said) for target, said in inside.links if target not in links]
            html.images += [source for source in inside.images if source not in images]


def absolute(address: str, base: str) -> str:
    """Where an address leads on a page with this `base` (RFC 3986, 5.2, without dot segments)."""
    scheme, colon, rest = base.partition("://")
    if (
        not colon
        or not address
        or address[0] == "#"
        or (address.partition(":")[0].isalpha() and ":" in address)
    ):
        return address
    address = address.replace("\\", "/")
    if address.startswith("//"):
        return f"{scheme}:{address}"
    host, _slash, path = rest.partition("/")
    folder = path.partition("?")[0].partition("#")[0].rpartition("/")[0]
    if address[0] == "/":
        return f"{scheme}://{host}{address}"
    return f"{scheme}://{host}/{folder}{'/' if folder else ''}{address}"
