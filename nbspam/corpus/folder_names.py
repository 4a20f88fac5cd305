"""What mail programs call their folders of junk, trash, drafts and sent mail, in more than 60 languages.

The names are in tables/folders.txt.  They and the name of a folder are compared in one spelling: without
case, accents, hyphens and marks that nobody sees.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from functools import cache

from nbspam.tables import read_table

JUNK, TRASH, DRAFTS, SENT, OUTBOX, TEMPLATES = "junk", "trash", "drafts", "sent", "outbox", "templates"
OTHER = "chats or feeds"
COPIES = "copies of mail in other folders"  # All Mail, Important and Starred of Gmail; All Mail of Proton
UNCLEAR = "unclear"  # perhaps junk
ROLES = (TRASH, SENT, DRAFTS, OUTBOX)  # no class has such a name
_NAMED_KINDS = {kind: kind for kind in (JUNK, TRASH, DRAFTS, SENT, OUTBOX, TEMPLATES)} | {"other": OTHER}
_TABLE = read_table("folders")
_ALL_MAIL = "all mail"  # of Proton, which has spam in it, too
_GMAIL = ("[gmail]", "[google mail]")
GUID = "[0-9a-f]{32}"  # the name of a folder on the disk with LAYOUT=index of Dovecot
_UNSEEN = ("Mn", "Cf")  # categories of Unicode: accents, joiners and directions
# What programs and people add to a name: numbers and pictures, but nothing that may say no; a date, a number,
# the hash of Thunderbird.
_SIGNS = re.compile(r"^([^\w!?]|\d|inbox )+|[ *-/:->@\[-`{-~\u2000-\u2bff\U0001f000-\U0001faff]+$")
_ADDED = re.compile(r"( ?(\d+|\(\d+\)| (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))+$|[0-9a-f]{8}$")


def normalise(name: str) -> str:
    """A name without what differs from program to program: case, accents, hyphens and blanks."""
    words = re.sub("[-_\u2010-\u2015'\u2019\u02bc\u200c]", " ", name)
    letters = unicodedata.normalize("NFKD", words.casefold().replace("\u0131", "i"))  # of YILDIZLI, too
    kept = "".join(letter for letter in letters if unicodedata.category(letter) not in _UNSEEN)
    return " ".join(unicodedata.normalize("NFC", kept).split())


def list_names(part: str) -> list[str]:
    """The names in a part of the table, as compared."""
    return [normalise(name) for name in " ".join(_TABLE[part]).split(", ")]


# What is asked of names: found once, in 15 ms, and most commands meet no name.
@cache
def _spell_kinds() -> dict[str, str]:
    return {name: kind for part, kind in _NAMED_KINDS.items() for name in list_names(part)}


@cache
def _spell(part: str) -> frozenset[str]:
    return frozenset(list_names(part))


@cache
def _spell_doubts() -> frozenset[str]:
    return frozenset(normalise(" ".join(_TABLE["doubts"])).split())


@cache
def _spell_smells() -> re.Pattern[str]:
    names = [*list_names("smells"), *list_names(JUNK)]
    return re.compile("|".join([*map(re.escape, names), rf"(^|[./]){GUID}$"]))


def find_kind(name: str) -> str:
    """JUNK, TRASH ... of a name that is known as a whole; '' of any other."""
    key = normalise(name)
    kinds = _spell_kinds()
    return kinds.get(key) or kinds.get(_ADDED.sub("", _SIGNS.sub("", key)), "")


def is_inbox(name: str) -> bool:
    """True for the folder that an account has, and no other folder."""
    key = normalise(name)
    return not _spell("inbox").isdisjoint([key, _SIGNS.sub("", key)])


def recognise(name: str) -> str:
    """JUNK, TRASH ... of a mail folder, or of a folder around it; '' if no name says it.

    name : decoded, parts between `.` or `/`
    UNCLEAR is the kind of a name that looks like junk, but is not known, or may be ham, and of a GUID.
    """
    parts = re.split("[./]", name)
    keys = [normalise(part) for part in parts]
    for root in _GMAIL:
        if root in keys and not _spell("copies").isdisjoint(keys[keys.index(root) :]):
            return COPIES
    if _ALL_MAIL in keys:
        return COPIES
    kinds = [find_kind(part) for part in parts]
    others = [kind for kind in kinds if kind not in ("", JUNK)]
    if others:
        return others[0]  # junk that was deleted is trash
    unknown = [part for part, kind in zip(parts, kinds, strict=True) if not kind]
    words = {word for part in unknown for word in _split_words(part)}
    if JUNK in kinds:
        return JUNK if words.isdisjoint(_spell_doubts()) else UNCLEAR
    return UNCLEAR if _spell_smells().search(normalise(name)) else ""


def _split_words(name: str) -> list[str]:
    """The words of a name, also those of `NotJunk`."""
    return normalise(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).split()


def decode_name(name: str) -> str:
    """The name of a mail folder as people read it: `Entw&APw-rfe` is Entwürfe.

    Source: RFC 3501, section 5.1.3 (modified UTF-7).  Other text stays.  A name that is no UTF-8 is read in
    the first old charset in which it is known.
    """
    if re.search("[\udc80-\udcff]", name):
        raw = name.encode("utf-8", "surrogateescape")
        texts = [raw.decode(charset, "replace") for charset in _TABLE["charsets"]]
        name = next(filter(find_kind, texts), texts[0])

    def text_of(code: re.Match[str]) -> str:
        padded = code[1].replace(",", "/") + "=" * (-len(code[1]) % 4)
        try:
            return b64decode(padded, validate=True).decode("utf-16-be") if code[1] else "&"
        except (Error, UnicodeDecodeError):
            return code[0]

    return re.sub("&([A-Za-z0-9+,]*)-", text_of, name)
