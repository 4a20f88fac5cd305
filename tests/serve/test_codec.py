"""The SPAMD protocol without sockets: bytes to requests, verdicts to bytes.

The laws hold for whatever a client sends; the examples are from spamd/PROTOCOL and from what spamc 4.0.1,
Exim 4 and spamd 4.0.1 write.
"""

import asyncio
import itertools
import tracemalloc
import zlib
from math import inf
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.decision import Loss, Verdict, cutoffs, zero_one_loss
from nbspam.errors import NbspamError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.posterior import Scored
from nbspam.passthrough import mark_message
from nbspam.serve import codec
from nbspam.serve.codec import (
    JUDGING,
    MAX_LINE_BYTES,
    MAX_USER,
    VERBS,
    Request,
    cut_header,
    find_message_id,
    format_score,
    read_line,
    read_request,
    write_answer,
)

MOST = 5_000  # bytes of a message, in these tests
NO_USER = "User header contains control chars, or is too long"
NO_LENGTH = "Content-Length contains non-numeric bytes"
BODY = b"Subject: s\r\n\r\ntext\r\n"
ZERO_ONE = zero_one_loss(2)

FIELDS = (
    b"|User: joe|Compress: zlib|Compress: lzma|Message-class: spam|Set: local|Remove: local|Set: remote"
    b"|X-Unknown: 1|no colon|content-LENGTH:  3|User: \x01|Content-length: 9999999|Content-length: -1"
).split(b"|")
FIRST_LINES = [
    *(name.encode() + b" SPAMC/" + version for name in VERBS for version in (b"1.5", b"1.2", b"1.0")),
    *(b"GET / HTTP/1.1", b"CHECK", b"CHECK SPAMC/", b"check SPAMC/1.5", b"CHECK SPAMC/1.x", b""),
]
heads = st.builds(
    lambda first, more: [first, *more],
    st.sampled_from(FIRST_LINES),
    st.lists(st.sampled_from(FIELDS), max_size=4),
)
bodies = st.one_of(st.binary(max_size=80), st.binary(max_size=80).map(zlib.compress), st.just(b"x" * 6000))
streams = st.binary(max_size=200) | st.builds(
    lambda head, end, body: end.join([*head, b"", body]), heads, st.sampled_from([b"\r\n", b"\n"]), bodies
)


def outcome(pieces: list[bytes], ends: bool = True, most: int = MOST) -> Request | str | None:
    """What comes of a stream: a request, the reason of a refusal, or nothing."""

    async def read() -> Request | None:
        stream = asyncio.StreamReader(64 << 10)
        task = asyncio.ensure_future(read_stream(stream, most))
        for piece in pieces:
            stream.feed_data(piece)
            await asyncio.sleep(0)
        if ends:
            stream.feed_eof()
        return await task

    try:
        with asyncio.Runner() as runner, patch.object(codec, "MAX_MESSAGE_BYTES", most):
            return runner.run(read())
    except NbspamError as error:
        return f"{error.status} {error.why}"


async def read_stream(stream: asyncio.StreamReader, most: int) -> Request | None:
    """Read a request; the room for its message is asked for before it is read, and is never too small."""
    rooms = [0]

    async def make_room(size_bytes: int) -> None:
        rooms.append(size_bytes)

    line = await read_line(stream)
    if not line:
        return None
    request = await read_request(line, stream, make_room)
    assert len(request.message) <= max(rooms) <= 2 * most
    return request


