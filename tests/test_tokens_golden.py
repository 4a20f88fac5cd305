"""The tokens of a dozen messages, written down: the specification's other half.

A second implementation of docs/tokens.md must give these files.  `python -m tests.test_tokens_golden`
writes them anew after a wanted change; the commit then shows what changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nbspam.mail import parse
from nbspam.tokens import tokenize
from nbspam.tokens.bag import READ_VIEWS

GOLDEN = Path(__file__).resolve().parent / "golden"
MESSAGES = sorted(GOLDEN.glob("*.eml"))


def written(message: Path) -> str:
    """A token a line, its view before it, in the order of the message."""
    bag = tokenize(parse(message.read_bytes()), ("measures", "bigrams"))
    views = (*bag.views(), bag.measures)
    lines = [f"{view}\t{text}" for view, found in zip(READ_VIEWS, views, strict=True) for text in found]
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda path: path.stem)
def test_tokens_are_as_written_down(message: Path) -> None:
    assert written(message) == message.with_suffix(".tokens").read_text("utf-8")


def test_every_message_has_its_tokens_and_no_tokens_lack_a_message() -> None:
    assert len(MESSAGES) >= 12
    assert [path.stem for path in MESSAGES] == sorted(path.stem for path in GOLDEN.glob("*.tokens"))


if __name__ == "__main__":
    for path in MESSAGES:
        path.with_suffix(".tokens").write_text(written(path), "utf-8")
