"""`nbspam model import`: the counts of other filters become a model."""

import json
import subprocess
from pathlib import Path
from struct import pack

import pytest

from nbspam.model.calibration import first_weights
from nbspam.settings import Settings
from nbspam.store.check import check_model
from nbspam.store.reader import open_model
from nbspam.tasks.word_lists import FIRST_WEIGHTS, MAX_COUNT, MAX_LIST_LINE
from nbspam.tokens.bag import VIEW_NAMES
from tests.programs import needs
from tests.tiny_mail import error, mail, run, write_folders

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "import"
BOGOFILTER = "cheap 5 1 20260101\n.MSG_COUNT 6 4 20260101\nmeeting 0 3 20260101\n"
SUBJECT = "=?utf-8?q?=C3=9Cber?= uns"
FEW = {
    "ham": [mail(body, SUBJECT) for body in ("meeting room", "Meeting", "the meeting")],
    "spam": [mail(body, SUBJECT) for body in ("cheap pills pills", "Cheap offer don't")],
}


def counted(path: Path) -> dict[tuple[str, str], tuple[int, ...]]:
    """(view, token) -> messages by class."""
    model = open_model(str(path))
    rows = model.connection.execute("SELECT view, text, documents_0, documents_1 FROM token").fetchall()
    model.close()
    return {(VIEW_NAMES[view], text): tuple(counts) for view, text, *counts in rows}


def imported(text: str, path: Path, *options: str) -> Path:
    run("model", "import", "-q", "-m", path, *options, stdin=text.encode("utf-8", "surrogateescape"))
    return path


def log_odds(message: bytes, model: Path, *options: str) -> float:
    return float(json.loads(run("classify", "--json", "-m", model, *options, stdin=message))["log_odds"])


def test_a_word_list_becomes_the_golden_tokens(tmp_path: Path) -> None:
    run("model", "import", GOLDEN / "bogofilter.txt", "-m", tmp_path / "m", "-q")
    lines = [line.split("\t") for line in (GOLDEN / "bogofilter.tokens").read_text().splitlines()]
    expected = {(view, text): (int(ham), int(spam)) for view, text, ham, spam in lines}
    assert counted(tmp_path / "m") == expected
    assert open_model(str(tmp_path / "m")).messages == [4, 3]
    assert check_model(str(tmp_path / "m")) == []


def training_dat(ham: dict[str, int], spam: dict[str, int], messages: tuple[int, int]) -> bytes:
    """A training.dat as Thunderbird's nsBayesianFilter.cpp specifies it."""
    data = pack(">4s2I", b"\xfe\xed\xfa\xce", *messages)
    for words in (ham, spam):
        data += pack(">I", len(words))
        for word, count in words.items():
            data += pack(">2I", count, len(word.encode())) + word.encode()
    return data


THUNDERBIRD = training_dat(
    {"meeting": 3, "subject:lunch": 2, "charset:utf-8": 4, "both": 1, "from:a b <a@example.org>": 1},
    {"cheap": 9, "content-type/type:text/html": 5, "both": 2, "free!!!": 3},
    (4, 6),
)


def test_the_training_of_thunderbird_becomes_a_model(tmp_path: Path) -> None:
    run("model", "import", "-q", "-m", tmp_path / "m", stdin=THUNDERBIRD)
    assert counted(tmp_path / "m") == {
        ("body", "meeting"): (3, 0),
        ("body", "cheap"): (0, 6),  # of 6 messages
        ("body", "both"): (1, 2),
        ("header", "subject:lunch"): (2, 0),
        ("structure", "charset=utf-8"): (4, 0),
        ("structure", "type=text/html"): (0, 5),
    }
    assert open_model(str(tmp_path / "m")).messages == [4, 6]
    assert run("classify", "-m", tmp_path / "m", stdin=mail("meeting")).startswith("ham")
    for cut in (4, 12, 20, 100, len(THUNDERBIRD) - 1):
        said = error("model", "import", "-m", tmp_path / "new", status=65, stdin=THUNDERBIRD[:cut])
        assert "import-damaged" in said
    assert not (tmp_path / "new").exists()


