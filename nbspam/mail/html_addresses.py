"""Where the addresses of a page lead that names a base for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Html

MAX_BASED = 1_000  # links, and images, of a page with a base; each may be as long as the base


def rebase(html: Html, base: str) -> None:
    """Make the addresses of links and images whole; those beyond the bound go."""
    html.links = [(absolute(target, base), text) for target, text in html.links[:MAX_BASED]]
    html.images = [absolute(source, base) for source in html.images[:MAX_BASED]]


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
