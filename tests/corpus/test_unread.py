"""--skip-unread leaves out mail that its reader has not opened, because spam that slipped through is there.

The standard library writes the mail stores, and so says what read and unread look like in them.
"""

import mailbox
from pathlib import Path

import pytest

from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.source import Source
from nbspam.errors import NoInputError
from tests.tiny_mail import mail, write_folders

# What a store holds: the last word of a message, and whether its reader has opened it.
Marked = list[tuple[str, bool]]


def write_maildir(place: Path, marked: Marked) -> str:
    box = mailbox.Maildir(str(place))
    for word, opened in marked:
        message = mailbox.MaildirMessage(mail(word))
        message.set_subdir("cur")
        message.set_flags("S" if opened else "F")
        box.add(message)
    return str(place)


@pytest.fixture
def spam(tmp_path: Path) -> list[str]:
    """Mail of the other class."""
    write_folders(tmp_path, {"spam": [mail("prize")]})
    return [str(tmp_path / "spam")]


def words(source: Source, label: str = "ham") -> set[str]:
    """The last words of the messages of a class."""
    return {item.read().split()[-1].decode() for item in source.items() if item.label == label}


def test_unread_ham_is_left_out_and_unread_spam_is_not(tmp_path: Path) -> None:
    marked = [("one", True), ("two", False), ("three", False), ("four", True)]
    place, junk = (write_maildir(tmp_path / name, marked) for name in ("box", "junk"))
    source = open_labelled(ham=[place], spam=[junk], skip_unread=True)
    assert words(source) == {"one", "four"}
    assert source.left_out == {"unread": 2}
    assert words(source, "spam") == {"one", "two", "three", "four"}


def test_new_mail_of_a_maildir_is_unread(spam: list[str], tmp_path: Path) -> None:
    box = mailbox.Maildir(write_maildir(tmp_path / "box", [("one", True)]))
    box.add(mail("two"))
    (tmp_path / "box" / "new" / "3.host:2,S").write_bytes(mail("three"))  # flags mean nothing there
    (tmp_path / "box" / "cur" / "4.host").write_bytes(mail("four"))  # none at all
    assert words(open_labelled(ham=[str(tmp_path / "box")], spam=spam, skip_unread=True)) == {"one"}


def test_a_tree_of_maildirs_keeps_unread_junk_only(tmp_path: Path) -> None:
    for folder in (".", ".Junk", ".Lists"):
        write_maildir(tmp_path / "mail" / folder, [("one", True), ("two", False)])
    write_maildir(tmp_path / "mail" / ".Trash", [("three", False)])
    source = open_labelled([str(tmp_path / "mail")], skip_unread=True)
    assert sorted((item.label, item.read().split()[-1]) for item in source.items()) == [
        ("ham", b"one"),
        ("ham", b"one"),
        ("spam", b"one"),
        ("spam", b"two"),
    ]
    assert source.left_out == {"unread": 2, "folder Trash (trash)": 1}


def test_all_mail_of_folders_of_files_of_mboxes_and_of_an_index_is_read(tmp_path: Path) -> None:
    """A class may be called `new`; that makes no Maildir."""
    write_folders(tmp_path / "mail", {"new": [mail("one")], "spam": [mail("two")]})
    box = mailbox.mbox(str(tmp_path / "mail" / "new" / "box"))
    box.add(mail("three"))
    box.close()
    source = open_labelled([str(tmp_path / "mail")], skip_unread=True)
    assert words(source, "new") == {"one", "three"}
    write_maildir(tmp_path / "box", [("one", False)])
    (tmp_path / "index").write_text("ham box\nspam mail/spam\n")
    assert words(open_labelled([str(tmp_path / "index")], skip_unread=True)) == {"one"}


def test_a_class_of_unread_mail_only_is_an_error_that_says_so(spam: list[str], tmp_path: Path) -> None:
    place = write_maildir(tmp_path / "box", [("one", False), ("two", False)])
    with pytest.raises(NoInputError) as caught:
        open_labelled(ham=[place], spam=spam, skip_unread=True)
    assert (caught.value.where, caught.value.slug) == (place, "class-unread")
    assert caught.value.why == "no messages of class ham; 2 left out (unread)"
