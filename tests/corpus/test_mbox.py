"""Where messages of an mbox begin and end; compressed mboxes; the quoting of From lines."""

import bz2
import gzip
import lzma
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.cli.classify import ReadableMessages
from nbspam.corpus.item import PACKED_STARTS
from nbspam.corpus.mbox import begins_mbox, find_only_message, split_messages, unquote
from nbspam.corpus.source import Source
from nbspam.corpus.walk import SourcePart
from nbspam.limits import MAX_READ_BYTES

FROM = b"From ann@example.org Mon Jun 24 17:04:28 2002\n"


def mail(number: int, body: bytes = b"hello\n") -> bytes:
    return b"From: ann@example.org\nSubject: number %d\n\n" % number + body


def as_mbox(messages: list[bytes], line: bytes = FROM) -> bytes:
    """The mboxrd form of RFC 4155's family, written independently of the code under test."""
    quoted = (re.sub(rb"(?m)^(>*From )", rb">\1", message) for message in messages)
    return b"".join(line + message + b"\n" for message in quoted)


def joined(data: bytes, size: int) -> list[tuple[int, bytes]]:
    """(offset, bytes) of the messages when the mbox comes in chunks of `size`."""
    found: list[tuple[int, bytes]] = []
    whole = b""
    start = -1
    for offset, piece, ended in split_messages(data[at : at + size] for at in range(0, len(data), size)):
        start = offset if start < 0 else start
        whole += piece
        if ended:
            found.append((start, whole))
            whole, start = b"", -1
    return found


def read_all(path: Path) -> list[bytes]:
    return [item.read() for item in Source([SourcePart(str(path))]).items()]


PIECES = [b"", b"x", b"From ", b">From ", FROM[:-1], b">>From you", b"From a@b", b"\r", b"A: b", b" From "]
BODY_LINES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=12), max_size=8)


@given(st.lists(BODY_LINES, min_size=1, max_size=5), st.sampled_from([1, 3, 17, 1 << 20]))
def test_messages_written_as_mboxrd_come_back(bodies: list[list[bytes]], size: int) -> None:
    messages = [mail(i, b"".join(line + b"\n" for line in lines)) for i, lines in enumerate(bodies)]
    assert [unquote(message) for _, message in joined(as_mbox(messages), size)] == messages


@given(BODY_LINES, st.sampled_from([b"", b"\n", b"\r\n", b"\r\n\r\n"]), st.booleans())
def test_only_message_of_an_mbox_is_found_as_by_splitting(
    lines: list[bytes], ending: bytes, ends_in_header: bool
) -> None:
    data = FROM + (b"" if ends_in_header else mail(1)) + b"\n".join(lines) + ending
    only = find_only_message(data)
    if begins_mbox(data) and only:
        assert joined(data, len(data)) == [(only[0], data[slice(*only)])]
    assert only or b"\nFrom " in data


def test_crlf_mboxes_are_split(tmp_path: Path) -> None:
    messages = [mail(n).replace(b"\n", b"\r\n") for n in (1, 2)]
    line = FROM.replace(b"\n", b"\r\n")
    (tmp_path / "box").write_bytes(b"".join(line + message + b"\r\n" for message in messages))
    assert read_all(tmp_path / "box") == messages


@pytest.mark.parametrize("line", [b"From \n", b"From - \n", b"From a@example.org\n", b"From MAILER-DAEMON\n"])
def test_from_lines_without_a_date_split_if_a_header_follows(line: bytes) -> None:
    data = line + mail(1) + b"\n" + line + mail(2) + b"\n"
    assert begins_mbox(data)
    assert [message for _, message in joined(data, 5)] == [mail(1), mail(2)]
    text = FROM + mail(1, b"hi\n\n" + line + b"no header: here\n")
    assert len(joined(text, 5)) == 1


def test_an_endless_from_line_is_text_and_costs_no_memory() -> None:
    data = FROM + mail(1) + b"\nFrom " + b"x" * 100_000
    pieces = list(split_messages(data[at : at + 1000] for at in range(0, len(data), 1000)))
    assert b"".join(piece for _, piece, _ in pieces) == data[len(FROM) :]
    assert max(len(piece) for _, piece, _ in pieces) < 4000


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


