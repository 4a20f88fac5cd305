"""Every form of mail on a disk as a stream of items; the standard library writes, we read."""

import gzip
import mailbox
import os
import socket
from pathlib import Path

import pytest

from nbspam.corpus import walk
from nbspam.corpus.item import Item, open_message
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.no_mail import DELETED, DRAFT, NO_HEADER, NO_MAIL
from nbspam.corpus.reading import read_messages
from nbspam.corpus.source import Source
from nbspam.corpus.walk import SourcePart
from nbspam.errors import BadDataError
from tests.as_nobody import as_nobody

FROM = b"From ann@example.org Mon Jun 24 17:04:28 2002\n"


def mail(word: str) -> bytes:
    return f"From: ann@example.org\nSubject: {word}\n\n{word}\n".encode()


MBOX = FROM + mail("one") + b"\n" + FROM + mail("two")


def put(top: Path, *names: str, data: bytes = b"") -> str:
    """Files whose last word is their name, or with other contents; returns the path of the folder."""
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data or mail(path.name))
    return str(top)


def maildir(path: Path, *words: str) -> mailbox.Maildir:
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    box = mailbox.Maildir(str(path))
    for word in words:
        box.add(mail(word))
    return box


def words(source: Source) -> list[tuple[str, str]]:
    """(class, last word) of each message, in order."""
    return [(item.label, item.read().split()[-1].decode()) for item in source.items()]


def last_words(*paths: object) -> list[str]:
    return [word for _, word in words(Source([SourcePart(str(path)) for path in paths]))]


def two_classes(top: Path) -> str:
    return put(top, "ham/b", "ham/a", "spam/d", "spam/c")


def test_folders_named_after_classes_label_their_files_in_sorted_order(tmp_path: Path) -> None:
    source = open_labelled([two_classes(tmp_path)])
    assert words(source) == [("ham", "a"), ("ham", "b"), ("spam", "c"), ("spam", "d")]
    assert next(item.name for item in source.items()) == f"{tmp_path}/ham/a"


def test_any_folder_names_make_classes_ham_first_spam_last(tmp_path: Path) -> None:
    source = open_labelled([put(tmp_path, "work/1", "Junk/2", "lists/3", "Ham/4")])
    assert source.classes == ("ham", "lists", "work", "spam")
    assert words(source) == [("ham", "4"), ("lists", "3"), ("work", "1"), ("spam", "2")]


def test_class_folders_may_be_maildir_mh_mbox_or_nested(tmp_path: Path) -> None:
    maildir(tmp_path / "ham" / "box", "in-maildir")
    mh = mailbox.MH(str(tmp_path / "ham" / "mh"))
    mh.add(mail("in-mh"))
    mh.set_sequences({"unseen": [1]})
    put(tmp_path, "ham/deep/er/file")
    put(tmp_path, "spam/old.mbox", data=MBOX)
    source = open_labelled([str(tmp_path)])
    ham = [("ham", "in-maildir"), ("ham", "file"), ("ham", "in-mh")]
    assert words(source) == [*ham, ("spam", "one"), ("spam", "two")]


def test_a_maildir_is_cur_and_new_without_trash_drafts_and_indexes(tmp_path: Path) -> None:
    box = maildir(tmp_path, "unread")
    for flags in ("S", "T", "ST", "D"):
        message = mailbox.MaildirMessage(mail(flags))
        message.set_subdir("cur")
        message.set_flags(flags)
        box.add(message)
    put(tmp_path, "tmp/half", "dovecot.index.log", "cur/dovecot.index.cache")
    source = Source([SourcePart(str(tmp_path))])
    assert words(source) == [("", "S"), ("", "unread")]
    assert source.left_out == {DELETED: 2, DRAFT: 1, NO_MAIL: 2}


def test_a_maildir_that_lost_its_empty_folders_is_still_one(tmp_path: Path) -> None:
    put(tmp_path, "courier.list", "cur/1:2,S")
    assert last_words(tmp_path) == ["1:2,S"]


def test_messages_of_a_maildir_may_be_compressed_and_are_never_split(tmp_path: Path) -> None:
    put(tmp_path, "cur/1:2,S", data=gzip.compress(mail("packed")))
    put(tmp_path, "cur/2:2,S", data=MBOX)
    assert last_words(tmp_path) == ["packed", "two"]


def test_an_mh_folder_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    put(tmp_path, *map(str, range(1, 12)), ".mh_sequences", ",3", "notes")
    source = Source([SourcePart(str(tmp_path))])
    assert words(source) == [("", str(number)) for number in range(1, 12)]
    assert source.left_out == {"no message of the MH folder": 1, DELETED: 1, NO_MAIL: 1}


def test_an_index_file_names_messages_mboxes_and_folders_in_its_order(tmp_path: Path) -> None:
    two_classes(tmp_path)
    put(tmp_path, "In Box 1", "full/inmail.1")
    put(tmp_path, "box", data=MBOX)
    text = b"# by date\nSPAM ../In Box 1\n\n  ham\t../box\r\nspam ../spam\nspam inmail.1\n"
    put(tmp_path, "full/index", data=text)
    source = open_labelled([f"{tmp_path}/full/index"])
    assert source.ordered_by_index
    assert source.classes == ("ham", "spam")
    assert [word for _, word in words(source)] == ["1", "one", "two", "c", "d", "inmail.1"]
    assert [label for label, _ in words(source)] == ["spam", "ham", "ham", "spam", "spam", "spam"]


