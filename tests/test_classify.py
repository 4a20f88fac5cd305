"""What `nbspam classify` promises the program that calls it: a status, a header, every byte of the mail."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.__main__ import _run
from nbspam.cli import classify_command as by_click
from nbspam.cli.options import CLASSIFY, OPTIONS, Option, parse_arguments
from nbspam.decision import zero_one_loss
from nbspam.filter import Filter, Verdict, open_filter
from nbspam.model.scorer import Scored
from nbspam.tasks.passthrough import own_fields
from tests.tiny_mail import mail, write_folders

HAM = mail("minutes of the meeting about the garden fence")
SPAM = mail("cheap pills buy now without prescription")
VERDICTS = [("ham", HAM, [], 1), ("spam", SPAM, [], 0), ("unsure", SPAM, ["--loss", "unsure=0"], 2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of ham and spam, of words and of numeric features; one of three classes; a message."""
    place = tmp_path_factory.mktemp("classify")
    two = {"ham": [HAM, mail("lunch tomorrow")] * 6, "spam": [SPAM, mail("you won a prize")] * 6}
    three = {"ham": [HAM], "news": [mail("headlines of the day")], "spam": [SPAM]}
    for name, classes in (("two", two), ("three", three)):
        write_folders(place / f"{name}.mail", classes)
        model = ["-m", str(place / name)]
        assert called(["train", "-q", "-j1", str(place / f"{name}.mail"), *model])[0] == 0
    numeric = ["--event-model", "gaussian", "-m", str(place / "numeric")]
    assert called(["train", "-q", "-j1", str(place / "two.mail"), *numeric])[0] == 0
    (place / "spam.eml").write_bytes(SPAM)
    return place


def called(arguments: list[str], stdin: bytes = b"") -> tuple[int, bytes, str]:
    """(exit status, stdout, stderr) of the program, in this process."""
    output = io.TextIOWrapper(io.BytesIO())
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()) as errors:
            status = _run(arguments)
            output.flush()
    finally:
        sys.stdin = before
    return status, output.buffer.getvalue(), errors.getvalue()  # type: ignore[attr-defined]


def classify(model: Path, *options: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """As `called`, of `nbspam classify` with this model."""
    return called(["classify", "-m", str(model), *options], stdin)


FLAGS = [flag for key in CLASSIFY for flag in OPTIONS[key].flags]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(FLAGS),
            st.builds("=".join, st.tuples(st.sampled_from(FLAGS), st.sampled_from(["", "a", "b=c"]))),
            st.sampled_from(["", "-", "--", "a", "b", "-x", "-pq", "-mx", "--mod", "--help"]),
        )
    )
)
def test_what_the_lane_understands_click_reads_alike(arguments: list[str]) -> None:
    understood = parse_arguments(arguments)
    if understood is None:
        return
    read = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_click, "classify", lambda options, paths: read.append((options, paths)))
        by_click.classify_command.main(arguments, standalone_mode=False, help_option_names=["-h", "--help"])
    assert read == [understood]


def test_the_lane_reads_paths_that_look_like_options() -> None:
    assert parse_arguments(["-", "a", "--", "-p", "--"]) == ({}, ["-", "a", "-p", "--"])


@pytest.mark.parametrize("option", [OPTIONS[key] for key in CLASSIFY], ids=CLASSIFY)
def test_the_short_parser_reads_every_option_in_every_spelling(option: Option) -> None:
    value = ["value"] if option.value else []
    for flag in option.flags:
        expected = {option.name: "value" if value else "1"}
        assert parse_arguments([flag, *value, "path"]) == (expected, ["path"])
    if value:
        assert parse_arguments([f"{option.flags[-1]}=value"]) == ({option.name: "value"}, [])


@pytest.mark.parametrize("passthrough", [[], ["-p"]])
@pytest.mark.parametrize(("label", "message", "options", "status"), VERDICTS)
def test_the_status_says_the_verdict_where_it_is_asked_for(
    folder: Path, label: str, message: bytes, options: list[str], status: int, passthrough: list[str]
) -> None:
    done, output, _ = classify(folder / "two", *passthrough, "--exit-code", *options, stdin=message)
    assert done == status
    assert output.startswith(b"X-Nbspam: " + label.encode() if passthrough else label.encode() + b"\t")
    done, same, _ = classify(folder / "two", *passthrough, *options, stdin=message)
    assert (done, same) == (0, output)


def test_a_status_for_a_model_of_other_classes_is_refused(folder: Path) -> None:
    done, output, said = classify(folder / "three", "--exit-code", stdin=HAM)
    assert (done, output) == (64, b"")
    assert "[exit-code-classes]" in said
    done, output, said = classify(folder / "three", "-p", "--exit-code", stdin=HAM)
    assert (done, output) == (75, HAM)
    assert "[exit-code-classes]" in said


def test_a_status_speaks_of_one_message(folder: Path) -> None:
    one = str(folder / "spam.eml")
    for paths, why in (([one, one], "there are 2"), ([str(folder / "two.mail" / "ham")], "there are 12")):
        done, output, said = classify(folder / "two", "--exit-code", *paths)
        assert (done, output) == (64, b"")
        assert why in said
    assert classify(folder / "two", "--exit-code", one)[:2] == (0, classify(folder / "two", one)[1])


@pytest.mark.parametrize("options", [["a", "b"], ["--files-from", "list"], ["a", "--files-from", "list"]])
def test_one_message_is_passed_through(folder: Path, options: list[str]) -> None:
    done, output, said = classify(folder / "two", "-p", *options)
    assert (done, output) == (64, b"")
    assert "[passthrough-many]" in said