@pytest.mark.debian
@needs("bogofilter", "bogoutil")
def test_the_list_of_the_real_bogofilter_counts_as_we_do(tmp_path: Path) -> None:
    for name, messages in FEW.items():
        for message in messages:
            command = ["bogofilter", "-C", "-d", tmp_path, "-n" if name == "ham" else "-s"]
            subprocess.run(command, input=message, check=True)
    words = subprocess.run(["bogoutil", "-d", tmp_path / "wordlist.db"], capture_output=True, check=True)
    found = counted(imported(words.stdout.decode(), tmp_path / "m"))
    assert open_model(str(tmp_path / "m")).messages == [3, 2]
    run("train", write_folders(tmp_path / "mail", FEW), "-m", tmp_path / "own", "-q")
    ours = counted(tmp_path / "own")
    both = set(ours) & set(found)
    assert len([token for token in both if token[0] == "body"]) == 7
    assert ("header", "subject:uber") in both
    assert {token: found[token] for token in both} == {token: ours[token] for token in both}


@pytest.mark.parametrize("text", [BOGOFILTER, BOGOFILTER.replace("\n", "\r\n")])
def test_an_imported_model_judges_at_once(text: str, tmp_path: Path) -> None:
    model = imported(text, tmp_path / "m")
    for options in ([], ["--event-model", "bernoulli"], ["--textbook"]):
        assert run("classify", "-m", model, "--loss", "0-1", *options, stdin=mail("cheap")).startswith("spam")
        assert run("classify", "-m", model, *options, stdin=mail("meeting")).startswith("ham")
    assert run("explain", "-m", model, stdin=mail("cheap"))


def test_the_calibration_starts_at_fixed_weights_and_learns(tmp_path: Path) -> None:
    model = imported(BOGOFILTER, tmp_path / "m")
    info = json.loads(run("model", "info", "--json", "-m", model))
    weights = {one["feature"]: one["weight"] for one in info["calibration"]}
    assert {name: weights[name] for name in FIRST_WEIGHTS} == FIRST_WEIGHTS
    assert weights["evidence:structure"] == first_weights(2, Settings().kinds)[0][2]
    before = log_odds(mail("cheap"), model)
    run("learn", "ham", "-m", model, stdin=mail("cheap thing"))
    assert log_odds(mail("cheap"), model) < before
    folders = write_folders(tmp_path / "mail", {"ham": [mail("meeting 1")], "spam": [mail("cheap 2")]})
    run("train", "--update", folders, "-m", model, "-q")
    assert open_model(str(model)).messages == [6, 7]
    assert check_model(str(model)) == []


def test_an_event_model_that_counts_repeats_is_refused(tmp_path: Path) -> None:
    model = imported(BOGOFILTER, tmp_path / "m")
    for event_model in ("multinomial", "complement"):
        options = ["-m", model, "--event-model", event_model]
        assert "model-no-repeats" in error("classify", *options, status=64, stdin=mail("cheap"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "import-foreign"),
        ("\0\0\0\0b1\n", "bogoutil -d"),
        (BOGOFILTER + "cut 1", "line 4"),
        (BOGOFILTER + "word -1 0 20260101\n", "line 4"),
        (BOGOFILTER + f"word {MAX_COUNT + 1} 0 1\n", "line 4"),
        (BOGOFILTER + "x" * MAX_LIST_LINE + " 1 1\n", "line 4"),
        (BOGOFILTER.replace(".MSG", ".NOTE"), "class-empty"),
        (BOGOFILTER.replace("6 4", "6 0"), "class-empty"),
        ("mime:text 1 1 1\n.MSG_COUNT 1 1 1\n", "import-empty"),
    ],
)
def test_a_damaged_list_is_refused_and_nothing_is_written(text: str, said: str, tmp_path: Path) -> None:
    content = text.encode("utf-8", "surrogateescape")
    assert said in error("model", "import", "-m", tmp_path / "m", status=65, stdin=content)
    assert list(tmp_path.iterdir()) == []
