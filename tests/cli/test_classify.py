"""What `nbspam classify` promises the program that calls it: a status, a header, every byte of the mail."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.cli import Command, find_option
from nbspam.cli.classify import classify_command
from nbspam.cli.commands import make_command
from nbspam.decision import CLUES, Verdict, zero_one_loss
from nbspam.filter import Filter
from nbspam.model.posterior import Scored, ScorePart
from nbspam.passthrough import format_fields
from tests.tiny_mail import mail, process, program, run, write_folders

HAM = mail("minutes of the meeting about the garden fence")
SPAM = mail("cheap pills buy now without prescription")
VERDICTS = [("ham", HAM, [], 1), ("spam", SPAM, [], 0), ("unsure", SPAM, ["--loss", "unsure=0"], 2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of ham and spam, and one of three classes."""
    place = tmp_path_factory.mktemp("classify")
    two = {"ham": [HAM, mail("lunch tomorrow")] * 6, "spam": [SPAM, mail("you won a prize")] * 6}
    three = {"ham": [HAM], "news": [mail("headlines of the day")], "spam": [SPAM]}
    for name, classes in (("two", two), ("three", three)):
        write_folders(place / f"{name}.mail", classes)
        run("train", "-q", place / f"{name}.mail", "-m", place / name)

    return place


def classify(model: Path, *options: object, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """(exit status, stdout, stderr) of `nbspam classify` with this model."""
    done = program("classify", "-m", model, *options, stdin=stdin)
    return done.returncode, done.stdout, done.stderr.decode()


FLAGS = [flag for key in classify_command.keys for flag in find_option(key).flags]
TEXTS = st.sampled_from(
    ["", "-", "--", "a", "b", "0", "2", "1e9", "bogofilter", "-x", "-pq", "-mx", "--mod", "--help"]
)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(FLAGS),
            st.builds("=".join, st.tuples(st.sampled_from(FLAGS), st.sampled_from(["", "a", "b=c"]))),
            TEXTS,
        )
    )
)
def test_click_reads_alike_what_the_short_parser_understands(arguments: list[str]) -> None:
    understood = classify_command.parse(arguments)
    if understood is None:
        return
    read: list[dict[str, object]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Command, "run", lambda _, named: read.append(named))
        by_click = make_command("classify", classify_command)
        by_click.main(arguments, standalone_mode=False, help_option_names=["-h", "--help"])
    assert read == [understood]


