"""Options with wrong values, and vocabularies that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.hardship import HAM, program, refusal


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["--alpha=-0.5"], "alpha"),
        (["--alpha", "nan"], "alpha"),
        (["--alpha", "1e15"], "alpha"),
        (["--prior", "ham=0.4,work=0.6"], "prior"),
        (["--threshold", "-1"], "threshold"),
        (["--bins", "101", "--event-model", "aode"], "bins"),
        (["--bins", "1001", "--event-model", "categorical"], "bins"),
        (["--features", "numeric", "--event-model", "bernoulli"], "features"),
        (["--loss", "FP=-1"], "loss"),
        (["--jobs", "0"], "usage"),
    ],
)
def test_an_option_out_of_range_is_refused_and_the_model_not_changed(
    model: Path, source: Path, trained: bytes, arguments: list[str], slug: str
) -> None:
    refusal(64, slug, "", "train", "--replace", source, "-m", model, *arguments)
    assert model.read_bytes() == trained


def test_extreme_smoothing_is_explained(model: Path) -> None:
    for alpha in ("0", "1e-100", "1e12"):
        for options in ([], ["--textbook"]):
            assert program("explain", "--alpha", alpha, *options, "-m", model, stdin=HAM[0]).returncode == 0


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
