"""Pages that were saved as a document (MHTML): the payload of a part to the message that it is.

Hides how such a file is told: by its first line, as Word and Excel do whatever the name of the file says.
"""

from __future__ import annotations

from nbspam.mail.limits import Allowance
from nbspam.mail.message import name_on_windows
from nbspam.mail.transfer import decode_transfer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.leaf import Entity

_BEGIN = b"mime-version:"
_HEAD = 4_000  # bytes of a payload in which it begins, behind white space
_TYPES = ("word", "excel", "rtf")  # are in the names of types that Word and Excel open
_ENDINGS = (".doc", ".dot", ".rtf", ".xls", ".xlt", ".docm", ".dotm", ".xlsm")
_IDENTITY = frozenset(("", "7bit", "8bit", "binary"))


def saved_page(entity: Entity, payload: bytes, allowance: Allowance) -> bytes:
    """The message in a part that Word or Excel opens; b"" if it is something else."""
    is_opened = name_on_windows(entity.filename).endswith(_ENDINGS)
    if not is_opened and not any(name in entity.content_type for name in _TYPES):
        return b""
    encoded = entity.encoding not in _IDENTITY
    head = payload[:_HEAD]
    if encoded:
        head = decode_transfer(head, entity.encoding, Allowance())
    if not head.lstrip().lower().startswith(_BEGIN):
        return b""
    return (decode_transfer(payload, entity.encoding, allowance) if encoded else payload).lstrip()
