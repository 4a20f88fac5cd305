"""Why bytes are no message, or one that its reader has deleted or not sent: by what they begin with.

A message has a field that is known from mail; most of what programs keep next to mail has none.
"""

import csv
import re
from typing import BinaryIO

from nbspam import corpus
from nbspam.corpus.folder_names import DRAFTS, JUNK, OTHER, OUTBOX, SENT, TRASH, find_kind
from nbspam.corpus.item import detect_packing, find_emlx
from nbspam.limits import Allowance
from nbspam.mail.encoded_words import decode_words
from nbspam.mail.headers import has_known_field

NO_MAIL = "no mail, but a program, an image, an index or another document"
NO_HEADER = "no mail, but text without a known header field"
EMPTY = "empty file"
INTERNAL = "internal message of a mail program"
DELETED = "deleted"
DRAFT = "draft"
ENCRYPTED = "encrypted by Dovecot"
DBOX = "no mail that can be read: dbox of Dovecot"
GUIDS = "no names of folders: they are in the index of Dovecot (LAYOUT=index)"
CYRUS = "no mail that can be read: spool of Cyrus"
PROTON = "metadata of Proton, which says what is spam"
_PST, _MSG, _OLM = (f"no mail that can be read: {name} of Outlook" for name in (".pst", ".msg", ".olm"))
# What to do with stores that nbspam does not read.
EXPORTS = {
    ENCRYPTED: "doveadm -o plugin/mail_crypt_save_version=0 -o plugin/zlib_save="
    " backup -u USER maildir:/tmp/out:LAYOUT=fs",
    **dict.fromkeys((DBOX, GUIDS), "doveadm backup -u USER maildir:/tmp/out:LAYOUT=fs"),
    CYRUS: "fetch the mail by IMAP, for example with mbsync",
    PROTON: "make an index of it: docs/mail-programs.md, Proton Mail, has the lines for it",
    _PST: "mkdir out && readpst -r -t e -o out FILE.pst && nbspam train out",
    _MSG: "fetch the mail by IMAP, for example with Thunderbird, or save it as .eml",
    _OLM: "fetch the mail by IMAP, for example with Thunderbird",
}
_STORE_STARTS = {corpus.CRYPTED: ENCRYPTED, corpus.DBOX: DBOX, corpus.PST: _PST, corpus.MSG: _MSG}
_OTHER_STARTS = (b"#!", b"%PDF-", b"\xff\xd8\xff")  # of programs and documents
_DECIDING_BYTES = 4096
_FIELDS = re.compile(
    rb"(?im)^(X-Mozilla-Status2?|Status|X-Status|X-IMAP|X-Gmail-Labels):[ \t]*(.*(?:\n[ \t].*)*)"
)
_PLIST_FLAGS = re.compile(rb"<key>flags</key>\s*<integer>(\d+)")
# A message that has several of these labels is in the first.
_ROLES = (TRASH, JUNK, DRAFTS, OUTBOX, SENT, OTHER)


def explain_no_mail(head: bytes, may_be_text: bool = False) -> str:
    """Why a file that begins with `head` is no mail; '' if it is.

    may_be_text : text without a header is mail, too
    """
    if not head.strip():
        return EMPTY
    if head.startswith(tuple(_STORE_STARTS)):
        return next(reason for start, reason in _STORE_STARTS.items() if head.startswith(start))
    if head.startswith(b"PK\3\4") and b"com.microsoft.__" in head[:200]:
        return _OLM
    if packing := detect_packing(head):
        return f"packed with {packing}, which nbspam does not read"
    if head.startswith(b"ustar", 257):
        return "packed with tar, which nbspam does not read"
    if find_emlx(head) or has_known_field(head[:_DECIDING_BYTES]):
        return ""
    if head.startswith(_OTHER_STARTS) or b"\0" in head[:_DECIDING_BYTES]:
        return NO_MAIL
    return "" if may_be_text else NO_HEADER


def read_notes(head: bytes) -> dict[str, str]:
    """What programs noted in the header of a message that begins with `head`, by name in small letters."""
    header = head.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return {name.decode().lower(): value.decode("latin-1") for name, value in _FIELDS.findall(header)}


def explain_state(notes: dict[str, str], in_mbox: bool) -> str:
    """DELETED, DRAFT or INTERNAL if the notes of a message say so, else ''.

    in_mbox : believe the notes that only programs for an mbox write
    Sources: mozilla/releases-comm-central mailnews/base/public/nsMsgMessageFlags.idl; alpine's tech-notes.
    """
    if _has_bit(notes.get("x-mozilla-status", ""), 0x0008):
        return DELETED
    if _has_bit(notes.get("x-mozilla-status2", ""), 0x00200000):
        return DELETED
    if not in_mbox:
        return ""
    if "x-imap" in notes:
        return INTERNAL
    flags = [notes.get(name, "").strip() for name in ("status", "x-status")]
    known = "".join(letters for letters in flags if set(letters) <= set("RONUADFT"))
    if "D" in known:
        return DELETED
    return DRAFT if "T" in known else ""


def _has_bit(number: str, bit: int) -> bool:
    try:
        return bool(int(number, 16) & bit)
    except ValueError:
        return False


def read_emlx_flags(file: BinaryIO, head: bytes) -> int:
    """The flags in the property list of a file of Apple Mail; 0 without one.

    head : what it begins with
    Source: mikez/emlx emlx/emlx.py.
    """
    span = find_emlx(head)
    if not span:
        return 0
    file.seek(span[1])
    match = _PLIST_FLAGS.search(file.read(_DECIDING_BYTES))
    return int(match[1]) if match else 0


def explain_emlx(flags: int) -> str:
    """DELETED or DRAFT if the flags of a file of Apple Mail say so, else ''."""
    if flags & 2:
        return DELETED
    return DRAFT if flags & 64 else ""


def find_role(labels: str) -> str:
    """JUNK, TRASH ... of a message by its field X-Gmail-Labels; '' if no label says it.

    The field is encoded as a whole, and then is a line of CSV.
    """
    text = decode_words(re.sub(r"\s*\n\s*", " ", labels), Allowance())
    kinds = {find_kind(label.strip()) for row in csv.reader([text]) for label in row}
    return next((role for role in _ROLES if role in kinds), "")
