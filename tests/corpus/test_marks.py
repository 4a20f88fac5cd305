"""Junk that its reader has marked and not moved is spam, wherever the program keeps its marks."""

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.marks import Keywords
from nbspam.store.evolution import find_flags
from tests.mail_trees import PLIST
from tests.tiny_mail import mail, program, run

# Word of a message -> its folder, and what its reader has marked it as.
MAIL = {
    "lunch": ("Inbox", ""),
    "minutes": ("Inbox", "ham"),
    "casino": ("Inbox", "spam"),
    "lottery": ("Inbox", "spam"),
    "pills": ("Junk", ""),
    "watches": ("Junk", "spam"),
    "invoice": ("Junk", "ham"),
}
CLASSES = {"ham": {"lunch", "minutes", "invoice"}, "spam": {"casino", "lottery", "pills", "watches"}}


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def lay_dovecot(top: Path, letters: str = "fbz") -> None:
    """A Maildir whose marks are small letters in the names of files."""
    junk, other, ham = letters
    for folder in ("", ".Junk"):
        for part in ("cur", "new", "tmp"):
            (top / folder / part).mkdir(parents=True)
        table = [(ord(junk) - 97, "$Junk"), (ord(other) - 97, "$Label1"), (ord(ham) - 97, "NonJunk")]
        (top / folder / "dovecot-keywords").write_text("".join(f"{at} {word}\n" for at, word in table))
    marks = {"": other, "spam": junk, "ham": f"{ham}{other}"}
    for word, (folder, mark) in MAIL.items():
        place = top if folder == "Inbox" else top / ".Junk"
        put(place / "cur" / f"1.{word}.here:2,S{marks[mark]}", mail(word))


def lay_courier(top: Path) -> None:
    """The same with the files of Courier: one list, and what has changed since."""
    lay_dovecot(top, "~~~")
    for folder in ("Inbox", "Junk"):
        place = top / ("" if folder == "Inbox" else ".Junk")
        (place / "dovecot-keywords").unlink()
        words = {f"1.{word}.here": mark for word, (at, mark) in MAIL.items() if at == folder}
        (place / "courierimapkeywords").mkdir()
        listed = "".join(f"{name}:{'1 0' if mark == 'spam' else '1'}\n" for name, mark in words.items())
        (place / "courierimapkeywords/:list").write_text(f"$Junk\n$Label1\n\n{listed}")
        for name in (name for name, mark in words.items() if mark == "ham"):
            (place / f"courierimapkeywords/.9.{name}").write_text("Junk\n")
            (place / f"courierimapkeywords/.10.{name}").write_text("$NotJunk\n")
    put(top / "courierimapkeywords/1.minutes.here", b"$NotJunk\n")
    put(top / "courierimapkeywords/.11.1.minutes.here", b"$Junk\n")
    put(top / "courierimapkeywords/.tmp.12.1.lunch.here", b"$Junk\n")


def lay_apple(top: Path) -> None:
    flags = {"": 1, "spam": 1 | 1 << 24, "ham": 1 | 1 << 25 | 1 << 24}
    for number, (word, (folder, mark)) in enumerate(MAIL.items()):
        data = mail(word)
        data = b"%-10d\n%b%b" % (len(data), data, PLIST.format(flags[mark]).encode())
        put(top / f"V10/A0B1C2D3/{folder.upper()}.mbox/C3D4E5F6/Data/Messages/{number}.emlx", data)


def lay_thunderbird(top: Path, newline: bytes = b"\n") -> None:
    keys = {"": " " * 80, "spam": "$label1 Junk" + " " * 70, "ham": "NonJunk" + " " * 70}
    boxes: dict[str, bytes] = {"Inbox": b"", "Junk": b""}
    for word, (folder, mark) in MAIL.items():
        head = "From - Mon Nov  2 10:00:00 2026\nX-Account-Key: account1\nX-Mozilla-Status: 0001\n"
        head += f"X-Mozilla-Status2: 00000000\nX-Mozilla-Keys: {keys[mark]}\n"
        boxes[folder] += (head.encode() + mail(word) + b"\n").replace(b"\n", newline)
    for folder, data in boxes.items():
        put(top / "ab.default/Mail/pop.pond.example" / folder, data)


