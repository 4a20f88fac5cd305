"""Where messages of an mbox begin and end; compressed mboxes; the quoting of From lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mailbox
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.cli.classify import named_messages, single_message
from nbspam.corpus import open_unlabelled
from nbspam.corpus.item import MAGIC, UNPACKED
from nbspam.corpus.mbox import begins_mbox, fragments, is_dated, unquoted
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.passthrough import unboxed

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
    for offset, piece, ended in fragments(data[at : at + size] for at in range(0, len(data), size)):
        start = offset if start < 0 else start
        whole += piece
        if ended:
            found.append((start, whole))
            whole, start = b"", -1
    return found


def read_all(path: Path) -> list[bytes]:
    return [item.read() for item in open_unlabelled([str(path)]).items()]


BODY_LINES = st.lists(
    st.sampled_from(
        [
            b"",
            b"x",
            b"From ",
            b">From ",
            FROM[:-1],
            b">>From you",
            b"From a@b",
            b"\r",
            b"A: b",
            b"\0\xff",
            b" From ",
        ]
    )
    | st.binary(max_size=12),
    max_size=8,
)


@given(st.lists(BODY_LINES, min_size=1, max_size=5), st.sampled_from([1, 3, 17, 1 << 20]))
def test_messages_written_as_mboxrd_come_back(bodies: list[list[bytes]], size: int) -> None:
    messages = [mail(i, b"".join(line + b"\n" for line in lines)) for i, lines in enumerate(bodies)]
    assert [unquoted(message) for _, message in joined(as_mbox(messages), size)] == messages


@given(st.binary(max_size=200), st.sampled_from([1, 2, 7, 64]))
def test_the_size_of_chunks_changes_nothing(junk: bytes, size: int) -> None:
    data = FROM + junk + b"\n\n" + FROM + junk
    assert joined(data, size) == joined(data, 1 << 20)


def test_messages_are_those_that_the_standard_library_wrote(tmp_path: Path) -> None:
    box = mailbox.mbox(str(tmp_path / "box"))
    messages = [mail(1), mail(2, b"\nFrom here on\n\nmore\n"), mail(3, b"\n\n\nend\n")]
    for message in messages:
        box.add(message)
    box.close()
    assert read_all(tmp_path / "box") == messages


def test_crlf_mboxes_are_split(tmp_path: Path) -> None:
    messages = [mail(n).replace(b"\n", b"\r\n") for n in (1, 2)]
    line = FROM.replace(b"\n", b"\r\n")
    (tmp_path / "box").write_bytes(b"".join(line + message + b"\r\n" for message in messages))
    assert read_all(tmp_path / "box") == messages


@pytest.mark.parametrize(
    "line",
    [
        "From ann@example.org Mon Jun 24 17:04:28 2002",
        "From ann@example.org  Mon Jun  4 7:04 2002",
        "From - Tue Jan 01 00:00:00 2030",
        "From MAILER-DAEMON Fri Jul  8 12:08:34 2011",
        "From ann Tue Jul 9 10:11:12 2002 +0200",
        "From 123@xxx Mon Jun 24 17:04:28 +0000 2002",
        "From ann at example.org Mon, 24 Jun 2002 17:04:28 GMT",
        "From ann Mon Jun 24 17:04:28 MET DST 2002",
        "From ann Mon Jun 24 17:04:28 2002 remote from relay",
    ],
)
def test_a_from_line_with_a_date_begins_a_message(line: str) -> None:
    assert is_dated(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        "From here to there",
        "From Monday on we open at 10:00",
        "From John Doe, Mon Jun 24 17:04 2002:",
        "From ann Mon Jun 24 17:04:28 2002 he wrote",
        "From ann Mon Jun 44 17:04:28 2002",
        "From ann Mon Jun 24 17:04:28 20020",
        "From ann Mon Jun 24 2002",
        "From ",
        "",
    ],
)
def test_a_sentence_that_begins_with_from_is_text(line: str) -> None:
    assert not is_dated(line.encode())


@pytest.mark.parametrize("line", [b"From \n", b"From - \n", b"From a@example.org\n", b"From MAILER-DAEMON\n"])
def test_from_lines_without_a_date_split_if_a_header_follows(line: bytes) -> None:
    data = line + mail(1) + b"\n" + line + mail(2) + b"\n"
    assert begins_mbox(data)
    assert [message for _, message in joined(data, 5)] == [mail(1), mail(2)]
    text = FROM + mail(1, b"hi\n\n" + line + b"no header: here\n")
    assert len(joined(text, 5)) == 1


def test_an_mbox_may_hold_empty_messages() -> None:
    assert [message for _, message in joined(FROM + b"\n" + FROM + b"\n", 4)] == [b"", b""]


def test_an_endless_from_line_is_text_and_costs_no_memory() -> None:
    data = FROM + mail(1) + b"\nFrom " + b"x" * 100_000
    pieces = list(fragments(data[at : at + 1000] for at in range(0, len(data), 1000)))
    assert b"".join(piece for _, piece, _ in pieces) == data[len(FROM) :]
    assert max(len(piece) for _, piece, _ in pieces) < 4000


def test_one_quote_mark_is_removed_from_a_quoted_from_line() -> None:
    assert (
        unquoted(b">From a\n>>From b\n >From c\n>from d\n>From")
        == b"From a\n>From b\n >From c\n>from d\n>From"
    )


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


def test_a_small_file_that_unpacks_to_a_huge_message_is_cut(tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(gzip.compress(mail(1) + b"x" * (MAX_READ_BYTES + 1000)))
    (tmp_path / "box").write_bytes(
        gzip.compress(FROM + mail(1) + b"x" * (MAX_READ_BYTES + 1000) + b"\n\n" + FROM)
    )
    assert [len(data) for data in read_all(tmp_path / "bomb")] == [MAX_READ_BYTES]
    assert [len(data) for data in read_all(tmp_path / "box")] == [MAX_READ_BYTES, 0]


def test_classify_recognises_an_mbox_of_many_by_its_first_message(
    tmp_path: Path,
) -> None:
    one = b"From a@b.example Mon Jun  3 10:00:00 2024\nSubject: s\n\n>From here\n\n"

    def chunks() -> Iterator[bytes]:
        yield one * 40
        pytest.fail("the second message was read, too")

    assert unboxed(one, chunks()) is None
    assert unboxed(one[:50], iter([one[50:]])) == b"Subject: s\n\nFrom here\n"
    big = tmp_path / "mbox"
    big.write_bytes(one + b"x" * 3_000_000 + b"\n\n")
    start = b"Subject: s\n\nFrom here\n\n"
    assert single_message(str(big)) == start + b"x" * (MAX_READ_BYTES - len(start) - 1)


def test_messages_of_an_mbox_are_numbered_and_a_single_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(FROM + mail(1, b">From here\n"))
    (tmp_path / "three").write_bytes(as_mbox([mail(1), mail(2), mail(3)]))
    names = [Path(item.name).name for item in open_unlabelled([str(tmp_path)]).items()]
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
def test_a_compressed_mbox_has_the_messages_of_the_plain_one(
    kind: str, n_messages: int, tmp_path: Path
) -> None:
    messages = [mail(n, b"From here\n" + b"x" * n * 1000 + b"\n") for n in range(n_messages)]
    for name, data in (("plain", as_mbox(messages)), ("packed", PACKERS[kind](as_mbox(messages)))):
        (tmp_path / name).write_bytes(data)  # the name does not say what it is
        items = list(open_unlabelled([str(tmp_path / name)]).items())
        assert [item.read() for item in items] == messages
        assert items[-1].name == f"{tmp_path}/{name}" + ("#50" if n_messages == 50 else "")
        assert items[-1].read(10) == messages[-1][:10]


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("damage", ["cut short", "damaged"])
def test_the_beginning_of_a_damaged_compressed_mbox_is_read_and_the_file_is_named(
    kind: str, damage: str, tmp_path: Path
) -> None:
    noise = random.Random(1)
    messages = [mail(n, noise.randbytes(30_000).hex().encode() + b"\n") for n in range(60)]
    packed = bytearray(PACKERS[kind](as_mbox(messages)))
    if damage == "cut short":
        del packed[len(packed) * 9 // 10 :]
    else:
        packed[len(packed) * 9 // 10 : len(packed) * 9 // 10 + 40] = b"\x00\xff" * 20
    (tmp_path / "box").write_bytes(packed)
    source = open_unlabelled([str(tmp_path / "box")])
    read = [item.read() for item in source.items()]
    assert read[:40] == messages[:40]
    assert len(read) <= len(messages)
    ((path, why),) = source.skipped
    assert path == f"{tmp_path}/box"
    assert damage in why


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_data_without_a_readable_byte_gives_no_message(kind: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(PACKERS[kind](mail(1, b"%d\n" % 7**4999))[:20])
    source = open_unlabelled([str(tmp_path / "one")])
    assert list(source.items()) == []
    assert [path for path, _ in source.skipped] == [f"{tmp_path}/one"]


@pytest.mark.parametrize("kind", ["gz", "xz"])  # bz2 of nothing has another magic number
def test_a_compressed_file_of_nothing_is_an_empty_message(kind: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(PACKERS[kind](b""))
    assert read_all(tmp_path / "one") == [b""]


@pytest.mark.parametrize("magic", [one for one, kind in MAGIC.items() if kind not in UNPACKED])
def test_files_of_other_compressions_are_no_messages(
    magic: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = magic + mail(1)
    path = tmp_path / "Maildir" / "cur" / "1:2,S"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    why = f"packed with {MAGIC[magic]}, which nbspam does not read"
    source = open_unlabelled([str(path)])
    assert list(source.items()) == []
    assert source.skipped == [(str(path), why)]
    (item,) = open_unlabelled([str(tmp_path / "Maildir")]).items()
    with pytest.raises(OSError, match=why):
        item.read()
    assert [str(error) for _, error in named_messages({}, [str(path)])] == [f"{path}: {why}"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert list(named_messages({}, ["-"])) == [("-", data)]  # what is piped in is a message