def test_a_message_is_passed_through_from_stdin_or_a_file(folder: Path) -> None:
    expected = classify(folder / "two", "-p", stdin=SPAM)
    assert expected[1].endswith(SPAM)
    assert classify(folder / "two", "-p", "-", stdin=SPAM) == expected
    assert classify(folder / "two", "-p", str(folder / "spam.eml"), stdin=HAM) == expected
    done, output, said = classify(folder / "two", "-p", str(folder / "missing"))
    assert (done, output) == (66, b"")
    assert "[no-input]" in said


def test_whatever_fails_the_message_comes_out_whole_with_75(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Filter, "judge", fail)
    for options in (["-p"], ["-p", "--exit-code"], ["-p", "--spam-flag"]):
        done, output, said = classify(folder / "two", *options, stdin=SPAM)
        assert (done, output) == (75, SPAM)
        assert "ZeroDivisionError" in said


@pytest.mark.parametrize(("label", "message", "options", "status"), VERDICTS)
def test_the_flags_that_users_of_other_filters_know(
    folder: Path, label: str, message: bytes, options: list[str], status: int
) -> None:
    forged = b"X-Spam-Flag: YES\nX-Spam-Status: Yes, score=99\n" + message
    _, output, _ = classify(folder / "two", "-p", "--spam-flag", *options, stdin=forged)
    assert output.endswith(message)
    fields = output[: -len(message)].decode().splitlines()
    figures = fields[0].split("; ")  # X-Nbspam: spam; probability=0.9993; log-odds=7.3;
    probability, odds = figures[1], figures[2].rstrip(";").removeprefix("log-odds=")
    yes = label == "spam"
    expected = ["X-Spam-Flag: YES"] if yes else []
    expected += [f"X-Spam-Status: {'Yes' if yes else 'No'}, score={odds}, {probability}"]
    assert [field for field in fields if field.startswith("X-Spam")] == expected
    # Without the option these fields are another program's, and stay.
    assert classify(folder / "two", "-p", *options, stdin=forged)[1].endswith(forged)


def test_the_header_gives_the_figures_of_the_verdict(folder: Path) -> None:
    verdict = open_filter(str(folder / "two")).classify(SPAM, "-")
    _, output, _ = classify(folder / "two", "-p", stdin=SPAM)
    figures = f"probability={verdict.probability:.4f}; log-odds={verdict.log_odds:.1f};"
    assert output.startswith(f"X-Nbspam: spam; {figures}\n\tclues=".encode())


@pytest.mark.parametrize("model", ["two", "numeric"])
def test_the_clues_are_the_tokens_or_features_that_say_most(folder: Path, model: str) -> None:
    verdict = open_filter(str(folder / model)).classify(SPAM, "-")
    said = {
        part.text: part.values[1] - part.values[0]
        for part in verdict.scored.parts
        if part.kind in ("token", "feature")
    }
    clues = verdict.clues
    assert len(clues) == 10
    assert dict(clues).items() <= said.items()
    least = abs(clues[-1][1])
    assert all(abs(nats) <= least for text, nats in said.items() if text not in dict(clues))
    assert [abs(nats) for _, nats in clues] == sorted((abs(nats) for _, nats in clues), reverse=True)


@given(st.lists(st.tuples(st.text(max_size=100), st.floats(-9, 9))))
def test_whatever_a_clue_holds_it_stays_within_its_quotes(clues: list[tuple[str, float]]) -> None:
    scored = Scored([0.0, 1.0], [])
    field = own_fields(Verdict("-", scored, ("ham", "spam"), zero_one_loss(2)), clues, False)
    head, quoted, end = field.split('"')
    assert (head.count("\n"), end) == (1, "\n")
    assert "\\" not in quoted
    written = quoted.split(",\n\t") if clues else []
    assert len(written) == len(clues)
    for text in written:
        assert text.isascii()
        assert text.isprintable()
        assert "," not in text


def test_a_message_of_which_nothing_can_be_said_is_passed_through_as_unsure(folder: Path) -> None:
    """Without smoothing, words of both classes make each of them impossible."""
    model = ["-m", str(folder / "unsmoothed"), "--textbook", "--alpha", "0"]
    assert called(["train", "-q", "-j1", str(folder / "two.mail"), *model])[0] == 0
    both = mail("garden pills")
    (folder / "both").write_bytes(both)
    done, output, _ = classify(folder / "unsmoothed", "-p", str(folder / "both"))
    assert done == 0
    assert output.startswith(b"X-Nbspam: unsure; probability=undefined; log-odds=undefined;\n")
    assert output.endswith(both)


def test_a_list_of_paths_is_classified_in_its_order_behind_the_paths_given(folder: Path) -> None:
    ham, spam = (sorted((folder / "two.mail" / name).iterdir()) for name in ("ham", "spam"))
    (folder / "list").write_text(f"{spam[1]}\n\n{ham[0]}\n")
    _, output, _ = classify(folder / "two", str(spam[0]), "--files-from", str(folder / "list"))
    assert [line.split(b"\t")[2].decode() for line in output.splitlines()] == [
        str(path) for path in (spam[0], spam[1], ham[0])
    ]
    done, output, said = classify(folder / "two", "--files-from", str(folder / "no-list"))
    assert (done, output) == (66, b"")
    assert "[no-input]" in said
