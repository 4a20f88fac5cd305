"""Index files, and the lines of files that people write."""

import os
from collections.abc import Iterator

from nbspam.corpus.item import describe_error
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import parse_class_name


def read_index(index: str) -> Iterator[tuple[str, str]]:
    """(class name, path) of each line `LABEL PATH` of an index file, as those of TREC.

    PATH is relative to the index file's folder, may contain spaces, and names a message, an mbox or a folder.
    Empty lines and those that begin with `#` are ignored.  Millions of lines cost no memory.
    """
    base = os.path.dirname(index)
    names: dict[str, str] = {}
    try:
        for where, text in read_lines(index):
            fields = text.split(None, 1)
            if len(fields) != 2 or "\0" in text:
                why = f"{text[:40]!r} is not `LABEL PATH`"
                raise BadDataError(where, why, "write for example: spam mail/0001", "index-line")
            label, path = fields
            if label not in names:
                if "/" in label and os.path.isfile(os.path.join(base, label)):  # `spam spam` names an mbox
                    why = f"the first column names a file, {label[:40]!r}"
                    raise BadDataError(where, why, "write the class first: `LABEL PATH`", "index-line")
                names[label] = parse_class_name(label, where)
            yield names[label], os.path.join(base, path)
    except OSError as error:
        raise unreadable(index, describe_error(error)) from error


def read_lines(path: str) -> Iterator[tuple[str, str]]:
    """(PATH:NUMBER, text) of each line of a file that people write, except empty lines and comments."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip(" \t\r\n")
            if text.strip() and not text.startswith("#"):
                yield f"{path}:{number}", text


def unreadable(path: str, why: str) -> NoInputError:
    """The error that a path given by the user cannot be read."""
    return NoInputError(path, why, "check the path and its permissions", "source-unreadable")
