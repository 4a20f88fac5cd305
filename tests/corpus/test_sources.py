"""Every form of mail on a disk as a stream of items; the standard library writes, we read."""

from __future__ import annotations

import gzip
import mailbox
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nbspam.corpus import Item, Source, open_labelled, open_unlabelled
from tests.as_nobody import as_nobody

FROM = b"From ann@example.org Mon Jun 24 17:04:28 2002\n"


def mail(word: str) -> bytes:
    return f"From: ann@example.org\nSubject: {word}\n\n{word}\n".encode()


def put(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data or mail(path.name))
    return path


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


def two_classes(top: Path) -> Path:
    for name in ("ham/b", "ham/a", "spam/d", "spam/c"):
        put(top / name)
    return top


def test_folders_named_after_classes_label_their_files_in_sorted_order(tmp_path: Path) -> None:
    source = open_labelled([str(two_classes(tmp_path))])
    assert source.classes == ("ham", "spam")
    assert words(source) == [("ham", "a"), ("ham", "b"), ("spam", "c"), ("spam", "d")]
    assert next(item.name for item in source.items()) == f"{tmp_path}/ham/a"


def test_any_folder_names_make_classes_ham_first_spam_last(tmp_path: Path) -> None:
    for name in ("work/1", "SPAM/2", "lists/3", "Ham/4"):
        put(tmp_path / name)
    source = open_labelled([str(tmp_path)])
    assert source.classes == ("ham", "lists", "work", "spam")
    assert words(source) == [("ham", "4"), ("lists", "3"), ("work", "1"), ("spam", "2")]


def test_class_folders_may_be_maildir_mh_mbox_or_nested(tmp_path: Path) -> None:
    maildir(tmp_path / "ham" / "box", "in-maildir")
    mh = mailbox.MH(str(tmp_path / "ham" / "mh"))
    mh.add(mail("in-mh"))
    mh.set_sequences({"unseen": [1]})
    put(tmp_path / "ham" / "deep" / "er" / "file")
    put(tmp_path / "spam" / "old.mbox", FROM + mail("one") + b"\n" + FROM + mail("two"))
    source = open_labelled([str(tmp_path)])
    assert words(source) == [
        ("ham", "in-maildir"),
        ("ham", "file"),
        ("ham", "in-mh"),
        ("spam", "one"),
        ("spam", "two"),
    ]


def test_files_beside_class_folders_are_left_out_and_counted(tmp_path: Path) -> None:
    put(two_classes(tmp_path) / "README")
    put(tmp_path / ".hidden")
    source = open_labelled([str(tmp_path)])
    assert len(words(source)) == 4
    assert source.left_out == {"beside the folders": 1}


def test_a_maildir_gives_cur_and_new_but_not_tmp(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "unread")
    seen = mailbox.MaildirMessage(mail("seen"))
    seen.set_subdir("cur")
    seen.set_flags("S")
    box.add(seen)
    put(tmp_path / "box" / "tmp" / "half")
    put(tmp_path / "box" / "dovecot.index.log")
    put(tmp_path / "box" / "cur" / "dovecot.index.cache")
    assert words(open_unlabelled([str(tmp_path / "box")])) == [("", "seen"), ("", "unread")]


def test_trashed_and_draft_mail_of_a_maildir_is_left_out_and_counted(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "kept")
    for flags in ("T", "ST", "D"):
        message = mailbox.MaildirMessage(mail(flags))
        message.set_subdir("cur")
        message.set_flags(flags)
        box.add(message)
    source = open_unlabelled([str(tmp_path / "box")])
    assert words(source) == [("", "kept")]
    assert source.left_out == {"trashed": 2, "draft": 1}


def test_messages_of_a_maildir_are_never_split(tmp_path: Path) -> None:
    put(tmp_path / "cur" / "1:2,S", FROM + mail("one") + b"\n" + FROM + mail("two"))
    (item,) = open_unlabelled([str(tmp_path)]).items()
    assert item.read().startswith(FROM)


