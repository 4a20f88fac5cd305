"""Options with wrong values, and vocabularies that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.hardship import HAM, program, refusal


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["--alpha", "-1"], "alpha"),
        (["--alpha=-0.5"], "alpha"),
        (["--alpha", "nan"], "alpha"),
        (["--alpha", "inf"], "alpha"),
        (["--alpha", "much"], "alpha"),
        (["--alpha", "1e15"], "alpha"),
        (["--alpha", "1e-300"], "alpha"),
        (["--prior", "spam=2,ham=1"], "prior"),
        (["--prior", "nonsense"], "prior"),
        (["--threshold", "-1"], "threshold"),
        (["--bins", "0", "--event-model", "aode"], "bins"),
        (["--loss", "FP=-1"], "loss"),
        (["--loss", ""], "loss"),
        (["--class", "no-path"], "class-option"),
        (["--no-such-option"], "usage"),
        (["--jobs", "0"], "usage"),
    ],
)
def test_an_option_out_of_range_is_refused_and_the_model_not_changed(
    model: Path, source: Path, trained: bytes, arguments: list[str], slug: str
) -> None:
    refusal(64, slug, "", "train", "--replace", source, "-m", model, *arguments)
    assert model.read_bytes() == trained


@pytest.mark.parametrize("command", ["classify", "explain"])
@pytest.mark.parametrize(
    ("option", "value", "status", "remedy"),
    [
        ("alpha", "1e-300", 64, "a number from 1e-100 to 1e+12"),
        ("alpha", "1e15", 64, "a number from 1e-100 to 1e+12"),
        ("alpha", "auto", 64, "use a number"),
        ("prior", "", 64, "empirical"),
        ("loss", "", 64, "FP=10"),
        ("loss", "10", 66, "or give costs: FP=10"),
    ],
)
def test_a_wrong_option_is_refused_when_a_message_is_scored(
    model: Path, command: str, option: str, value: str, status: int, remedy: str
) -> None:
    done = program(command, f"--{option}={value}", "-m", model, stdin=HAM[0])
    assert (done.returncode, done.stdout) == (status, b"")
    assert remedy in done.stderr.decode().splitlines()[-1]


def test_extreme_smoothing_and_weights_are_explained(source: Path, model: Path, tmp_path: Path) -> None:
    for alpha in ("0", "1e-100", "1e12"):
        for options in ([], ["--textbook"]):
            assert program("explain", "--alpha", alpha, *options, "-m", model, stdin=HAM[0]).returncode == 0
    prior = ("--prior-model", model, "--prior-weight")
    refusal(64, "prior-weight", "--prior-weight 1e+300", "train", *prior, "1e300", "-m", tmp_path / "x")
    heavy = tmp_path / "heavy"
    assert program("train", source, *prior, "1e9", "-m", heavy).returncode == 0
    assert program("explain", "-m", heavy, stdin=HAM[0]).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "command", "why"),
    [
        (["train", "-m"], "train", "requires an argument"),
        (["classify", "--loss"], "classify", "requires an argument"),
        (["model", "info", "--word"], "model info", "requires an argument"),
        (["vocab", "shown"], "vocab", "No such command"),
        (["vectorize", "mail", "--event-model", "gaussian"], "vectorize", "is not one of"),
        (["--jobs"], "", "No such option"),
    ],
)
def test_a_usage_error_names_the_help_of_its_command(arguments: list[str], command: str, why: str) -> None:
    named = f"nbspam {command}".strip()
    text = refusal(64, "usage", f"{named}: ", *arguments)
    assert why in text
    assert f"see {named} --help" in text
    assert "\\n" not in text


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [(["--size", "0"], "size"), (["--size", "-3"], "size"), (["--min-count", "0"], "min-count")],
)
def test_a_vocabulary_without_words_is_refused(
    source: Path, tmp_path: Path, arguments: list[str], slug: str
) -> None:
    refusal(64, slug, "--", "vocab", "build", source, "-o", tmp_path / "v.tsv", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"some words\nin a file\n", b"\xff\xfe\x00", b"0\tbody\tNOTAWORD\n"]
)
def test_a_wrong_vocabulary_file_is_refused(
    source: Path, model: Path, trained: bytes, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "vocab.tsv"
    path.write_bytes(content)
    for command in (
        ["train", "--replace", source, "-m", model, "--vocab", path],
        ["vectorize", source, "--vocab", path, "--event-model", "bernoulli", "-o", tmp_path / "x.npz"],
        ["vocab", "show", path],
    ):
        done = program(*command)
        assert done.returncode == 65, done.stderr
        assert done.stderr.startswith(f"nbspam: {path}".encode())
        assert b"[vocabulary-" in done.stderr
    assert model.read_bytes() == trained
    assert not (tmp_path / "x.npz").exists()