def test_index_file_with_its_columns_exchanged_is_refused(tmp_path: Path) -> None:
    two_classes(tmp_path)
    put(tmp_path, "index", data=b"spam/c spam\nham/a ham\n")
    put(tmp_path, "spam/c", "ham/a")
    with pytest.raises(BadDataError, match="the first column names a file"):
        open_labelled([f"{tmp_path}/index"])


def test_index_file_may_name_an_mbox_as_its_class(tmp_path: Path) -> None:
    for name in ("ham", "spam"):
        put(tmp_path, name, data=MBOX)
    put(tmp_path, "index", data=b"ham ham\nspam spam\n")
    assert open_labelled([f"{tmp_path}/index"]).classes == ("ham", "spam")


def maildir_plus_plus(top: Path) -> str:
    maildir(top, "inbox")
    for folder in ("Junk", "Spam.2004", "Trash", "Drafts", "Sent", "Lists.python", "Templates", "Outbox"):
        maildir(top / f".{folder}", folder)
    return str(top)


def test_the_rules_of_the_manual_do_what_it_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "train.md").read_text("utf-8")
    rules = page.partition("```\n# folder")[2].partition("```")[0]
    put(tmp_path, "rules", data=f"# folder{rules}".encode())
    for name in ("", ".Lists.python", ".Quarantine", ".Archive.Sent 2019"):
        maildir(tmp_path / "Maildir" / name, name or "inbox")
    source = open_labelled([f"{tmp_path}/Maildir"], rules=f"{tmp_path}/rules")
    assert words(source) == [("ham", "inbox"), ("ham", ".Lists.python"), ("spam", ".Quarantine")]
    assert source.left_out == {"folder Archive.Sent 2019 (by a rule)": 1}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (
            b"# mine\n.lists.* lists\nINBOX -\nSent ham\nSpam.2004 -\n*[ae]nk spam\n",
            [("ham", "Sent"), ("lists", "Lists.python"), ("spam", "Junk")],
        ),
        (b"spam ham\nlists -\n", [("ham", "inbox"), ("ham", "Spam.2004"), ("spam", "Junk")]),
    ],
    ids=["the first match wins", "a rule holds for the folders inside"],
)
def test_rules_say_which_folder_has_which_class(
    rules: bytes, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    put(tmp_path, "rules", data=rules)
    source = open_labelled([maildir_plus_plus(tmp_path / "mail")], rules=f"{tmp_path}/rules")
    assert words(source) == expected


def spoiled(folder: Path) -> list[str]:
    """Things that nobody can read as mail, in a folder of mail; returns their paths, sorted."""
    os.mkfifo(folder / "fifo")
    (folder / "gone").symlink_to("nowhere")
    (folder / "self").symlink_to("self")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket has at most 107 bytes
        server.bind("socket")
        os.chdir(here)
    return sorted(str(folder / name) for name in ("fifo", "gone", "self", "socket"))


@pytest.mark.parametrize("folder", ["plain", "box/cur"])
def test_unreadable_files_are_skipped_and_named(folder: str, tmp_path: Path) -> None:
    put(tmp_path, f"{folder}/good")
    paths = spoiled(tmp_path / folder)
    source = Source([SourcePart(str(tmp_path))])
    assert words(source) == [("", "good")]
    assert sorted(path for path, _ in source.skipped) == paths
    reasons = {os.path.basename(path): reason for path, reason in source.skipped}
    assert reasons["fifo"] == reasons["gone"] == reasons["socket"] == "not a regular file"


@pytest.mark.parametrize("path", ["closed", "box"])
def test_unreadable_labelled_paths_are_an_error(open_folder: Path, path: str) -> None:
    """A model without it would be another one, and nobody reads what a nightly training skips."""
    put(open_folder, "good/1", "closed/1", "box")
    for name in ("closed", "box"):
        (open_folder / name).chmod(0)
    program = f"""\
import json
from nbspam.errors import NoInputError
from nbspam.corpus.labelled import open_labelled
try:
    open_labelled(ham=["good", {path!r}], spam=["good"])
except NoInputError as error:
    print(json.dumps([error.where, error.why, error.slug]))
"""
    assert as_nobody(program, open_folder) == [path, "Permission denied", "source-unreadable"]


def test_mail_that_was_counted_is_read_without_a_second_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "ham/one", "spam/single")
    put(tmp_path, "spam/saved", data=FROM + mail("saved") + b"\n>From here\n\n")
    put(tmp_path, "ham/mbox", data=MBOX)
    put(tmp_path, "spam/packed", data=gzip.compress(MBOX))
    put(tmp_path, "spam/damaged", data=gzip.compress(MBOX)[:-9])
    walked = open_labelled([str(tmp_path)])
    expected = [(item.name, item.label, item.read()) for item in walked.items()]
    source = open_labelled([str(tmp_path)])
    assert [dict(count) for _, count in source.counts] == [{"ham": 3}, {"spam": 4}]
    put(tmp_path, "ham/later", "spam/later")
    looked_at = []
    monkeypatch.setattr(walk, "open_message", lambda path: looked_at.append(path) or open_message(path))
    assert [(item.name, item.label, item.read()) for item in source.items()] == expected
    assert source.skipped == walked.skipped == [(f"{tmp_path}/spam/damaged", "damaged gz data")]
    assert looked_at == [f"{tmp_path}/{name}" for name in ("ham/mbox", "spam/packed")]


