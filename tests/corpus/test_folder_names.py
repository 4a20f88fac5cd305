"""Every name of tables/folders.txt is recognised in each spelling that programs and people give it."""

import base64
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.corpus.folder_names import COPIES, OTHER, UNCLEAR, decode_name, find_kind, is_inbox, recognise
from nbspam.corpus.trees import clean_name
from nbspam.tables import read_table
from tests.mail_trees import Tree, lay_out
from tests.tiny_mail import program

TABLE = read_table("folders")
KINDS = ("junk", "trash", "drafts", "sent", "outbox", "templates")


def names(part: str) -> list[str]:
    return " ".join(TABLE[part]).split(", ")


def encode(name: str) -> str:
    """A name in modified UTF-7 (RFC 3501, section 5.1.3)."""

    def code_of(text: re.Match[str]) -> str:
        code = base64.b64encode(text[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
        return f"&{code}-"

    return re.sub("[^ -~]+", code_of, name.replace("&", "&-"))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "composed": lambda name: unicodedata.normalize("NFC", name),
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "capitals": lambda name: name.upper().replace("SS", "ß") if "ß" in name else name.upper(),
    "title": str.title,
    "on a server": lambda name: decode_name(encode(name)),
    "in a Maildir++": lambda name: clean_name("." + encode(unicodedata.normalize("NFD", name))),
    "in Thunderbird": lambda name: clean_name(unicodedata.normalize("NFD", name) + ".sbd"),
    "hyphens": lambda name: name.replace(" ", "-"),
    "underscores": lambda name: name.replace(" ", "_").replace("-", "_"),
    "directions": lambda name: f"\u200f{name}\u200e",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_every_name_has_its_kind_in_every_spelling(spelling: Callable[[str], str]) -> None:
    wrong = [
        (name, kind)
        for kind in KINDS
        for name in names(kind)
        if not recognise(spelling(name)) == recognise(f"{spelling(name)} 2024") == kind
    ]
    assert not wrong
    assert {find_kind(spelling(name)) for name in names("other")} == {OTHER}
    assert {recognise(f"[Gmail]/{spelling(name)}") for name in names("copies")} == {COPIES}


def test_every_inbox_is_one_in_every_spelling() -> None:
    for spell in SPELLINGS.values():
        assert [name for name in names("inbox") if not is_inbox(spell(name))] == []


@pytest.mark.parametrize(
    "name",
    [
        "01 {}",
        "99-{}",
        "1. {}",
        "\u2460{}",
        "\U0001f5d1\ufe0f {}",
        "{}\U0001f6ab",
        "_{}_",
        "INBOX_{}",
        "{} (3)",
    ],
)
def test_numbers_and_pictures_around_a_name_say_nothing(name: str) -> None:
    assert [find_kind(name.format(kind)) for kind in KINDS] == [*KINDS]
    assert [recognise(name.format(word)) for word in ("Work", "No spam", "Spam?")] == ["", UNCLEAR, UNCLEAR]


@pytest.mark.parametrize(
    ("name", "charset", "kind"),
    [
        ("Courrier ind\u00e9sirable", "latin-1", "junk"),
        ("Entw\u00fcrfe", "cp850", "drafts"),
        ("\u0421\u043f\u0430\u043c", "cp1251", "junk"),
        ("\u041a\u043e\u0440\u0437\u0438\u043d\u0430", "koi8-r", "trash"),
        ("\u5783\u573e\u90ae\u4ef6", "gbk", "junk"),
        ("\u8ff7\u60d1\u30e1\u30fc\u30eb", "cp932", "junk"),
        ("Stra\u00dfe", "latin-1", ""),
    ],
)
def test_name_in_an_old_charset_is_read(name: str, charset: str, kind: str) -> None:
    read = clean_name("." + os.fsdecode(name.encode(charset)))
    assert (read, recognise(read)) == (name, kind)


def test_no_name_has_two_kinds() -> None:
    wrong = [(kind, name) for kind in (*KINDS, "other") for name in names(kind) if is_inbox(name)]
    assert not wrong
    assert [name for kind in KINDS for name in names(kind) if find_kind(name) != kind] == []


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_name_around_a_name_of_junk_is_never_ham(spelling: Callable[[str], str]) -> None:
    hidden = [name for name in names("junk") if recognise(f"zx {spelling(name)} zx") == ""]
    hidden += [name for name in names("smells") if recognise(spelling(f"{name} zx")) == ""]
    assert not hidden
    doubtful = [word for word in TABLE["doubts"] if recognise(f"Spam/{spelling(word)}") != UNCLEAR]
    assert not doubtful


def test_deleted_mailboxes_of_mailcow_are_trash(tmp_path: Path) -> None:
    rows = [
        ["pond.example/ann/Maildir", "maildir", "2 ham"],
        ["pond.example/ann/Maildir/.Junk", "maildir", "2 spam"],
        ["_garbage/1612_ann/Maildir", "maildir", "1 trash"],
        ["_garbage/1612_ann/Maildir/.Junk", "maildir", "1 trash"],
        ["_garbage/1613_bob", "maildir", "1 trash"],
        ["_garbage/1613_bob/.Work", "maildir", "1 trash"],
    ]
    lay_out(tmp_path, Tree("", "", rows))
    done = program("train", tmp_path, "-m", f"{tmp_path}.nbspam")
    assert b"Trained on 4 messages (2 ham, 2 spam)" in done.stdout + done.stderr
