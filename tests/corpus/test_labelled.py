"""A source that cannot be used is refused, with place, reason and remedy, before any mail is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.corpus import open_labelled, open_unlabelled
from nbspam.errors import BadDataError, NbspamError, NoInputError, UsageError
from nbspam.labels import MAX_CLASSES

FROM = b"From ann@example.org Mon Jun 24 17:04:28 2002\n"
MAIL = b"From: ann@example.org\n\nhello\n"


def put(path: Path, data: bytes = MAIL) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def labelled(top: Path, *files: str) -> list[str]:
    for name in files:
        if name.endswith("/"):
            (top / name).mkdir(parents=True)
        else:
            put(top / name)
    top.mkdir(exist_ok=True)
    return [str(top)]


def fifo(path: Path) -> str:
    os.mkfifo(path)
    return str(path)


def rules(top: Path, text: bytes) -> None:
    open_labelled(labelled(top / "t", "INBOX/1", "Junk/1"), rules=put(top / "rules", text))


Attempt = Callable[[Path], object]
REFUSED: list[tuple[str, type[NbspamError], Attempt]] = [
    ("no-source", UsageError, lambda t: open_labelled()),
    ("no-such-source", NoInputError, lambda t: open_labelled([str(t / "none")])),
    ("no-such-source", NoInputError, lambda t: open_labelled(ham=[str(t / "none")])),
    ("no-such-source", NoInputError, lambda t: open_unlabelled([str(t / "none")])),
    ("source-unreadable", NoInputError, lambda t: open_labelled([str(t) + "\0"])),
    ("source-unreadable", NoInputError, lambda t: open_labelled([put(t / "file") + "/inside"])),
    ("source-empty", NoInputError, lambda t: open_labelled(labelled(t / "x"))),
    ("source-empty", NoInputError, lambda t: open_labelled(labelled(t / "x", "ham/", "spam/"))),
    ("source-empty", NoInputError, lambda t: open_labelled([put(t / "index", b"")])),
    ("source-empty", NoInputError, lambda t: open_labelled([put(t / "index", b"# nothing\n")])),
    ("source-empty", NoInputError, lambda t: open_labelled(ham=[put(t / "box", b"")])),
    ("source-empty", NoInputError, lambda t: open_labelled(labelled(t / "x", "INBOX/cur/", ".Junk/cur/"))),
    ("source-kind", NoInputError, lambda t: open_labelled(ham=[fifo(t / "fifo")])),
    ("source-kind", NoInputError, lambda t: open_labelled([fifo(t / "fifo")])),
    ("class-empty", NoInputError, lambda t: open_labelled(labelled(t / "x", "ham/1", "spam/"))),
    (
        "class-empty",
        NoInputError,
        lambda t: open_labelled(labelled(t / "x", "cur/1", "new/", "tmp/", ".Junk/cur/")),
    ),
    ("one-class", BadDataError, lambda t: open_labelled(labelled(t / "x", "ham/1"))),
    ("one-class", BadDataError, lambda t: open_labelled(labelled(t / "x", "cur/1", ".Lists/cur/1"))),
    ("one-class", BadDataError, lambda t: open_labelled(spam=labelled(t / "x", "1"))),
    ("unlabelled", BadDataError, lambda t: open_labelled(labelled(t / "x", "1", "2"))),
    ("unlabelled", BadDataError, lambda t: open_labelled(labelled(t / "x", "cur/1", "new/", "tmp/"))),
    ("unlabelled", BadDataError, lambda t: open_labelled([put(t / "message")])),
    ("unlabelled", BadDataError, lambda t: open_labelled([put(t / "box", FROM + MAIL)])),
    ("unlabelled", BadDataError, lambda t: open_labelled([put(t / "box.gz", b"\x1f\x8b\x08...")])),
    ("unlabelled", BadDataError, lambda t: open_labelled([put(t / "binary", b"a \0b\0")])),
    ("index-line", BadDataError, lambda t: open_labelled([put(t / "index", b"ham 1\nspam\n")])),
    (
        "index-line",
        BadDataError,
        lambda t: open_labelled([put(t / "index", b"ham 1\n" * 300 + b"spam a\0b\n")]),
    ),
    ("index-paths", NoInputError, lambda t: open_labelled([put(t / "index", b"ham x/1\nspam x/2\n")])),
    ("class-name", BadDataError, lambda t: open_labelled([put(t / "index", b"h\x1b[31m x/1\nspam x/2\n")])),
    ("class-name", BadDataError, lambda t: open_labelled(labelled(t / "x", "ham/1", "a\tb/1"))),
    ("class-name", BadDataError, lambda t: open_labelled(labelled(t / "x", "ham/1", "unsure/1"))),
    ("class-name", BadDataError, lambda t: open_labelled(classes={"": [put(t / "1")]})),
    ("no-such-rules", NoInputError, lambda t: open_labelled(labelled(t, "a/1"), rules=str(t / "none"))),
    ("rules-line", BadDataError, lambda t: rules(t, b"INBOX ham\nJunk\n")),
    ("class-name", BadDataError, lambda t: rules(t, b"INBOX unsure\n")),
    (
        "rules-unused",
        UsageError,
        lambda t: open_labelled(ham=[put(t / "1")], rules=put(t / "rules", b"* ham\n")),
    ),
]


@pytest.mark.parametrize(
    ("slug", "kind", "attempt"), REFUSED, ids=[f"{n}-{r[0]}" for n, r in enumerate(REFUSED)]
)
def test_a_source_that_cannot_be_used_is_refused(
    slug: str, kind: type[NbspamError], attempt: Attempt, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        attempt(tmp_path)
    error = caught.value
    assert (error.slug, type(error)) == (slug, kind)
    assert error.where
    assert error.why
    assert error.remedy


def test_a_bad_line_is_named_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(BadDataError) as caught:
        open_labelled([put(tmp_path / "index", b"# one\n\nham 1\nspam\n")])
    assert caught.value.where == f"{tmp_path}/index:4"


def test_an_empty_class_is_named_by_its_folder(tmp_path: Path) -> None:
    with pytest.raises(NoInputError) as caught:
        open_labelled(labelled(tmp_path / "x", "ham/1", "spam/"))
    assert caught.value.where == f"{tmp_path}/x/spam"
    assert "class spam" in caught.value.why


def test_a_class_of_which_nothing_can_be_read_says_why(tmp_path: Path) -> None:
    paths = labelled(tmp_path / "x", "ham/1", "spam/")
    (tmp_path / "x" / "spam" / "1").symlink_to("nowhere")
    with pytest.raises(NoInputError, match=r"1 skipped, the first .*link to nothing"):
        open_labelled(paths)


@pytest.mark.parametrize("by_index", [False, True])
def test_it_says_why_of_that_class(by_index: bool, tmp_path: Path) -> None:
    paths = labelled(tmp_path / "x", "ham/1", "spam/")
    for name in ("ham/0", "spam/2", "spam/3"):
        (tmp_path / "x" / name).symlink_to("nowhere")
    if by_index:
        paths = [put(tmp_path / "x" / "index", b"ham ham/0\nham ham/1\nspam spam/2\nspam spam/3\n")]
    with pytest.raises(NoInputError, match=r"class spam; 2 skipped, the first .*/spam/[23]: "):
        open_labelled(paths)


def test_one_class_is_enough_where_the_caller_says_so(tmp_path: Path) -> None:
    source = open_labelled(ham=labelled(tmp_path / "x", "1"), allow_one_class=True)
    assert source.classes == ("ham",)


def test_more_classes_than_a_model_holds_are_told_before_any_mail_is_read(tmp_path: Path) -> None:
    assert 3 + 4 * MAX_CLASSES <= 2_000  # columns of `token` on a prior model, as many as SQLite allows
    lines = [f"c{number} mail" for number in range(MAX_CLASSES + 1)]
    (tmp_path / "mail").write_bytes(b"Subject: hello\n\nhello\n")
    (tmp_path / "index").write_text("\n".join(lines[:-1]))
    assert len(open_labelled([str(tmp_path / "index")]).classes) == MAX_CLASSES
    (tmp_path / "index").write_text("\n".join(lines))
    with pytest.raises(BadDataError, match=f"there are {MAX_CLASSES + 1}, and a model holds at most"):
        open_labelled([str(tmp_path / "index")])
