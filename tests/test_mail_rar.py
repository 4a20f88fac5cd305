"""RAR: names in archives of both formats; archives written here, bit by bit, as the formats have it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail.message import MAX_NAMES
from tests.documents_made import read

OLDER, NEWER = b"Rar!\x1a\x07\x00", b"Rar!\x1a\x07\x01\x00"


def older(kind: int, flags: int, content: bytes = b"", packed: bytes = b"") -> bytes:
    size = 7 + len(content) + (4 if packed else 0)
    head = b"cc" + bytes((kind,)) + flags.to_bytes(2, "little") + size.to_bytes(2, "little")
    return head + (len(packed).to_bytes(4, "little") if packed else b"") + content + packed


def older_file(name: bytes, flags: int = 0x8000, high: int = 0) -> bytes:
    """A file of twenty bytes that stay as they are; `high` are the upper bytes of a large size."""
    before = b"unpked\x03crc_time" + b"\x14\x30" + len(name).to_bytes(2, "little") + b"attr"
    sizes = high.to_bytes(4, "little") + bytes(4) if flags & 0x100 else b""
    return older(0x74, flags, before[2:6] + before[6:] + sizes + name, b"x" * 20)


ARCHIVE = older(0x73, 0x08, b"\x07" * 6)  # solid


def varying(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes(found) + bytes((value,))


def newer(kind: int, content: bytes, extra: bytes = b"", packed: bytes = b"") -> bytes:
    flags = bool(extra) * 1 + bool(packed) * 2
    head = varying(kind) + varying(flags)
    head += (varying(len(extra)) if extra else b"") + (varying(len(packed)) if packed else b"")
    return b"chck" + varying(len(head + content + extra)) + head + content + extra + packed


def newer_file(name: bytes, flags: int = 0, extra: bytes = b"") -> bytes:
    between = b"time" * bool(flags & 2) + b"chck" * bool(flags & 4)
    content = varying(flags) + varying(300) + varying(33_188) + between + varying(8) + varying(1)
    return newer(2, content + varying(len(name)) + name, extra, b"\x01" * 300)


def test_names_in_an_archive_of_the_older_format() -> None:
    found = read(OLDER + ARCHIVE + older_file(b"scan.pdf.exe") + older_file(b"b\\c.js") + older(0x7B, 0x4000))
    assert (found.names, found.marks) == (["scan.pdf.exe", "b/c.js"], [])


def test_names_in_an_archive_of_the_newer_format() -> None:
    archive = newer(1, varying(0), b"\x03\x01\x00\x00")
    files = [
        newer_file("\u00fcber.js".encode()),
        newer_file(b"b/c.scr", 2),
        newer_file(b"d.exe", 6, b"\x02\x02\x00"),
        newer_file(b"e.com", 4),
        newer_file(b"folder", 1),
    ]
    found = read(NEWER + archive + b"".join(files) + newer(5, varying(0)))
    assert (found.names, found.marks) == (["\u00fcber.js", "b/c.scr", "d.exe", "e.com", "folder"], [])


def test_a_name_in_two_alphabets_and_one_behind_a_large_size() -> None:
    found = read(OLDER + ARCHIVE + older_file(b"a.js\0\x01\x02", 0x8200) + older_file(b"b.js", 0x8100))
    assert found.names == ["a.js", "b.js"]
    assert read(OLDER + ARCHIVE + older_file(b"b.js", 0x8100, high=1) + older_file(b"c.js")).names == ["b.js"]


def test_long_names() -> None:
    name = b"n" * 300 + b".js"
    assert read(OLDER + ARCHIVE + older_file(name) + older_file(b"b.js")).names == [name.decode(), "b.js"]
    assert read(NEWER + newer_file(name) + newer_file(b"b.js")).names == [name.decode(), "b.js"]
    assert read(NEWER + newer_file(b"n" * 3_000) + newer_file(b"b.js")).names == ["n" * 1_000, "b.js"]


def test_flags_of_folders_and_of_files_without_a_flag_for_their_size() -> None:
    found = read(
        OLDER + ARCHIVE + older_file(b"folder", 0x80E0) + older_file(b"a.js", 0) + older_file(b"b.js")
    )
    assert (found.names, found.marks) == (["folder", "a.js", "b.js"], [])


def test_comments_and_other_blocks_are_passed_over() -> None:
    comment = older(0x7A, 0x8000, b"host" * 5, b"packed comment")
    assert read(OLDER + ARCHIVE + comment + older_file(b"a.js")).names == ["a.js"]
    service = newer(3, varying(0) * 6 + varying(3) + b"CMT", packed=b"comment")
    assert read(NEWER + newer(1, varying(0)) + service + newer_file(b"a.js")).names == ["a.js"]


def test_encrypted_files_and_encrypted_archives() -> None:
    found = read(OLDER + ARCHIVE + older_file(b"a.js", 0x8004) + older_file(b"b.js"))
    assert (found.names, found.marks) == (["a.js", "b.js"], ["encrypted"])
    found = read(OLDER + older(0x73, 0x80, bytes(6)) + older_file(b"a.js"))
    assert (found.names, found.marks) == ([], ["encrypted"])
    found = read(NEWER + newer(1, varying(0)) + newer_file(b"a.js", extra=b"\x04\x01\x00\x00\x0f"))
    assert (found.names, found.marks) == (["a.js"], ["encrypted"])
    found = read(NEWER + newer(4, bytes(18)) + newer_file(b"a.js"))
    assert (found.names, found.marks) == ([], ["encrypted"])


@pytest.mark.parametrize("begin", [OLDER + ARCHIVE, NEWER + newer(1, varying(0))])
def test_archive_that_is_cut_off(begin: bytes) -> None:
    make = older_file if begin.startswith(OLDER) else newer_file
    whole = begin + make(b"a.js") + make(b"b.js")
    assert read(whole[: whole.index(b"b.js") + 2]).names == ["a.js", "b."]
    assert [len(read(whole[:end]).names) for end in range(len(whole))] == sorted(
        len(read(whole[:end]).names) for end in range(len(whole))
    )


def test_names_are_bounded() -> None:
    for begin, make in ((OLDER + ARCHIVE, older_file), (NEWER + newer(1, varying(0)), newer_file)):
        assert len(read(begin + make(b"a.js") * (MAX_NAMES + 9)).names) == MAX_NAMES


def test_other_files_that_begin_so() -> None:
    assert not read(b"Rar!").names
    assert not read(b"Rar!\x1a\x07\x02" + older_file(b"a.js")).names
    assert not read(b"Rar!\x1a\x07\x02\x00" + newer_file(b"a.js")).names


@given(
    st.sampled_from([OLDER, NEWER, OLDER + ARCHIVE]),
    st.lists(st.binary(max_size=40) | st.just(newer_file(b"a"))),
)
def test_no_archive_raises(begin: bytes, pieces: list[bytes]) -> None:
    read(begin + b"".join(pieces))


@pytest.mark.parametrize(
    "piece", [b"\0", b"\xff", b"cct\0\0\x07\0", newer(2, varying(127) * 7), newer(2, b"\xff" * 30)]
)
@pytest.mark.parametrize("begin", [OLDER, NEWER])
def test_no_archive_takes_long(begin: bytes, piece: bytes) -> None:
    payload = (begin + piece * (1 << 20))[: 1 << 20]
    begun = time.process_time()
    read(payload)
    assert time.process_time() - begun < 0.5