def test_a_maildir_that_lost_its_empty_folders_is_still_one(tmp_path: Path) -> None:
    put(tmp_path / "cur" / "1:2,S")
    put(tmp_path / "courier.list")
    assert [item.name for item in open_unlabelled([str(tmp_path)]).items()] == [f"{tmp_path}/cur/1:2,S"]


def test_compressed_messages_of_a_maildir_are_read(tmp_path: Path) -> None:
    put(tmp_path / "cur" / "1:2,S", gzip.compress(mail("packed")))
    assert words(open_unlabelled([str(tmp_path)])) == [("", "packed")]


def test_an_mh_folder_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    box = mailbox.MH(str(tmp_path / "mh"))
    for number in range(1, 12):
        box.add(mail(f"n{number}"))
    box.set_sequences({"unseen": [1]})
    put(tmp_path / "mh" / ",3")
    put(tmp_path / "mh" / "notes")
    source = open_unlabelled([str(tmp_path / "mh")])
    assert words(source) == [("", f"n{number}") for number in range(1, 12)]
    assert source.left_out == {"deleted": 1, "no message of the MH folder": 1}


def test_an_index_file_gives_its_order_its_labels_and_paths_with_spaces(tmp_path: Path) -> None:
    put(tmp_path / "mail" / "In Box 1")
    put(tmp_path / "mail" / "2")
    put(tmp_path / "lists" / "index", b"# by date\nSPAM ../mail/In Box 1\n\n  ham\t../mail/2\r\n")
    source = open_labelled([str(tmp_path / "lists" / "index")])
    assert source.ordered_by_index
    assert source.classes == ("ham", "spam")
    assert words(source) == [("spam", "1"), ("ham", "2")]


