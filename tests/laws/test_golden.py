"""The golden files: 120 messages and all that is read of each, the acceptance test of any faster reader.

A second implementation of docs/tokens.md must give these files.  `python -m tests.laws.test_golden` writes
them anew after a wanted change; the commit then shows what changed.
"""

import hashlib
from pathlib import Path

import pytest

from nbspam.tokens import read
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC, RAW, READ_VIEWS, SIGNATURE, Tokens
from nbspam.tokens.numeric import NAMES

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
MESSAGES = sorted(GOLDEN.glob("*.eml"))
N_MESSAGES = 120

each_message = pytest.mark.parametrize("message", MESSAGES, ids=lambda path: path.stem)


def tokens_of(message: Path) -> Tokens:
    """All that can be read of a message."""
    return read(message.read_bytes(), (BIGRAMS, RAW, MEASURES, SIGNATURE, NUMERIC, DATE))


def written(tokens: Tokens) -> str:
    """VIEW TAB TOKEN lines in the order of the message, then NAME TAB VALUE lines: features and the date.

    Tokens of raw bytes are many, and nobody reads them: their number and a digest stand for them.
    """
    lines = [f"{view}\t{token}" for view in READ_VIEWS if view != RAW for token in getattr(tokens, view)]
    digest = hashlib.sha256("\n".join(tokens.raw).encode()).hexdigest()
    lines.append(f"{RAW}\t{len(tokens.raw)}\t{digest[:16]}")
    values = zip(NAMES, tokens.numeric, strict=True)
    lines += [f"{name}\t{value!r}" for name, value in values]
    lines.append(f"date\t{tokens.date!r}")
    return "".join(line + "\n" for line in lines)


@each_message
def test_tokens_are_as_written_down(message: Path) -> None:
    assert written(tokens_of(message)) == message.with_suffix(".tokens").read_text("utf-8")


@each_message
def test_reading_meets_no_fault_of_the_program(message: Path) -> None:
    assert not tokens_of(message).failures


def test_every_message_has_its_tokens_and_no_tokens_lack_a_message() -> None:
    assert len(MESSAGES) >= N_MESSAGES
    assert [path.stem for path in MESSAGES] == sorted(path.stem for path in GOLDEN.glob("*.tokens"))


if __name__ == "__main__":
    for path in MESSAGES:
        path.with_suffix(".tokens").write_text(written(tokens_of(path)), "utf-8")