def lay_evolution(top: Path, is_new: bool = False) -> None:
    """As libcamel 3.46 writes it; the tables of 3.58 as camel-store-db.c says.

    A name may be in two folders.
    """
    (top / "cur").mkdir(parents=True)
    flags = {"": 1 << 16, "spam": 1 << 16 | 1 << 7, "ham": 1 << 16 | 1 << 9}
    with closing(sqlite3.connect(top / "folders.db")) as database:
        ids = ", folder_id INTEGER" if is_new else ""
        database.execute(f"CREATE TABLE folders (folder_name TEXT PRIMARY KEY, flags INTEGER{ids})")
        for number, (folder, place) in enumerate(
            {"Inbox": "", "Inbox/My_Old.1/Junk": "..My_5FOld_2E1.Junk"}.items()
        ):
            table = f"messages_{number}" if is_new else folder
            row = (folder, 0, number) if is_new else (folder, 0)
            database.execute(f"INSERT INTO folders VALUES {row}")
            database.execute(f'CREATE TABLE "{table}" (uid TEXT PRIMARY KEY, flags INTEGER, subject TEXT)')
            messages = [(word, mark) for word, (at, mark) in MAIL.items() if (at == "Junk") == bool(place)]
            for at, (word, mark) in enumerate(messages):
                put(top / place / "cur" / f"1795857492.8542_{at}.here:2,S", mail(word))
                row = (f"1795857492.8542_{at}.here", flags[mark], word)
                database.execute(f'INSERT INTO "{table}" VALUES (?, ?, ?)', row)
        database.commit()


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "evolution": lay_evolution,
    "evolution 3.58": lambda top: lay_evolution(top, is_new=True),
    "dovecot": lay_dovecot,
    "courier": lay_courier,
    "apple mail": lay_apple,
    "thunderbird": lay_thunderbird,
    "thunderbird on windows": lambda top: lay_thunderbird(top, b"\r\n"),
}


def words_by_class(top: Path) -> dict[str, set[str]]:
    """The last word of each message, by class, as counted and as read."""
    source = open_labelled([str(top)])
    found: dict[str, set[str]] = {}
    for item in source.items():
        found.setdefault(item.label, set()).add(item.read().split()[-1].decode())
    counted: Counter[str] = sum((counts for _, counts in source.counts), Counter())
    assert counted == {label: len(words) for label, words in found.items()}
    again: dict[str, set[str]] = {}
    for item in source.items():
        again.setdefault(item.label, set()).add(item.read().split()[-1].decode())
    assert again == found
    return found


@pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
def test_mark_of_ham_then_folder_then_mark_of_junk_says_the_class(
    lay: Callable[[Path], None], tmp_path: Path
) -> None:
    lay(tmp_path / "mail")
    assert words_by_class(tmp_path / "mail") == CLASSES
    said = program("train", "-j1", tmp_path / "mail", "-m", tmp_path / "m.nbspam").stderr.decode()
    assert re.search(r"INBOX\S* +spam \(marked\) +2\n", said, re.IGNORECASE)
    assert re.search(r"Junk\S* +ham \(marked\) +1\n", said, re.IGNORECASE)
    assert "(3 ham, 4 spam)" in said


@pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
def test_mail_without_a_folder_of_junk_has_its_marked_junk(
    lay: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in [word for word, (folder, _) in MAIL.items() if folder == "Junk"]:
        monkeypatch.delitem(MAIL, word)
    lay(tmp_path / "mail")
    right = {label: words & MAIL.keys() for label, words in CLASSES.items()}
    assert words_by_class(tmp_path / "mail") == right


def test_view_in_the_index_of_evolution_is_not_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "folders.db")) as database:
        database.execute("CREATE VIEW Inbox AS SELECT 'a' AS uid, 128 AS flags")
    assert find_flags(str(tmp_path / "folders.db"), "Inbox") == {}


@pytest.mark.parametrize("layout", ["dovecot", "courier"])
def test_sync_learns_marked_junk_of_a_maildir(layout: str, model: Path, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path / "mail")
    lines = [line.split("\t") for line in run("sync", tmp_path / "mail", "-m", model).splitlines()]
    taught = {label: {place.split(".")[-2] for _, one, place in lines if one == label} for label in CLASSES}
    # A move into Junk is as good as a mark, and may be later.
    assert taught == {"ham": CLASSES["ham"] - {"invoice"}, "spam": CLASSES["spam"] | {"invoice"}}