def test_links_are_followed_inside_the_folder_that_is_named(tmp_path: Path) -> None:
    put(tmp_path / "away", "ham/1", data=mail("secret"))
    put(tmp_path / "here", "ham/1", data=mail("wanted"))
    put(tmp_path / "here", "spam/1", data=mail("bad"))
    for name, place in {"a": "../../away/ham/1", "b": "../../away", "c": "/dev/zero", "d": "1"}.items():
        (tmp_path / "here" / "ham" / name).symlink_to(place)
    source = open_labelled([str(tmp_path / "here")])
    assert words(source) == [("ham", "wanted"), ("ham", "wanted"), ("spam", "bad")]
    assert source.left_out["link to a place outside of the folder"] == 3
    (tmp_path / "named").symlink_to("away/ham")
    source = open_labelled(ham=[str(tmp_path / "named")], spam=[str(tmp_path / "here/spam")])
    assert words(source) == [("ham", "secret"), ("spam", "bad")]


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, "a/mail")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    source = Source([SourcePart(str(tmp_path))])
    assert words(source) == [("", "mail")]
    assert (source.skipped, source.left_out) == ([], {"link back to a folder already read": 1})


def test_names_that_are_not_utf_8_can_be_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff\n", "wb") as file:
        file.write(mail("odd"))
    assert last_words(tmp_path) == ["odd"]


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    """Open descriptors make the later messages of a mailbox of a thousand unreadable."""
    put(tmp_path, "whole")
    put(tmp_path, "box", data=MBOX)
    put(tmp_path, "packed", data=gzip.compress(mail("packed")))
    put(tmp_path, "damaged", data=gzip.compress(mail("damaged"))[:10])  # nothing of it can be read
    os.mkfifo(tmp_path / "fifo")
    before = sorted(os.listdir("/proc/self/fd"))
    skipped: list[tuple[str, str]] = []
    named = [Item(name, "", f"{tmp_path}/{name}") for name in ("fifo", "packed", "whole")]
    items = [*Source([SourcePart(str(tmp_path))]).items(), *named]
    assert len(list(read_messages(items, skipped))) == 6
    assert [name for name, _ in skipped] == ["fifo"]
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_message_in_two_of_the_paths_counts_once_as_the_innermost_says(tmp_path: Path) -> None:
    top = two_classes(tmp_path / "x")
    source = open_labelled([top], spam=[f"{top}/ham/a", f"{top}/spam"])
    assert sorted(words(source)) == [("ham", "b"), ("spam", "a"), ("spam", "c"), ("spam", "d")]
    assert source.left_out == {"named twice": 3}


def test_what_is_no_mail_is_left_out_and_counted(tmp_path: Path) -> None:
    top = Path(two_classes(tmp_path / "x"))
    put(top / "ham", "program", data=b"#!/bin/sh\necho\n")
    put(top / "ham", "image", data=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    put(top / "ham", "sms", data=b"no header, but a text\n")
    put(top / "ham", "odd", data=b"Subject: a\0b\n\nmail with a NUL odd\n")
    source = open_labelled([str(top)])
    assert [word for label, word in words(source) if label == "ham"] == ["a", "b", "odd"]
    assert source.left_out == {NO_MAIL: 2, NO_HEADER: 1}


def test_a_file_that_index_files_name_twice_counts_once_by_the_first_line(tmp_path: Path) -> None:
    top = Path(two_classes(tmp_path))
    (top / "link").symlink_to("ham/b")
    (top / "folder").symlink_to("spam")
    index = put(
        top, "index", data=b"ham ham/a\nspam ham/a\nham link\nham ./ham/b\nspam spam/c\nspam folder\n"
    )
    source = open_labelled(
        [f"{index}/index", f"{index}/index"], ham=[f"{top}/ham"], spam=[put(top / "x", "e")]
    )
    assert words(source) == [("ham", "a"), ("ham", "b"), ("spam", "c"), ("spam", "d"), ("spam", "e")]
    assert source.left_out == {"named twice": 3 + 7 + 2}


def test_a_rule_that_matches_no_folder_is_said(tmp_path: Path) -> None:
    put(tmp_path, "rules", data=b"Newslettrs newsletter\nNewsletters ham\n")
    for name in ("", ".Newsletters", ".Junk"):
        maildir(tmp_path / "Maildir" / name, name or "inbox")
    source = open_labelled([f"{tmp_path}/Maildir"], rules=f"{tmp_path}/rules")
    assert source.left_out == {"rule newslettrs (it matches no folder)": 1}
