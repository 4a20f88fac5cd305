"""Models of nbspam 0.2.0 become models of this version by contrib/text4to5.py: text form 4 becomes form 5."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nbspam.store.check import check_model
from nbspam.store.reader import open_model
from tests.tiny_mail import counts, error, run

ROOT = Path(__file__).resolve().parent.parent.parent
TEXTS = ROOT / "tests" / "golden" / "text-4"  # of 0.2.0, and a row of `token` with all of its escapes
# What the overlay has learned as spam: a new message, and one that its base has as ham.
LESSONS = (b"Subject: x\n\ncheap garden lottery\n", b"Subject: lunch\n\nthe garden\tand\\backslash\n")
QUESTION = b"Subject: y\n\ncheap garden\n"
OLD_LOG_ODDS = 0.2647708148483119  # of QUESTION, as 0.2.0 gives them


def convert(name: str, *base: Path) -> bytes:
    command = [sys.executable, ROOT / "contrib" / "text4to5.py", *base]
    return subprocess.run(command, input=(TEXTS / name).read_bytes(), capture_output=True, check=True).stdout


def log_odds(model: Path) -> float:
    return float(json.loads(run("classify", "--json", "-m", model, stdin=QUESTION))["log_odds"])


def test_a_model_of_the_last_version_judges_as_it_did(tmp_path: Path) -> None:
    text = convert("base.text")
    run("model", "load", "-m", tmp_path / "m", stdin=text)
    assert check_model(str(tmp_path / "m")) == []
    assert log_odds(tmp_path / "m") == OLD_LOG_ODDS
    assert run("model", "dump", "-m", tmp_path / "m").encode() == text
    with open_model(str(tmp_path / "m")) as model:
        assert model.messages == [2, 2]
        assert model.connection.ask("SELECT text FROM token WHERE view = 4") == [("x\t\\n\r",)]


def test_an_overlay_of_the_last_version_is_as_one_that_learned_the_same_mail(tmp_path: Path) -> None:
    base, own, other = (tmp_path / name for name in ("base", "own", "other"))
    run("model", "load", "-m", base, stdin=convert("base.text"))
    text = convert("overlay.text", TEXTS / "base.text")
    weights = [json.loads(line)[4] for line in text.splitlines() if line.startswith(b'["calibration",')]
    run("model", "load", "-m", own, "--base", base, stdin=text)
    for mail in LESSONS:
        run("learn", "spam", "--start", base, "-m", other, "-q", stdin=mail)
    with open_model(str(own)) as model:
        assert (model.base_path, model.messages) == (str(base), [2, 4])
        assert model.calibration() == pytest.approx(weights, rel=1e-9)
    assert check_model(str(own)) == []
    assert counts(own) == counts(other)
    assert run("unlearn", "-m", own, stdin=LESSONS[0]) == "forgotten\t-\n"


def test_a_model_cannot_be_its_own_base(tmp_path: Path) -> None:
    run("model", "load", "-m", tmp_path / "m", stdin=convert("base.text"))
    options = ["-m", tmp_path / "m", "--base", tmp_path / "m", "--replace"]
    assert "[output-twice]" in error("model", "load", *options, status=64, stdin=convert("base.text"))
    assert check_model(str(tmp_path / "m")) == []


def test_a_text_of_the_last_version_is_refused_with_the_way_to_go(tmp_path: Path) -> None:
    said = error("model", "load", "-m", tmp_path / "m", status=65, stdin=(TEXTS / "base.text").read_bytes())
    assert "docs/model-file.md" in said and "[model-format-older]" in said


def test_half_a_text_is_not_converted() -> None:
    command = [sys.executable, ROOT / "contrib" / "text4to5.py"]
    half = (TEXTS / "base.text").read_bytes()[:-30]
    for text in (half, b"", b"#nbspam-model\t3\n#end\t0\n"):
        done = subprocess.run(command, input=text, capture_output=True)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"not the whole text of a model of nbspam 0.2.0" in done.stderr