def test_mark_of_nbspam_never_teaches(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "mail"
    lay_dovecot(top)
    for folder in (top, top / ".Junk"):
        (folder / "dovecot-keywords").write_text("0 $Junk\n1 $nbspam\n2 $NotJunk\n3 Junk\n25 NonJunk\n")
    for old in [*top.glob("cur/*"), *top.glob(".Junk/cur/*")]:
        old.unlink()
    flags = {"flagged": "ab", "hers": "abd", "rescued": "b", "learned": "bc", "again": "bcd"}
    for word, letters in flags.items():
        put(top / "cur" / f"1.{word}.here:2,S{letters}", mail(word))
    put(top / ".Junk/cur/1.moved.here:2,Sbc", mail("moved"))
    right = {"ham": {"rescued", "learned"}, "spam": {"hers", "again", "moved"}}
    assert words_by_class(top) == right
    trained = program("train", "-j1", top, "-m", tmp_path / "m.nbspam")
    assert b"marked as junk by nbspam itself" in trained.stderr
    done = program("sync", top, "-m", model)
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert {(one, place.split(".")[-2]) for _, one, place in lines} == {
        *(("ham", "rescued"), ("ham", "learned"), ("spam", "again"), ("spam", "moved"))
    }
    assert b"marked as junk by nbspam itself" in done.stderr


def test_rule_for_a_folder_outweighs_marks_in_it(tmp_path: Path) -> None:
    lay_dovecot(tmp_path / "mail")
    (tmp_path / "rules").write_text("INBOX ham\nJunk spam\n")
    source = open_labelled([str(tmp_path / "mail")], rules=str(tmp_path / "rules"))
    assert Counter(item.label for item in source.items()) == {"ham": 4, "spam": 3}


def test_mark_that_a_sender_writes_is_none(tmp_path: Path) -> None:
    forged = mail("casino").replace(b"To:", b"X-Mozilla-Keys: NonJunk\nTo:")
    tail = b"From ann@b Mon Nov  2 10:00:00 2026\n"
    put(tmp_path / "mail/Junk", 2 * (tail + b"Received: by pond\n" + forged + b"\n"))
    put(tmp_path / "mail/Inbox", 2 * (tail + mail("lunch") + b"\n"))
    source = open_labelled([str(tmp_path / "mail")])
    assert Counter(item.label for item in source.items()) == {"ham": 2, "spam": 2}


def test_marks_that_are_not_read_are_told(model: Path, tmp_path: Path) -> None:
    lay_thunderbird(tmp_path / "mail")
    put(tmp_path / "mail/ab.default/Mail/pop.pond.example/Inbox.msf", b"// <!-- <mdb:mork:z v='1.4'/> -->\n")
    said = program("train", "-j1", tmp_path / "mail", "-m", tmp_path / "m.nbspam").stderr.decode()
    assert re.search("marks of junk that are not read: index of Thunderbird.* left out +1\n", said)


@pytest.mark.parametrize("name", ["dovecot-keywords", "courierimapkeywords/:list", "folders.db"])
def test_words_that_cannot_be_read_are_told(name: str, model: Path, tmp_path: Path) -> None:
    lay_courier(tmp_path / "mail")
    (tmp_path / "mail" / name).unlink(missing_ok=True)
    if name == "folders.db":
        put(tmp_path / "mail" / name, b"SQLite format 3\0\x10\0\x01\x01\0@" + b"?" * 999)
    else:
        (tmp_path / "mail" / name).mkdir()
    for command in ("train", "-j1", "--replace"), ("sync",):
        said = program(*command, tmp_path / "mail", "-m", model).stderr.decode()
        assert re.search(rf"(?i)marks of junk that are not read: {name}\b", said)


def test_letters_without_a_table_of_words_are_told(model: Path, tmp_path: Path) -> None:
    lay_dovecot(tmp_path / "mail")
    for place in ("", ".Junk"):
        (tmp_path / "mail" / place / "dovecot-keywords").unlink()
    for command in ("train", "-j1", "--replace"), ("sync",):
        said = program(*command, tmp_path / "mail", "-m", model).stderr.decode()
        assert re.search(r"(?i)marks of junk that are not read: \.Junk/dovecot-keywords", said)


def test_damaged_tables_of_keywords_say_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert Keywords(str(tmp_path / "fifo")).find("1:2,Sabz") == set()
    (tmp_path / "box").mkdir()
    os.mkfifo(tmp_path / "box/dovecot-keywords")
    assert Keywords(str(tmp_path / "box")).find("1:2,Sabz") == set()
    digits = "\u00b2 $Junk\n".encode() + b"1" * 5000 + b" $Junk\n\n1:\xc2\xb2 " + b"1" * 5000
    for text in (b"", b"x\n", b"0\n26 $Junk\n-1 $Junk\n\xff\xfe $Junk\n", b"\0" * 99, digits):
        put(tmp_path / "dovecot-keywords", text)
        put(tmp_path / "courierimapkeywords/:list", text + b"\n\n1:9 x 0:0\n")
        assert Keywords(str(tmp_path)).find("1:2,Sabz") in (set(), {"x"}, {"0"})
