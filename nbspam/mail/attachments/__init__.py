"""What is in an attached file that is no text: archives, office documents and PDF.

Only the first bytes of a file say what it is.  Everything is read in linear time within the bounds of
nbspam.mail.limits, and nothing raises, whatever the bytes are.
"""

from __future__ import annotations

from nbspam.mail.message import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

ZIP, PDF, OLE = b"PK\x03\x04", b"%PDF", b"\xd0\xcf\x11\xe0"


def read_document(payload: bytes, allowance: Allowance) -> Document:
    """Read a file that begins with ZIP, PDF or OLE; a file of another kind gives an empty Document."""
    document = Document()
    if payload.startswith(ZIP):
        from nbspam.mail.attachments.archive import read_zip

        read_zip(payload, document, allowance)
    elif payload.startswith(OLE):
        from nbspam.mail.attachments.archive import read_ole

        read_ole(payload, document)
    elif payload.startswith(PDF):
        from nbspam.mail.attachments.pdf import read_pdf

        read_pdf(payload, document, allowance)
    return document
