"""An explanation: contributions add up to the log-odds under every model; intervals; clues that decide."""

import copy
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from nbspam.corpus.labelled import open_labelled
from nbspam.decision import CLUES
from nbspam.explain import Explanation
from nbspam.filter import Filter, open_filter
from nbspam.model.credible_intervals import JEFFREYS
from nbspam.tokens import KeyedTokens
from nbspam.tokens.bag import NOTAWORD, hash_token
from tests.tiny_mail import mail, run, write_folders

pytestmark = pytest.mark.slow

WAYS = {
    "views": {},
    "views-uniform": {"prior": "uniform"},
    "presence": {"textbook": "1"},
    "multinomial": {"event_model": "multinomial"},
    "multinomial-0": {"event_model": "multinomial", "alpha": "0"},
    "bernoulli": {"event_model": "bernoulli"},
    "bernoulli-0": {"event_model": "bernoulli", "alpha": "0"},
    "complement": {"event_model": "complement"},
    "complement-0": {"event_model": "complement", "alpha": "0"},
}
NUMERIC_WAYS = {
    "gaussian": {"event_model": "gaussian", "features": "numeric"},
    "categorical": {"event_model": "categorical", "features": "numeric"},
    "aode": {"event_model": "aode", "features": "numeric"},
    "bernoulli+aode": {"event_model": "bernoulli", "features": "both"},
}
FLIPPED_WAYS = ["views", "presence", "multinomial", "bernoulli", "complement"]

ODD = [b"", b"\n\n\n", b"\0" * 300, b"x" * 100_000, mail("never met qqqq zzzz")]


