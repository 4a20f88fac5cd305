"""Numeric models from the command line: parameters in `model info` and `explain`, and given edges."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.tiny_mail import error, mail, run, write_folders

MESSAGES = {"ham": [mail("word " * n) for n in (2, 4, 6)], "spam": [mail("word " * n) for n in (20, 40)]}
# All mail has a mean of 14.4 words and a variance of 203.84; each class has one message of it more.
MEANS = {"ham": (14.4 + 12) / 4, "spam": (14.4 + 60) / 3}
VARIANCES = {
    "ham": (203.84 + 8 + 3 / 4 * (14.4 - 4) ** 2) / 4,
    "spam": (203.84 + 200 + 2 / 3 * (14.4 - 30) ** 2) / 3,
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folders(tmp_path_factory.mktemp("mail"), MESSAGES)


def trained(source: Path, event_model: str, *options: object) -> Path:
    model = source / f"{event_model}{len(options)}.nbspam"
    run("train", source, "-q", "-m", model, "--replace", "--event-model", event_model, *options)
    return model


def words_of(model: Path) -> dict[str, Any]:
    """What `model info --json` says of the feature `words`."""
    features = json.loads(run("model", "info", "--json", "-m", model))["features"]
    (found,) = [one for one in features if one["name"] == "words"]
    return dict(found)


def explained(model: Path, message: bytes) -> float:
    """The nats that `explain --json` gives to the feature `words` of a message with ten."""
    clues = json.loads(run("explain", "--json", "--top", "0", "-m", model, stdin=message))["clues"]
    (nats,) = [clue["nats"] for clue in clues if clue["token"] == "words=10"]
    return float(nats)


def test_a_gaussian_model_shows_mean_and_variance_with_their_intervals(source: Path) -> None:
    model = trained(source, "gaussian")
    found = words_of(model)
    assert found["mean"] == pytest.approx(MEANS)
    assert found["variance"] == pytest.approx(VARIANCES)
    for key in ("mean", "variance"):
        low, high = found[f"{key}_interval"]["spam"]
        assert low < found[key]["spam"] < high
    rows = [line.split() for line in run("model", "info", "-m", model).splitlines()]
    [shown] = [row for row in rows if row[:2] == ["words", "spam"]]
    assert (shown[2], shown[6]) == ("24.8", "188.693")


def test_explain_shows_the_contribution_that_follows_from_the_parameters(source: Path) -> None:
    model = trained(source, "gaussian")
    words = words_of(model)

    def log_density(name: str) -> float:
        degrees = 1 + len(MESSAGES[name])
        width = math.sqrt(words["variance"][name] * (1 + 1 / degrees))
        return float(stats.t(degrees, words["mean"][name], width).logpdf(10))

    nats = explained(model, mail("word " * 10))
    assert nats == pytest.approx(log_density("spam") - log_density("ham"))


def test_given_edges_are_the_bins_and_all_others_are_learned(source: Path) -> None:
    model = trained(source, "categorical", "--edges", "words=5,10", "--edges", "size=1e6")
    found = words_of(model)
    assert found["edges"] == [5.0, 10.0]
    assert found["phi"]["ham"] == pytest.approx([(2 + 1) / (3 + 3), (1 + 1) / 6, (0 + 1) / 6])
    assert found["phi"]["spam"] == pytest.approx([1 / 5, 1 / 5, 3 / 5])
    text = " ".join(run("model", "info", "-m", model).split())
    assert "words 5 to 10 0.333333 0.2" in text
    assert "size below 1e+06" in text
    assert explained(model, mail("word " * 10)) == pytest.approx(math.log((3 / 5) / (1 / 6)))


def test_edges_that_make_no_sense_are_refused(source: Path) -> None:
    many = "size=" + ",".join(map(str, range(100)))
    for event_model, edges, slug in (
        *(("categorical", one, "edges") for one in ("size=3,2", "size=1,nan", "size=", "height=3")),
        ("aode", many, "bins"),
        ("presence", "size=1", "no-effect"),
    ):
        options = ["--event-model", event_model, "--edges", edges]
        assert f"[{slug}]" in error("train", source, "-m", source / "no.nbspam", *options, status=64)