def test_a_small_file_that_unpacks_to_a_huge_message_is_cut(tmp_path: Path) -> None:
    long = mail(1) + b"x" * (MAX_READ_BYTES + 1000)
    (tmp_path / "bomb").write_bytes(gzip.compress(long))
    (tmp_path / "box").write_bytes(gzip.compress(FROM + long + b"\n\n" + FROM))
    assert [len(data) for data in read_all(tmp_path / "bomb")] == [MAX_READ_BYTES]
    assert [len(data) for data in read_all(tmp_path / "box")] == [MAX_READ_BYTES, 0]


def test_classify_takes_an_mbox_of_one_message_for_the_message(tmp_path: Path) -> None:
    (tmp_path / "mbox").write_bytes(FROM + mail(1) + b"\n>From here\n" + b"x" * 3_000_000 + b"\n\n")
    start = mail(1) + b"\nFrom here\n"
    [(name, data)] = ReadableMessages([str(tmp_path / "mbox")])
    assert name == str(tmp_path / "mbox")
    assert data == start + b"x" * (MAX_READ_BYTES - len(start) - 1)


def test_messages_of_an_mbox_are_numbered_and_a_single_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(FROM + mail(1, b">From here\n"))
    (tmp_path / "three").write_bytes(as_mbox([mail(1), mail(2), mail(3)]))
    names = [Path(item.name).name for item in Source([SourcePart(str(tmp_path))]).items()]
    assert names == ["one", "three#1", "three#2", "three#3"]
    assert read_all(tmp_path / "one") == [mail(1, b"From here\n")]


@pytest.mark.parametrize(
    "first",
    [
        mail(1, b"hi\n\nFrom Monday on we open at 10:00\nbye\n"),
        mail(1, b"hi\n" + FROM + b"bye\n"),
        b"Content-Length: 99999\n" + mail(1),
    ],
    ids=["a sentence after an empty line", "no empty line before it", "a wrong Content-Length"],
)
def test_text_that_looks_like_a_from_line_does_not_split_a_message(first: bytes, tmp_path: Path) -> None:
    (tmp_path / "box").write_bytes(FROM + first + b"\n" + FROM + mail(2) + b"\n")
    assert read_all(tmp_path / "box") == [first, mail(2)]


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("n_messages", [1, 50])
def test_compressed_mbox_has_messages_of_plain_one(kind: str, n_messages: int, tmp_path: Path) -> None:
    messages = [mail(n, b"From here\n" + b"x" * n * 1000 + b"\n") for n in range(n_messages)]
    for name, data in (("plain", as_mbox(messages)), ("packed", PACKERS[kind](as_mbox(messages)))):
        (tmp_path / name).write_bytes(data)  # the name does not say what it is
        items = list(Source([SourcePart(str(tmp_path / name))]).items())
        assert [item.read() for item in items] == messages
        assert items[-1].name == f"{tmp_path}/{name}" + ("#50" if n_messages == 50 else "")
        assert items[-1].read(10) == messages[-1][:10]


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKERS)
def test_beginning_of_damaged_compressed_mbox_is_read_and_file_is_named(kind: str, tmp_path: Path) -> None:
    noise = random.Random(1)
    size = 30_000 if kind == "bz2" else 3_000  # bzip2 has blocks of 900 kB
    messages = [mail(n, noise.randbytes(size).hex().encode() + b"\n") for n in range(60)]
    packed = PACKERS[kind](as_mbox(messages))
    keep = len(packed) * 9 // 10
    for data in (packed[:keep], packed[:keep] + b"\x00\xff" * 20 + packed[keep + 40 :]):
        (tmp_path / "box").write_bytes(data)
        source = Source([SourcePart(str(tmp_path / "box"))])
        read = [item.read() for item in source.items()]
        assert read[:40] == messages[:40]
        ((path, why),) = source.skipped
        assert path == f"{tmp_path}/box"
        assert "damaged" in why
    (tmp_path / "box").write_bytes(packed[:20])  # no byte can be read
    source = Source([SourcePart(str(tmp_path / "box"))])
    assert list(source.items()) == []
    assert len(source.skipped) == 1


@pytest.mark.parametrize("magic", [one for one, kind in PACKED_STARTS.items() if kind not in PACKERS])
def test_files_of_other_compressions_are_no_messages(
    magic: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Maildir" / "cur" / "1:2,S"
    path.parent.mkdir(parents=True)
    path.write_bytes(magic + mail(1))
    why = f"packed with {PACKED_STARTS[magic]}, which nbspam does not read"
    source = Source([SourcePart(str(path))])
    assert list(source.items()) == []
    assert source.skipped == [(str(path), why)]
    assert list(ReadableMessages([str(path)])) == []
    assert f"{path}: {why}" in capsys.readouterr().err