@pytest.fixture(scope="module")
def models(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """words: ham and spam;  numeric: also numeric features;  classes: four;  topics: three, no spam."""
    folder = tmp_path_factory.mktemp("models")
    letters: dict[str, list[bytes]] = {"chinese": [], "english": [], "lists": [], "spam": []}
    for item in open_labelled([str(data)]).items():
        content = item.read()
        kind = "lists" if b"List-Id" in content else "english" if content.isascii() else "chinese"
        letters["spam" if item.label == "spam" else kind].append(content)
    write_folders(folder / "mail", letters)
    topics = [f"--class={name}={folder / 'mail' / name}" for name in ("chinese", "english", "lists")]
    trained = {
        "words": [data],
        "numeric": [data, "--features", "both", "--numeric-model", "aode", "--bins", "4"],
        "classes": [folder / "mail"],
        "topics": topics,
    }
    for name, arguments in trained.items():
        run("train", *arguments, "-m", folder / name, "-q")
    return {name: folder / name for name in trained}


@pytest.fixture(scope="module")
def letters(data: Path) -> list[bytes]:
    """Some of the mail of data/, and odd messages."""
    return [item.read() for item in open_labelled([str(data)]).items()][::80] + ODD


@pytest.fixture(scope="module")
def mixed(data: Path) -> list[bytes]:
    """Ham with the text of spam below it."""
    mails = [item.read() for item in open_labelled([str(data)]).items()]
    pairs = zip(mails[:60:10], mails[-60::10], strict=True)
    return [ham + b"\n" + spam.partition(b"\n\n")[2] for ham, spam in pairs]


def explained(
    model: Path, way: dict[str, str], letters: list[bytes], loss: str | None = None
) -> Iterator[tuple[Filter, bytes, Explanation]]:
    judge = open_filter(str(model), way, loss)
    for content in letters:
        yield judge, content, judge.explain(content, "message")


def check_sum(found: Explanation) -> None:
    """Contributions, by kind and one by one, add up to the log-odds of the verdict."""
    total = found.verdict.scored.log_odds(found.verdict.number)
    values = [one.log_odds for one in found.sums]
    if total is None:
        assert None in values or {math.inf, -math.inf} <= set(values)
        return
    known = [value for value in values if value is not None]
    if math.isinf(total):
        assert total in known
        return
    assert math.fsum(known) == pytest.approx(total, rel=1e-12, abs=1e-9)
    clues = math.fsum(clue.log_odds or 0.0 for clue in found.clues)
    rest = math.fsum(one.log_odds or 0.0 for one in found.sums if one.kind not in ("view", "features"))
    assert clues + rest == pytest.approx(total, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(
    ("model", "way"),
    [(model, way) for model in ("words", "classes") for way in WAYS]
    + [("numeric", way) for way in NUMERIC_WAYS],
)
def test_contributions_add_up_to_the_log_odds(
    models: dict[str, Path], letters: list[bytes], model: str, way: str
) -> None:
    for _, _, found in explained(models[model], (WAYS | NUMERIC_WAYS)[way], letters):
        check_sum(found)


@pytest.mark.parametrize("model", ["words", "topics"])
def test_the_clues_of_a_verdict_are_the_first_of_its_explanation(
    models: dict[str, Path], letters: list[bytes], model: str
) -> None:
    numbers = set()
    for _, _, found in explained(models[model], {}, letters):
        numbers.add(found.verdict.number)
        first = [(clue.token, clue.log_odds) for clue in found.clues if clue.log_odds is not None]
        assert found.verdict.clues == first[:CLUES]
    assert numbers == {1} if model == "words" else len(numbers) > 1


@pytest.mark.parametrize("way", FLIPPED_WAYS)
@pytest.mark.parametrize("model", ["words", "classes"])
def test_removing_the_clues_that_decide_changes_the_verdict(
    models: dict[str, Path], mixed: list[bytes], way: str, model: str
) -> None:
    flipped = 0
    for judge, content, found in explained(models[model], WAYS[way], mixed):
        if found.flip is None:
            continue
        flipped += 1
        removed, label = found.flip
        assert judge.judge(without(judge, content, removed)).label == label != found.verdict.label
        assert judge.judge(without(judge, content, removed[:-1])).label == found.verdict.label
    assert flipped > 0


def without(judge: Filter, content: bytes, removed: list[str]) -> KeyedTokens:
    """A message without some of its tokens."""
    message = copy.copy(judge.count(content))
    keys = {hash_token(text) for text in removed}
    if NOTAWORD in removed:
        keys |= set(message.keys()) - set(judge.model.counts(message.keys()))
    message.tokens = [{k: v for k, v in tokens.items() if k not in keys} for tokens in message.tokens]
    return message


def test_a_clue_has_the_counts_of_the_model_and_an_interval_around_its_share(models: dict[str, Path]) -> None:
    judge = open_filter(str(models["words"]))
    for clue in judge.explain(mail("please confirm your account")).clues:
        stored = judge.model.counts([hash_token(clue.token)])[hash_token(clue.token)]
        assert (clue.counts, clue.occurrences) == (stored[::2], stored[1::2])
        assert clue.share_interval is not None
        mean = (clue.counts[1] + JEFFREYS) / (sum(clue.counts) + 2 * JEFFREYS)
        assert clue.share_interval[0] < mean < clue.share_interval[1]


def drawn_text(name: str, seed: int) -> str:
    """Nine words, each twice as likely in its class as in the other."""
    ham, spam = ["meeting", "lunch", "report"], ["offer", "winner", "credit"]
    return " ".join(Random(f"{name} {seed}").choices([*ham, *spam, *(ham if name == "ham" else spam)], k=9))


def test_the_interval_of_the_log_odds_narrows_with_more_mail(tmp_path: Path) -> None:
    widths = []
    for number in (2, 60):
        folder = tmp_path / f"{number}"
        texts = {name: [mail(drawn_text(name, n)) for n in range(number)] for name in ("ham", "spam")}
        write_folders(folder / "mail", texts)
        run("train", folder / "mail", "-m", folder / "m", "-q")
        found = open_filter(str(folder / "m")).explain(mail(drawn_text("ham", -1)))
        assert found.interval is not None
        assert found.interval[0] < found.verdict.log_odds < found.interval[1]  # type: ignore[operator]
        widths.append(found.interval[1] - found.interval[0])
    assert widths[1] < widths[0] / 2