def request(command: str = "CHECK", version: str = "1.5", body: bytes = BODY, *more: str) -> bytes:
    head = [f"{command} SPAMC/{version}", *more, f"Content-length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


def packed(body: bytes) -> bytes:
    return request("CHECK", "1.5", body, "Compress: zlib")


@given(streams, st.lists(st.integers(0, 200), max_size=5))
def test_stream_means_the_same_in_any_pieces_and_raises_nothing_else(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    whole = outcome([stream])
    assert outcome([stream[a:b] for a, b in itertools.pairwise(places)]) == whole
    assert outcome([stream[at : at + 1] for at in range(len(stream))]) == whole


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("command", ["PROCESS", "TELL"])
def test_message_longer_than_announced_is_refused_and_not_cut(command: str, is_packed: bool) -> None:
    stream = request(command, "1.5", zlib.compress(BODY), "Compress: zlib") if is_packed else request(command)
    length = len(stream.partition(b"\r\n\r\n")[2])
    refusal = f"76 (Content-Length mismatch: Expected {length} bytes, got {length} and more bytes)"
    for pieces in ([stream + b"\n"], [stream, b"\n"], [stream, b"more and more"]):
        assert outcome(pieces, ends=False) == outcome(pieces) == refusal
    assert isinstance(outcome([stream], ends=False), Request)  # a client that keeps its side open


@given(st.binary(max_size=MOST), st.sampled_from(JUDGING), st.booleans(), st.booleans())
def test_message_is_read_exactly(message: bytes, command: str, is_packed: bool, has_length: bool) -> None:
    sent = zlib.compress(message) if is_packed else message
    head = [f"{command} SPAMC/1.5", "User: joe", *(["Compress: zlib"] if is_packed else [])]
    head += [f"Content-length: {len(sent)}"] if has_length else []
    got = outcome(["\r\n".join([*head, "", ""]).encode() + sent])
    assert got == Request(command, (1, 5), "joe", message)


@pytest.mark.parametrize("user", [b"a\x1b[m", b"a\0", b"a" * (MAX_USER + 1), b""])
@pytest.mark.parametrize("command", JUDGING)
def test_mail_of_a_user_with_an_odd_name_is_judged_for_nobody(command: str, user: bytes) -> None:
    stream = command.encode() + b" SPAMC/1.5\r\nUser: " + user + b"\r\n\r\n" + BODY
    assert outcome([stream]) == Request(command, (1, 5), "", BODY)


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"EHLO there\r\n", "not a request: 'EHLO there'"),
        (b"CHECK SPAMC/1.5\r\nUser joe\r\n", "header not in 'Name: value' format"),
        (b"CHECK SPAMC/1.5\r\nUser: joe\r\n", "EOF during headers"),
        (b"TELL SPAMC/1.5\r\nUser: a\x1b[m\r\n\r\n", NO_USER),
        (b"CHECK SPAMC/1.5\r\nContent-length: " + b"1" * 5000 + b"\r\n\r\n", NO_LENGTH),
        (request(body=b"123456")[:-1], "Content-Length mismatch: Expected 6 bytes, got 5 bytes"),
        (b"CHECK SPAMC/1.5\r\nCompress: lzma\r\n\r\n", "compression type not supported: 'lzma'"),
        (packed(b"no zlib"), "the message is not compressed by zlib"),
        (packed(zlib.compress(BODY)[:-1]), "the message is not compressed by zlib"),
        (b"CHECK SPAMC/1.5\r\n" + b"X" * (MAX_LINE_BYTES + 1), f"line of more than {MAX_LINE_BYTES} bytes"),
    ],
)  # fmt: skip
def test_bad_request_is_refused_with_its_reason(stream: bytes, why: str) -> None:
    assert outcome([stream]) == f"76 ({why})"


def test_long_message_is_refused_before_it_is_read() -> None:
    head = b"CHECK SPAMC/1.5\r\nContent-length: 5001\r\n\r\n"
    assert outcome([head], ends=False) == "65 is longer than 5,000 bytes"
    assert outcome([b"CHECK SPAMC/1.5\r\n\r\n" + b"x" * 5001]) == "65 is longer than 5,000 bytes"


def test_packed_message_is_unpacked_up_to_the_bound() -> None:
    stream = packed(zlib.compress(bytes(50_000_000)))
    tracemalloc.start()
    assert outcome([stream], most=100_000) == "65 is longer than 100,000 bytes"
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def verdict(log_odds: float, loss: Loss = ZERO_ONE) -> Verdict:
    return Verdict("-", Scored([0.0, log_odds], []), HAM_AND_SPAM, loss)