def test_an_index_as_of_trec_is_read(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        put(tmp_path / "data" / f"inmail.{number}")
    put(tmp_path / "full" / "index", b"spam ../data/inmail.1\nham ../data/inmail.2\nspam ../data/inmail.3\n")
    source = open_labelled([str(tmp_path / "full" / "index")])
    assert words(source) == [("spam", "inmail.1"), ("ham", "inmail.2"), ("spam", "inmail.3")]


def test_an_index_may_name_folders_and_mboxes(tmp_path: Path) -> None:
    two_classes(tmp_path)
    put(tmp_path / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    put(tmp_path / "index", b"spam spam\nham box\n")
    assert words(open_labelled([str(tmp_path / "index")])) == [
        ("spam", "c"),
        ("spam", "d"),
        ("ham", "one"),
        ("ham", "two"),
    ]


def test_explicit_paths_have_the_class_they_were_given(tmp_path: Path) -> None:
    put(tmp_path / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    put(tmp_path / "single")
    maildir(tmp_path / "dir", "wanted")
    source = open_labelled(
        spam=[str(tmp_path / "box")],
        ham=[str(tmp_path / "dir")],
        classes={"work": [str(tmp_path / "single")]},
    )
    assert not source.ordered_by_index
    assert words(source) == [("ham", "wanted"), ("work", "single"), ("spam", "one"), ("spam", "two")]


def test_several_sources_are_read_class_by_class(tmp_path: Path) -> None:
    two_classes(tmp_path / "one")
    two_classes(tmp_path / "two")
    source = open_labelled(
        [str(tmp_path / "one"), str(tmp_path / "two")], ham=[str(tmp_path / "one" / "ham" / "a")]
    )
    assert [label for label, _ in words(source)] == ["ham"] * 5 + ["spam"] * 4


def maildir_plus_plus(top: Path) -> Path:
    maildir(top, "inbox")
    for folder in ("Junk", "Spam.2004", "Trash", "Drafts", "Sent", "Lists.python", "Templates", "Outbox"):
        maildir(top / f".{folder}", folder)
    return top


def test_a_maildir_tree_knows_its_folders_by_their_names(tmp_path: Path) -> None:
    source = open_labelled([str(maildir_plus_plus(tmp_path))])
    assert source.classes == ("ham", "spam")
    assert words(source) == [
        ("ham", "inbox"),
        ("ham", "Lists.python"),
        ("spam", "Junk"),
        ("spam", "Spam.2004"),
    ]
    assert source.left_out == {
        f"folder {name}": 1 for name in ("Trash", "Drafts", "Sent", "Templates", "Outbox")
    }


def test_rules_say_which_folder_has_which_class_first_match_wins(tmp_path: Path) -> None:
    top = maildir_plus_plus(tmp_path / "mail")
    rules = put(tmp_path / "rules", b"# mine\n.lists.* lists\nINBOX -\nSent ham\nSpam.2004 -\n*[ae]nk spam\n")
    source = open_labelled([str(top)], rules=str(rules))
    assert source.classes == ("ham", "lists", "spam")
    assert words(source) == [("ham", "Sent"), ("lists", "Lists.python"), ("spam", "Junk")]
    assert {"folder INBOX", "folder Spam.2004"} <= source.left_out.keys()


def test_a_rule_holds_for_the_folders_inside(tmp_path: Path) -> None:
    maildir(tmp_path / "mail", "inbox")
    maildir(tmp_path / "mail" / ".[Gmail].Spam", "bad")
    maildir(tmp_path / "mail" / ".Old stuff.2003", "old")
    rules = put(tmp_path / "rules", b"[gmail] spam\nOld stuff -\n")
    source = open_labelled([str(tmp_path / "mail")], rules=str(rules))
    assert words(source) == [("ham", "inbox"), ("spam", "bad")]


def test_a_folder_with_an_inbox_in_it_is_a_tree(tmp_path: Path) -> None:
    for folder in ("INBOX", "Junk", "Sent", "Lists/python"):
        maildir(tmp_path / folder, folder)
    source = open_labelled([str(tmp_path)])
    assert words(source) == [("ham", "INBOX"), ("ham", "Lists/python"), ("spam", "Junk")]


def test_what_a_tree_passes_by_is_noted_once(tmp_path: Path) -> None:
    maildir(tmp_path / "plus", "h")
    maildir(tmp_path / "plus" / ".Junk", "s")
    (tmp_path / "plus" / ".Gone").symlink_to("nowhere")
    source = open_labelled([str(tmp_path / "plus")])
    assert words(source) == [("ham", "h"), ("spam", "s")]
    assert source.skipped == [(f"{tmp_path}/plus/.Gone", "link to nothing")]
    for name in ("inbox/1", "inbox/,2", "inbox/.mh_sequences", "inbox/draft", "junk/3"):
        put(tmp_path / "mh" / name)
    source = open_labelled([str(tmp_path / "mh")])
    assert words(source) == [("ham", "1"), ("spam", "3")]
    assert source.left_out == {"deleted": 1, "no message of the MH folder": 1}


def test_a_tree_of_mboxes_as_of_thunderbird_is_read(tmp_path: Path) -> None:
    put(tmp_path / "Inbox", b"From - Mon Jun 24 17:04:28 2002\n" + mail("wanted") + b"\n")
    put(tmp_path / "Inbox.msf")
    put(tmp_path / "Inbox.sbd" / "Lists", FROM + mail("list") + b"\n" + FROM + mail("more"))
    put(tmp_path / "Junk", FROM + mail("bad"))
    put(tmp_path / "Trash", FROM + mail("gone"))
    source = open_labelled([str(tmp_path)])
    assert words(source) == [("ham", "wanted"), ("ham", "list"), ("ham", "more"), ("spam", "bad")]
    assert source.left_out == {"folder Trash": 1}


def test_subfolders_of_a_maildir_named_by_its_path_are_left_out(tmp_path: Path) -> None:
    source = open_labelled(
        ham=[str(maildir_plus_plus(tmp_path / "mail"))], spam=[str(tmp_path / "mail" / ".Junk")]
    )
    assert words(source) == [("ham", "inbox"), ("spam", "Junk")]
    assert source.left_out == {"folder inside a Maildir": 8}


def test_unlabelled_paths_keep_the_order_given(tmp_path: Path) -> None:
    for name in ("z", "a", "m"):
        put(tmp_path / name)
    source = open_unlabelled([str(tmp_path / name) for name in ("z", "a", "m", "z")])
    assert source.classes == ()
    assert words(source) == [("", "z"), ("", "a"), ("", "m"), ("", "z")]


def test_an_empty_file_in_a_folder_is_an_empty_message(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (item,) = open_unlabelled([str(tmp_path)]).items()
    assert item.read() == b""


def spoiled(folder: Path) -> list[str]:
    """Things no one can read as mail, in a folder of mail; returns their paths, sorted."""
    os.mkfifo(folder / "fifo")
    (folder / "gone").symlink_to("nowhere")
    (folder / "self").symlink_to("self")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket may have but 107 bytes
        server.bind("socket")
        os.chdir(here)
    return sorted(str(folder / name) for name in ("fifo", "gone", "self", "socket"))


@pytest.mark.parametrize("folder", ["plain", "box/cur"])
def test_what_cannot_be_read_is_skipped_and_named(folder: str, tmp_path: Path) -> None:
    put(tmp_path / folder / "good")
    paths = spoiled(tmp_path / folder)
    source = open_unlabelled([str(tmp_path)])
    assert words(source) == [("", "good")]
    assert sorted(path for path, _ in source.skipped) == paths
    reasons = {os.path.basename(path): reason for path, reason in source.skipped}
    assert reasons["fifo"] == "a FIFO, not a message"
    assert reasons["gone"] == "link to nothing"
    assert reasons["socket"] == "a socket, not a message"


def test_a_message_without_permission_is_skipped_and_named(open_folder: Path) -> None:
    for name in ("box/cur/1", "box/cur/2", "plain/1", "plain/2"):
        put(open_folder / name).chmod(0o644 if name.endswith("1") else 0)
    program = """\
import json
from nbspam.corpus import open_unlabelled
source = open_unlabelled(["box", "plain"])
words = [item.read().split()[-1].decode() for item in source.items()]
print(json.dumps([words, source.skipped]))
"""
    words, skipped = as_nobody(program, open_folder)
    assert words == ["1", "1"]
    assert skipped == [["box/cur/2", "Permission denied"], ["plain/2", "Permission denied"]]


@pytest.mark.parametrize("path", ["closed", "box"])
def test_labelled_mail_that_is_named_and_cannot_be_read_is_an_error(open_folder: Path, path: str) -> None:
    """A model without it would be another one, and nobody reads what a nightly training skips."""
    for name in ("good/1", "closed/1", "box"):
        put(open_folder / name)
    for name in ("closed", "box"):
        (open_folder / name).chmod(0)
    program = f"""\
import json
from nbspam.errors import NoInputError
from nbspam.corpus import open_labelled
try:
    open_labelled(ham=["good", {path!r}], spam=["good"])
except NoInputError as error:
    print(json.dumps([error.where, error.why, error.slug]))
"""
    assert as_nobody(program, open_folder) == [path, "Permission denied", "source-unreadable"]


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    put(tmp_path / "a" / "mail")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    source = open_unlabelled([str(tmp_path)])
    assert words(source) == [("", "mail")]
    assert (source.skipped, source.left_out) == ([], {"link back to a folder already read": 1})


def test_a_fifo_put_in_the_place_of_a_message_is_an_error_and_not_a_wait(tmp_path: Path) -> None:
    path = put(tmp_path / "mail")
    (item,) = open_unlabelled([str(path)]).items()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="a FIFO"):
        item.read()
    path.unlink()
    with pytest.raises(FileNotFoundError):
        item.read()


def test_a_missing_message_of_an_index_is_skipped_and_named(tmp_path: Path) -> None:
    two_classes(tmp_path)
    put(tmp_path / "index", b"ham ham/a\nspam spam/none\nspam spam/c\n")
    source = open_labelled([str(tmp_path / "index")])
    assert words(source) == [("ham", "a"), ("spam", "c")]
    assert source.skipped == [(f"{tmp_path}/spam/none", "No such file or directory")]


def test_a_path_that_is_missing_does_not_stop_the_others(tmp_path: Path) -> None:
    put(tmp_path / "there")
    source = open_unlabelled([str(tmp_path / "none"), str(tmp_path / "there")])
    assert words(source) == [("", "there")]
    assert source.skipped == [(f"{tmp_path}/none", "no such file or folder")]


def test_each_walk_is_the_same_and_counts_afresh(tmp_path: Path) -> None:
    put(two_classes(tmp_path) / "stray")
    spoiled(tmp_path / "ham")
    source = open_labelled([str(tmp_path)])
    walks = [[(item.name, item.label) for item in source.items()] for _ in range(2)]
    assert walks[0] == walks[1]
    assert len(source.skipped) == 4
    assert source.left_out == {"beside the folders": 1}


def test_the_stream_does_not_read_ahead(tmp_path: Path) -> None:
    put(tmp_path / "a")
    put(tmp_path / "b")
    items = open_unlabelled([str(tmp_path / "a"), str(tmp_path / "b")]).items()
    assert next(items).name == f"{tmp_path}/a"
    (tmp_path / "b").write_bytes(mail("changed"))
    assert next(items).read() == mail("changed")


def test_an_item_survives_pickling_and_stays_small(tmp_path: Path) -> None:
    put(tmp_path / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    for item in open_unlabelled([str(tmp_path / "box")]).items():
        copy = pickle.loads(pickle.dumps(item))
        assert copy == item
        assert copy.read() == item.read()
        assert len(pickle.dumps(item)) < 400


def test_a_limit_gives_the_beginning(tmp_path: Path) -> None:
    put(tmp_path / "file", b"x" * 5000)
    put(tmp_path / "mbox", FROM + b"A: b\n\n" + b"x" * 5000)
    assert [len(item.read(1000)) for item in open_unlabelled([str(tmp_path)]).items()] == [1000, 1000]


def test_names_that_are_not_utf_8_can_be_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff\n", "wb") as file:
        file.write(mail("odd"))
    assert words(open_unlabelled([str(tmp_path)])) == [("", "odd")]


def test_messages_are_counted_where_that_is_cheap(tmp_path: Path) -> None:
    source = open_labelled([str(two_classes(tmp_path))])
    assert source.message_count() == 4
    put(tmp_path / "ham" / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    assert source.message_count() is None


def test_a_pipe_of_the_shell_is_read_as_mail_or_mbox(tmp_path: Path) -> None:
    put(tmp_path / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    program = (
        "import sys; from nbspam.corpus import open_unlabelled\n"
        "print([i.read().split()[-1].decode() for i in open_unlabelled(sys.argv[1:]).items()])"
    )
    command = f"{sys.executable} -c '{program}' <(cat {tmp_path}/box) <(echo end)"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['one', 'two', 'end']"


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    """Descriptors that stay open make a mailbox of a thousand messages unreadable behind the first ones."""
    put(tmp_path / "whole", mail("whole"))
    put(tmp_path / "box", FROM + mail("one") + b"\n" + FROM + mail("two"))
    put(tmp_path / "packed", gzip.compress(mail("packed")))
    put(tmp_path / "damaged", gzip.compress(mail("damaged"))[:10])  # nothing of it can be read
    os.mkfifo(tmp_path / "fifo")
    before = sorted(os.listdir("/proc/self/fd"))
    source = open_unlabelled([str(tmp_path)])
    read = [item.read() for item in source.items()]
    with pytest.raises(OSError, match="FIFO"):
        Item("fifo", "", str(tmp_path / "fifo")).read()
    for name in ("packed", "whole"):
        read.append(Item(name, "", str(tmp_path / name)).read())
    assert len(read) == 6
    assert sorted(os.listdir("/proc/self/fd")) == before
