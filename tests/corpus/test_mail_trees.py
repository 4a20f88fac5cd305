"""Trees of mail programs are read file by file as tests/mail_trees.txt says; cases that people reported."""

import json
import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from nbspam.corpus.item import Item, read_items
from nbspam.corpus.labelled import open_labelled
from nbspam.errors import NbspamError
from tests.conftest import corpus_or_skip
from tests.mail_samples import make_index
from tests.mail_trees import LANGUAGES, READ, REFUSED, UNSEEN, Laid, Tree, lay_out
from tests.tiny_mail import Done, mail, program, run, write_folders

FOLDER = Path(__file__).parents[1] / "cases"
# Why mail is left out, by what the reasons that nbspam gives have in common; of `folder Bin (trash)` the end.
REASONS = {
    "trash": "^trash$",
    "deleted": "deleted|trashed|expunged",
    "drafts": "draft",
    "chats": "chats",
    "copy": "copy|copies|all mail",
    "encrypted": "encrypted",
    "zstd": "zstd",
    "no mail": "no mail|empty|index|settings|internal",
}


def name_reason(text: str) -> str:
    """The key of REASONS for a reason; the reason itself if there is none."""
    end = re.sub(r".*\((.*)\)", r"\1", text)
    return next((name for name, pattern in REASONS.items() if re.search(pattern, end)), end)


def read_tree(path: Path, top: Path | None = None) -> tuple[Counter[Laid], Counter[str]]:
    """Each message, and how many messages and files are left out, by reason.  top : where it was laid out"""
    source = open_labelled([str(path)])
    skipped: list[tuple[str, str]] = []
    found: Counter[Laid] = Counter()
    for item, data in read_items(source.items(), skipped):
        last_word = re.search(rb"(\d+)\s*\Z", data)
        number = int(last_word[1]) if last_word else 0
        found[Laid(os.path.relpath(item.path, top or path), item.label, number)] += 1
    reasons = Counter(why for _, why in [*source.skipped, *skipped]) + source.left_out
    left_out: Counter[str] = Counter()
    for reason, number in reasons.items():
        left_out[name_reason(reason)] += number
    return found, left_out


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("tree", READ.values(), ids=READ)
def test_tree_of_a_mail_program_is_read_file_by_file(tree: Tree, language: str, tmp_path: Path) -> None:
    """Also if only one account is named."""
    laid = lay_out(tmp_path, tree, language)
    for account in ["", *tree.head.split(", ")[:1]]:
        inside = [one for one in laid if one.path.startswith(account)]
        found, left_out = read_tree(tmp_path / account, tmp_path)
        assert found == Counter(one for one in inside if one.right in ("ham", "spam"))
        others = (one.right for one in inside if one.right not in ("ham", "spam", UNSEEN))
        assert left_out == Counter("drafts" if right == "draft" else right for right in others)


@pytest.mark.parametrize("tree", REFUSED.values(), ids=REFUSED)
def test_tree_that_cannot_be_learned_from_is_refused_with_the_next_step(tree: Tree, tmp_path: Path) -> None:
    lay_out(tmp_path, tree)
    _, slug, next_step = tree.head.split(" ", 2)
    with pytest.raises(NbspamError) as caught:
        open_labelled([str(tmp_path)])
    assert caught.value.slug == slug
    assert next_step in f"{caught.value} {caught.value.remedy}"


# Folders of cPanel, directadmin-teach-sa, Uberspace, rspamd's scanner, isbg, dovecot-antispam and SpamBayes
UNCLEAR = [
    "Spam/Falsos positivos",
    "Junk/faux positifs",
    "Junk/legit",
    *(".Junk.NotJunk", "Spam/Ham", "Spam/NotSpam", "Spam.TrainHam", "Junk/False positives", "spam/unsure"),
    *("Quarantine", "Quarant&AOQ-ne", "Learn.NotSpam", "Virus"),
    *("INBOX.teach-isspam", "INBOX.teach-isnotspam", "0 Spamfilter/als Ham lernen", "scanner/train.spam"),
    *("Junk/Kein Spam", "Junk Suspects", "False Negatives", "Junk.released"),
]