@pytest.mark.parametrize("options", [[], ["--exit-code"], ["--spam-flag"]])
def test_whatever_fails_the_message_comes_out_whole_with_75(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(Filter, "judge", lambda *given: 1 / 0)
    done, output, said = classify(folder / "two", "-p", *options, stdin=SPAM)
    assert (done, output) == (75, SPAM)
    assert "ZeroDivisionError" in said


@pytest.mark.parametrize(("label", "message", "options", "status"), VERDICTS)
def test_the_fields_of_other_filters_are_written_and_forged_ones_removed(
    folder: Path, label: str, message: bytes, options: list[str], status: int
) -> None:
    flags = b"X-Spam-Flag: YES\nX-Spam-Status: Yes, score=99\n"
    bogosity = b"X-Bogosity: Ham, tests=bogofilter, spamicity=0.000000\n"
    yes = label == "spam"
    figures = r"score=(\S+) required=(\S+) tests=NBSPAM probability=0\.\d+\n"
    status_field = ("X-Spam-Flag: YES\nX-Spam-Status: Yes, " if yes else "X-Spam-Status: No, ") + figures
    own = {
        "spamassassin": (status_field, bogosity),
        "bogofilter": (
            rf"X-Bogosity: {label.capitalize()}, tests=bogofilter, spamicity=[01]\.\d{{6}}\n",
            flags,
        ),
    }
    for form, (fields, kept) in own.items():
        given = ["-p", "--header-format", form, *options]
        _, output, _ = classify(folder / "two", *given, stdin=flags + bogosity + message)
        head, _, rest = output.decode().partition('"\n')
        assert head.startswith(f"X-Nbspam: {label}; ")
        found = re.fullmatch(fields + re.escape((kept + message).decode()), rest)
        assert found, rest
        assert form == "bogofilter" or (float(found[1]) >= float(found[2])) == yes
    # Without the option these fields are another program's, and stay.
    forged = flags + bogosity + message
    assert classify(folder / "two", "-p", *options, stdin=forged)[1].endswith(forged)
    short = classify(folder / "two", "-p", "--spam-flag", *options, stdin=forged)
    assert classify(folder / "two", "-p", "--header-format=spamassassin", *options, stdin=forged) == short


@pytest.mark.parametrize("passthrough", [[], ["-p"]])
def test_the_exit_status_of_bogofilter(folder: Path, passthrough: list[str]) -> None:
    def status(model: str, *options: str, message: bytes = SPAM, style: str = "bogofilter") -> int:
        given = [*passthrough, "--exit-style", style, *options]
        return classify(folder / model, *given, stdin=message)[0]

    for _, message, options, expected in VERDICTS:
        assert status("two", *options, message=message) == expected
    assert status("missing") == status("three") == status("two", "--loss", "no") == 3
    assert status("two", style="exim") == 64


@given(st.lists(st.tuples(st.text(max_size=100), st.floats(-9, 9)), max_size=CLUES))
def test_any_clue_stays_within_its_quotes(clues: list[tuple[str, float]]) -> None:
    parts = [ScorePart("token", text, 0, [0.0, nats]) for text, nats in clues]
    field = format_fields(Verdict("-", Scored([0.0, 1.0], parts), ("ham", "spam"), zero_one_loss(2)))
    head, quoted, end = field.split('"')
    assert (head.count("\n"), end) == (1, "\n")
    assert "\\" not in quoted
    written = quoted.split(",\n\t") if clues else []
    assert len(written) == len(clues)
    assert all(text.isascii() and text.isprintable() and "," not in text for text in written)


def test_a_message_with_an_undefined_probability_is_unsure(folder: Path, tmp_path: Path) -> None:
    """Without smoothing, words of both classes make each of them impossible."""
    run("train", "-q", folder / "two.mail", "-m", tmp_path / "m", "--textbook", "--alpha", "0")
    both = mail("garden pills")
    done, output, _ = classify(tmp_path / "m", "-p", stdin=both)
    assert done == 0
    assert output.startswith(b"X-Nbspam: unsure; probability=undefined; log-odds=undefined;\n")
    assert output.endswith(both)


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"], ["--textbook"]])
def test_many_messages_have_the_verdicts_of_one_by_one_in_order(
    options: list[str], folder: Path, tmp_path: Path
) -> None:
    """Whatever file or folder they are in, by two processes; what cannot be read stops none."""
    messages = [path.read_bytes() for path in sorted((folder / "two.mail").rglob("*.eml"))]
    box = b"".join(b"From a@b.example Mon Sep  2 12:30:00 2002\n" + one + b"\n" for one in messages)
    (tmp_path / "box").write_bytes(box)
    paths = [*(folder / "two.mail").rglob("*.eml")] * 40
    paths[7:7] = [tmp_path / "box", tmp_path / "gone", folder / "two.mail" / "ham"]
    one_by_one = [program("classify", "-m", folder / "two", *options, path) for path in paths[:12]]
    many = process("classify", "-j", "2", "-m", folder / "two", *options, *paths)
    assert many.returncode == 66
    assert b"gone: No such file" in many.stderr
    lines = many.stdout.splitlines(keepends=True)
    expected = [line for done in one_by_one for line in done.stdout.splitlines(keepends=True)]
    assert lines[: len(expected)] == expected
    assert len(lines) == len(paths) - 3 + len(messages) + len([*(folder / "two.mail" / "ham").iterdir()])


@pytest.mark.parametrize("message", [b"", b"\n \r\n", b"\0\0"])
def test_a_message_without_a_token_is_unsure_with_the_prior(folder: Path, message: bytes) -> None:
    status, output, said = classify(folder / "two", "--prior", "spam=0.3,ham=0.7", stdin=message)
    assert (status, output) == (0, b"unsure\t0.300000\t-\n")
    assert "nothing to judge by" in said
    assert program("explain", "-m", folder / "two", stdin=message).returncode == 0


NOTHING = b"X-Status: R\n\n"  # a header that says nothing


@pytest.mark.slow
def test_messages_without_a_token_are_unsure_among_many_too(folder: Path, tmp_path: Path) -> None:
    write_folders(tmp_path / "mail", {"ham": [HAM] * 6 + [NOTHING], "spam": [SPAM] * 6 + [NOTHING] * 2})
    options = ["-m", folder / "two", "--prior", "spam=0.3,ham=0.7"]
    done = program("classify", *options, tmp_path / "mail")
    assert (done.stdout.count(b"unsure\t0.300000\t"), done.stderr.count(b"nothing to judge by")) == (3, 3)
    assert b"nothing" not in program("classify", "-q", *options, tmp_path / "mail").stderr
    assert b"nothing to judge by" in program("classify", "-p", *options, stdin=b"\n").stderr
    out = tmp_path / "out"
    for way in (options[:2], ["--folds", "2"], ["--folds", "2", "--textbook"], ["--replay"]):
        run("eval", "-q", *way, *options[2:], "--save", out, tmp_path / "mail")
        found = json.loads(out.read_text())["outcomes"]
        out.unlink()
        decided = zip(found["probabilities"], found["decided"], strict=True)
        assert [shares for shares, label in decided if label < 0] == [[0.7, 0.3]] * 3, way