@pytest.mark.parametrize(
    ("command", "version", "expected"),
    [
        ("CHECK", (1, 5), b"Spam: True ; 7.300 / 0.000\r\n\r\n"),
        ("REPORT", (1, 5), b"Content-length: 3\r\nSpam: True ; 7.300 / 0.000\r\n\r\nabc"),
        ("REPORT", (1, 2), b"Spam: True ; 7.300 / 0.000\r\n\r\nabc"),  # Exim reads no other
        ("SYMBOLS", (1, 2), b"Spam: True ; 7.300 / 0.000\r\n\r\nabc\r\n"),
        ("PROCESS", (1, 4), b"Content-length: 3\r\nSpam: True ; 7.300 / 0.000\r\n\r\nabc"),
        ("PROCESS", (1, 2), b"Content-length: 3\r\n\r\nabc"),
    ],
)
def test_each_version_has_its_answer(command: str, version: tuple[int, int], expected: bytes) -> None:
    content = b"" if command == "CHECK" else b"abc"
    given = write_answer(Request(command, version), verdict(7.3), content)
    assert given == b"SPAMD/1.5 0 EX_OK\r\n" + expected


COSTS = st.floats(0.01, 100)


@given(st.floats(-1e9, 1e9), st.floats(-5, 5), COSTS, COSTS, st.none() | st.floats(0.01, 10))
def test_score_reaches_its_threshold_only_if_the_decision_is_spam(
    far: float, near: float, fp: float, fn: float, unsure: float | None
) -> None:
    loss = Loss([(0.0, fn), (fp, 0.0), *([] if unsure is None else [(unsure, unsure)])])
    cut = cutoffs(loss)[1]
    for odds in (far, cut, cut + near / 1000, cut - near / 1e9):
        found = verdict(odds, loss)
        score, threshold = map(float, format_score(found).split(" / "))
        assert (score >= threshold) == (found.label == "spam")
        assert abs(score - max(-99_999_999, min(99_999_999, odds))) <= 0.002


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        ([-inf, 0.0], "99999999.000 / 0.000"),
        ([0.0, -inf], "-99999999.000 / 0.000"),
        ([-inf, -inf], "-0.001 / 0.000"),  # both are ruled out: unsure, so not spam
        ([0.0, 0.0, 0.5], "0.000 / 0.000"),  # of three classes spam is likeliest, and below one half
        ([2.0, 0.0, 0.5], "-1.627 / 0.000"),
    ],
)
def test_infinite_undefined_and_many_class_scores_are_numbers(joint: list[float], expected: str) -> None:
    loss = zero_one_loss(len(joint))
    found = Verdict(
        "-", Scored(joint, []), HAM_AND_SPAM if len(joint) == 2 else ("ham", "work", "spam"), loss
    )
    assert format_score(found) == expected


def test_message_id_for_the_log_is_printable() -> None:
    assert find_message_id(b"Message-ID: <a@b>\n\nMessage-ID: <c@d>\n") == "<a@b>"
    assert find_message_id(b"Subject: s\nMessage-Id:\n <a\x1b[2J\n @b>\n\n") == "<a.[2J@b>"
    assert find_message_id(b"") == "-"


def body_as_spamc(data: bytes) -> bytes | None:
    """What spamc writes after the answer to HEADERS: the body of its own copy (_append_original_body)."""
    for at in range(len(data)):
        for blank in (b"\r\n\r\n", b"\n\n"):
            if data.startswith(blank, at):
                return data[at + len(blank) :]
    return None  # it gives its own copy back


PIECES = [b"\n", b"\r\n", b"\r", b"Subject: s", b"X-Nbspam: spam", b" folded", b"text", b"From a@b", b"\n\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_marked_header_and_body_of_spamc_are_the_marked_message(data: bytes) -> None:
    head, body = cut_header(data), body_as_spamc(data)
    assert data == head + (body or b"")
    if body is not None:
        assert _without_own(mark_message(head, verdict(1.0))) + body == _without_own(
            mark_message(data, verdict(1.0))
        )


def _without_own(data: bytes) -> bytes:
    """The message without the field that was put in, whatever its line end."""
    at = data.index(b"X-Nbspam: spam; probability=")
    stop = data.index(b'clues=""', at) + len(b'clues=""')
    return data[:at] + data[stop:].removeprefix(b"\r\n").removeprefix(b"\n")