@pytest.mark.parametrize("inbox", ["Posteingang", "ham", "受信トレイ"])
def test_folders_of_messages_in_accounts_have_their_roles(inbox: str, tmp_path: Path) -> None:
    for account in ("anna", "bob"):
        write_folders(tmp_path / account, {inbox: [mail("the minutes")], "Spam": [mail("cheap pills")]})
    found, _ = read_tree(tmp_path)
    assert Counter(one.right for one in found) == {"ham": 2, "spam": 2}


def test_folder_of_a_maildir_has_its_mail_if_empty_folders_are_lost(tmp_path: Path) -> None:
    for place, word in (("cur/1:2,S", "lunch"), (".Junk/new/2", "casino"), (".Work/cur/3:2,S", "minutes")):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_bytes(mail(word))
    found, _ = read_tree(tmp_path)
    assert Counter(one.right for one in found) == {"ham": 2, "spam": 1}


def test_tree_whose_folders_are_all_left_out_names_them(tmp_path: Path) -> None:
    lay_out(tmp_path / "mail", Tree("", "", [["INBOX", "maildir", "2 ham"], ["Junk", "maildir", "1 spam"]]))
    (tmp_path / "rules").write_text("* -\n")
    with pytest.raises(NbspamError, match=r"2 left out \(folder INBOX \(by a rule\)\)"):
        open_labelled([f"{tmp_path}/mail"], rules=f"{tmp_path}/rules")


def test_what_is_no_file_next_to_class_folders_is_named(tmp_path: Path) -> None:
    write_folders(tmp_path, {"ham": [mail("lunch")], "spam": [mail("casino")]})
    os.mkfifo(tmp_path / "fifo")
    assert read_tree(tmp_path)[1] == {"not a regular file": 1}


