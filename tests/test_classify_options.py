"""Options of `nbspam classify` that change the way of scoring do so, and there are none without effect."""

from __future__ import annotations

import json
from pathlib import Path

from tests.mail_samples import make_corpus
from tests.tiny_mail import error, run


def test_the_textbook_takes_another_lambda_as_it_does_in_training(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 10, "spam": 10})
    textbook = ["--textbook", "--alpha", "0.5"]
    run("train", "-q", "-j1", folder, "-m", tmp_path / "averaged")
    run("train", "-q", "-j1", folder, "-m", tmp_path / "textbook", *textbook)
    found = {}
    for model, options in (("averaged", textbook), ("averaged", ["--textbook"]), ("textbook", [])):
        lines = run("classify", "--json", folder, "-m", tmp_path / model, *options).splitlines()
        found[model, *options] = [json.loads(line)["log_odds"] for line in lines]
    assert found["averaged", *textbook] == found["textbook",]
    assert found["averaged", "--textbook"] != found["textbook",]


def test_features_that_are_none_are_refused(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 10, "spam": 10})
    for features in ("words", "both"):
        model = tmp_path / features
        run("train", "-q", "-j1", folder, "-m", model, "--features", features)
        said = error("classify", "-m", model, "--features", "bogus", status=64, stdin=b"Subject: hello\n\n")
        assert said.startswith("nbspam: --features bogus: ")
