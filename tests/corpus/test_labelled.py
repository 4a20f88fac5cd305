"""A source that cannot be used is refused, with place, reason and remedy, before any mail is read."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam import errors
from nbspam.corpus.labelled import open_labelled, open_unsorted
from nbspam.errors import BadDataError, NbspamError, NoInputError, UsageError
from nbspam.labels import MAX_CLASSES
from tests.laws.escapes import read_lines, unescape

Attempt = Callable[[Path], object]
FROM = b"From ann@example.org Mon Jun 24 17:04:28 2002\n"
MAIL = b"From: ann@example.org\n\nhello\n"


def put(path: Path, data: bytes = MAIL) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def labelled(top: Path, *names: str) -> list[str]:
    """A folder with these files, and folders whose names end in a slash."""
    top.mkdir(exist_ok=True)
    for name in names:
        if name.endswith("/"):
            (top / name).mkdir(parents=True)
        elif name == "fifo":
            os.mkfifo(top / name)
        elif name:
            put(top / name)
    return [str(top)]


def index(data: bytes) -> Attempt:
    return lambda top: open_labelled([put(top / "index", data)])


def folder(*names: str) -> Attempt:
    return lambda top: open_labelled(labelled(top / "x", *names))


def rules(data: bytes) -> Attempt:
    return lambda top: open_labelled(labelled(top / "t", "INBOX/1", "Junk/1"), rules=put(top / "rules", data))


def read_row(line: str) -> tuple[str, type[NbspamError], Attempt]:
    head, _, data = line.partition(":")
    slug, error, how = head.split()
    text = unescape(data.removeprefix(" "))
    attempts = {
        "index": index(text),
        "rules": rules(text),
        "folder": folder(*text.decode("latin-1").split(" | ")),
    }
    return slug, getattr(errors, error), attempts[how]


REFUSED: list[tuple[str, type[NbspamError], Attempt]] = [
    ("no-source", UsageError, lambda top: open_labelled()),
    ("no-such-source", NoInputError, lambda top: open_labelled([str(top / "none")])),
    ("no-such-source", NoInputError, lambda top: open_unsorted([str(top / "none")])),
    ("source-unreadable", NoInputError, lambda top: open_labelled([str(top) + "\0"])),
    ("source-unreadable", NoInputError, lambda top: open_labelled([put(top / "file") + "/inside"])),
    ("source-empty", NoInputError, lambda top: open_labelled(ham=[put(top / "box", b"")])),
    ("source-kind", NoInputError, lambda top: open_labelled(ham=[labelled(top, "fifo")[0] + "/fifo"])),
    ("one-class", BadDataError, lambda top: open_labelled(spam=labelled(top / "x", "1"))),
    ("index-line", BadDataError, index(b"ham 1\n" * 300 + b"spam a\0b\n")),
    ("class-name", BadDataError, lambda top: open_labelled(classes={"": [put(top / "1")]})),
    ("no-such-rules", NoInputError, lambda top: open_labelled(labelled(top, "a/1"), rules=f"{top}/none")),
    ("rules-unused", UsageError, lambda top: open_labelled(rules=put(top / "rules", b"* ham\n"))),
    *map(read_row, read_lines(Path(__file__).with_name("refused.txt"))["sources"]),
]


@pytest.mark.parametrize(("slug", "kind", "attempt"), REFUSED)
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


def test_a_bad_line_is_named_by_its_number_and_an_empty_class_by_its_folder(tmp_path: Path) -> None:
    with pytest.raises(BadDataError) as caught:
        open_labelled([put(tmp_path / "index", b"# one\n\nham 1\nspam\n")])
    assert caught.value.where == f"{tmp_path}/index:4"
    with pytest.raises(NoInputError, match="class spam") as empty:
        open_labelled(labelled(tmp_path / "x", "ham/1", "spam/"))
    assert empty.value.where == f"{tmp_path}/x/spam"


@pytest.mark.parametrize("by_index", [False, True])
def test_a_class_without_readable_mail_is_refused_with_the_reason(by_index: bool, tmp_path: Path) -> None:
    paths = labelled(tmp_path / "x", "ham/1", "spam/")
    for name in ("ham/0", "spam/2", "spam/3"):
        (tmp_path / "x" / name).symlink_to("nowhere")
    if by_index:
        paths = [put(tmp_path / "x" / "index", b"ham ham/0\nham ham/1\nspam spam/2\nspam spam/3\n")]
    with pytest.raises(NoInputError, match=r"class spam; 2 skipped, the first .*/spam/[23]: "):
        open_labelled(paths)


def test_more_classes_than_a_model_holds_are_refused_before_any_mail_is_read(tmp_path: Path) -> None:
    assert 3 + 2 * MAX_CLASSES <= 2_000  # columns of `token`, as many as SQLite allows
    lines = [f"c{number} mail{number}" for number in range(MAX_CLASSES + 1)]
    for line in lines:
        (tmp_path / line.split()[1]).write_bytes(b"Subject: hello\n\nhello\n")
    (tmp_path / "index").write_text("\n".join(lines[:-1]))
    assert len(open_labelled([str(tmp_path / "index")]).classes) == MAX_CLASSES
    (tmp_path / "index").write_text("\n".join(lines))
    with pytest.raises(BadDataError, match=f"there are {MAX_CLASSES + 1}, and a model holds at most"):
        open_labelled([str(tmp_path / "index")])