def test_folder_in_a_part_of_a_maildir_is_told(tmp_path: Path) -> None:
    for place in ("cur/1:2,S", ".Junk/cur/2:2,S", "cur/sub/3:2,S"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(mail(place))
    assert read_tree(tmp_path)[1] == {"folder inside a Maildir": 1}


@pytest.mark.parametrize("name", ["{number:02} {name}", "{number}_{name}", "\U0001f4c1 {name}"])
def test_folders_with_numbers_or_pictures_are_a_tree(name: str, tmp_path: Path) -> None:
    roles = {"Inbox": "ham", "Sent": "", "Spam": "spam", "Trash": "", "Work": "ham"}
    for number, role in enumerate(roles, 1):
        write_folders(tmp_path, {name.format(number=number, name=role): [mail(role)]})
    found, _ = read_tree(tmp_path)
    assert Counter(one.right for one in found) == {"ham": 2, "spam": 1}


def test_mbox_with_a_first_blank_line_is_read_in_a_tree(tmp_path: Path) -> None:
    for name, start in (("Inbox", b""), ("Work", b"\n"), ("Junk", b"\xef\xbb\xbf")):
        message = b"From a@b Mon Jul 11 12:08:34 2011\nSubject: " + name.encode() + b"\n\ntext\n\n"
        (tmp_path / name).write_bytes(start + 2 * message)
    found, left_out = read_tree(tmp_path)
    assert (found.total(), left_out) == (6, Counter())


def test_message_in_the_mailboxes_of_several_labels_of_gmail_counts_once(tmp_path: Path) -> None:
    for name, labels in {"Inbox": "Inbox,Opened", "Opened": "Opened,Inbox", "Spam": "Spam"}.items():
        head = f"From 1@xxx Mon Apr 07 14:31:02 +0000 2025\nX-GM-THRID: 1\nX-Gmail-Labels: {labels}\n"
        (tmp_path / f"{name}.mbox").write_bytes(head.encode() + mail("spam" if name == "Spam" else "ham"))
    source = open_labelled([str(tmp_path)])
    for _ in range(2):
        assert [item.label for item in source.items()] == ["ham", "spam"]
        assert [count.total() for _, count in source.counts] == [1, 0, 0, 0, 0, 1]
    assert list(source.left_out.values()) == [1]


def test_takeout_may_begin_with_a_message_without_labels(tmp_path: Path) -> None:
    for path in (tmp_path / "All mail.mbox", tmp_path / "Takeout" / "All mail.mbox"):
        path.parent.mkdir(exist_ok=True)
        for labels in ("", "X-Gmail-Labels: Spam\n", "X-Gmail-Labels: Sent\n"):
            head = f"From 1@xxx Mon Apr 07 14:31:02 +0000 2025\nX-GM-THRID: 1\n{labels}"
            with path.open("ab") as file:
                file.write(head.encode() + mail(labels or "a long letter " * 1000) + b"\n")
        for source in (open_labelled([str(path)]), open_labelled([str(path.parent)])):
            assert [item.label for item in source.items()] == ["ham", "spam"]
        path.unlink()


@pytest.mark.parametrize("wrong_by", [-37, -1, 0, 37])
def test_message_of_apple_mail_is_read_if_its_count_is_wrong(wrong_by: int, tmp_path: Path) -> None:
    path, text = tmp_path / "1.emlx", mail("the minutes")
    path.write_bytes(b"%d\n%s<?xml version='1.0'?><plist></plist>" % (len(text) + wrong_by, text))
    assert Item(str(path), "", str(path)).read() == text


@pytest.mark.parametrize("name", UNCLEAR)
def test_folder_that_may_be_spam_or_ham_is_asked_for(name: str, tmp_path: Path) -> None:
    rows = [["INBOX", "maildir", "1 ham"], ["Junk", "maildir", "1 spam"], [name, "maildir", ""]]
    lay_out(tmp_path / "mail", Tree("", "", rows))
    open_labelled([f"{tmp_path}/mail"])  # an empty one says nothing
    lay_out(tmp_path / "mail", Tree("", "", [[name, "maildir", "1 ham"]]))
    with pytest.raises(NbspamError) as caught:
        open_labelled([f"{tmp_path}/mail"])
    assert caught.value.slug == "folder-unclear"
    assert caught.value.where.endswith(name)
    (tmp_path / "rules").write_text(caught.value.remedy.partition("FILE`: ")[2].partition(" (")[0])
    source = open_labelled([f"{tmp_path}/mail"], rules=f"{tmp_path}/rules")
    assert Counter(item.label for item in source.items()) == {"ham": 1, "spam": 2}


def read_cases() -> dict[str, list[list[str]]]:
    """[command, exit status, pattern] of each step, by claim."""
    blocks = (FOLDER / "cases.txt").read_text("utf-8").strip().split("\n\n")[1:]
    lines = (block.split("\n  ") for block in blocks)
    return {claim: [step.split("  ") for step in steps] for claim, *steps in lines}


CASES = read_cases()


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_reported_case_is_right(
    steps: list[list[str]], data_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("NBSPAM_MODEL", str(shutil.copy(data_model, tmp_path)))
    places = {"new": tmp_path / "new"} | {name: tmp_path / name for name in (READ | REFUSED)}
    for command, status, pattern in steps:
        for name in re.findall(r"{(\w+)}", command):
            if name != "new":
                lay_out(places[name], (READ | REFUSED)[name])
        done: Done = program(*shlex.split(command.format_map(places)))
        shown = (done.stdout + done.stderr).decode()
        assert done.returncode == int(status), shown
        assert re.search(pattern, shown, re.MULTILINE), shown


@pytest.mark.corpora
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("corpus", "index", "name", "language", "times"),
    [
        ("spamassassin sa", "train.index", "thunderbird", "de", 20),
        ("trec06p_late trec06p_late", "index", "mbsync", "ja", 20),
        ("household household", "index", "apple mail", "en", 3),
    ],
)
def test_model_of_a_tree_judges_as_that_of_the_same_mail_by_an_index(
    corpus: str, index: str, name: str, language: str, times: int, tmp_path: Path
) -> None:
    """Within 2 points in either class, on mail that follows in time."""
    stream = open_labelled([str(corpus_or_skip(*corpus.split()) / index)]).items()
    used = [Item("", "", "")]  # the stream counts from 1

    def read_stream() -> Iterator[tuple[str, bytes]]:
        for item in stream:
            used.append(item)
            yield item.label, item.read()

    laid = lay_out(tmp_path / "tree", READ[name], language, read_stream(), times=times)
    same = [(one.right, used[one.number].path) for one in laid if one.right in ("ham", "spam")]
    later = [(item.label, item.path) for item in islice(stream, 1000)]
    figures = []
    for source in (tmp_path / "tree", make_index(tmp_path, same, "same")):
        model = tmp_path / f"{source.name}.nbspam"
        run("train", "-q", source, "-m", model)
        figures.append(json.loads(run("eval", "-m", model, make_index(tmp_path, later), "--json")))
    for figure in ("hm_percent", "sm_percent"):
        assert abs(figures[0][figure] - figures[1][figure]) <= 2
