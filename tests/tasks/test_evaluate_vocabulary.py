"""Laws of `eval`, with and without `--vocab`: what it says is what train and classify say, one by one."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from nbspam import tokens
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.vocabulary import Vocabulary, build_vocabulary, limit_settings
from nbspam.filter import open_filter
from nbspam.model.scorer import Scorer
from nbspam.settings import Settings
from nbspam.store.check import TokenRow
from nbspam.store.reader import open_model
from nbspam.tasks.evaluate import judge_splits
from nbspam.tasks.judges import CorpusJudge
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from nbspam.tokens import key_tokens

pytestmark = pytest.mark.slow

WAYS = {
    "averaged": Settings(),
    "uniform prior": Settings(prior="uniform"),
    "textbook": Settings(averaged=False),
    "multinomial": Settings("multinomial"),
    "bernoulli": Settings("bernoulli"),
    "complement": Settings("complement"),
    "normalised complement": Settings("complement", normalise=True),
    "maximum likelihood": Settings("bernoulli", alpha=0.0),
    "mixed": Settings(features="both", numeric_model="categorical"),
}
ALL_WAYS = WAYS | {
    "body and structure": Settings(views="body,structure"),
    "one bag of the header": Settings(averaged=False, views="header"),
}
VIEWS = ("all", "body")
Vocabularies = dict[str, Vocabulary | None]
NEVER_MET = tuple(TokenRow(f"nevermet{n}", 1, (0, 0), (0, 0)) for n in range(700))


@pytest.fixture(scope="module")
def vocabularies(data: Path) -> Vocabularies:
    """The most frequent words of data/ and many that no message has, by what they read; and no words."""
    source = open_labelled([str(data / "index")])
    found: Vocabularies = {"none": None}
    for views in VIEWS:
        built = build_vocabulary(source.items(), source.classes, size=150, views=views)[0]
        found[views] = built._replace(words=[*built.words, *NEVER_MET])
    return found


@cache
def read(data: Path, settings: Settings) -> Corpus:
    source = open_labelled([str(data / "index")])
    return read_corpus(source.items(), source.classes, by_index=True, wanted=settings.wanted).restrict_to(
        settings
    )


@pytest.mark.parametrize(
    ("way", "views"),
    [
        *((way, "none") for way in ALL_WAYS),
        *((way, "all") for way in WAYS if "complement" not in way and "prior" not in way),
        ("averaged", "body"),
        ("bernoulli", "body"),
    ],
)
def test_a_fold_is_judged_as_by_train_and_classify(
    way: str, views: str, data: Path, vocabularies: Vocabularies, tmp_path: Path
) -> None:
    items, vocabulary = list(open_labelled([str(data / "index")]).items()), vocabularies[views]
    settings = limit_settings(ALL_WAYS[way], vocabulary)
    plan, corpus = Plan(settings, vocabulary=vocabulary), read(data, settings)
    train_model(items[::2], corpus.classes, str(tmp_path / "model"), plan)
    classifier = open_filter(str(tmp_path / "model"))
    rows = np.arange(len(items))
    (judged,) = judge_splits(corpus, [plan], [(rows[::2], rows[1::4])])
    for row, item in enumerate(items[1::4]):
        verdict = classifier.classify(item.read(), item.name)
        assert judged.names[row] == verdict.name
        assert np.isnan(judged.log_odds[row]) == (verdict.log_odds is None)
        if verdict.log_odds is not None:
            assert judged.log_odds[row] == pytest.approx(verdict.log_odds, abs=1e-9, rel=1e-9)
        if verdict.probabilities is not None:
            assert judged.probabilities[row] == pytest.approx(list(verdict.probabilities.values()), abs=1e-9)
        if item.name in judged.clues:
            # The last ones may be others: words of equal weight have no order.
            nats = [[value for _, value in some] for some in (judged.clues[item.name], verdict.clues)]
            assert nats[0] == pytest.approx(nats[1], abs=1e-9)


@pytest.mark.parametrize(
    ("way", "views"),
    [
        *((way, views) for way in WAYS if way not in ("mixed", "uniform prior") for views in ("all", "none")),
        ("averaged", "body"),
    ],
)
def test_a_replay_is_training_on_what_came_before(
    way: str, views: str, data: Path, vocabularies: Vocabularies, tmp_path: Path
) -> None:
    vocabulary = vocabularies[views]
    settings = limit_settings(ALL_WAYS[way], vocabulary)
    corpus = read(data, settings)
    block, rows = corpus.block, np.arange(len(corpus.block))
    plan = Plan(settings, vocabulary=vocabulary)
    subject = CorpusJudge(corpus, plan)
    for message in range(100):
        subject.learn(message, int(block.labels[message]))
    if settings.averaged:  # its calibration learns one by one; the evidence is the same
        items = list(open_labelled([str(data / "index")]).items())
        train_model(items[:100], corpus.classes, str(tmp_path / "model"), plan)
        model = open_model(str(tmp_path / "model"))
        scorer = Scorer(model, settings)
        for row in rows[100::3].tolist():
            scored = scorer.score(key_tokens(tokens.read(items[row].read(), settings.wanted)))
            found = subject.seen(np.array([row]))
            assert found.evidence[0] == pytest.approx(np.array(scored.evidence), abs=1e-9)
            assert found.common[0].tolist() == pytest.approx(scored.common, abs=1e-9)
        return
    batch, later = CorpusJudge(corpus, plan, rows[:100]), rows[100::3]
    for row, joint in zip(later.tolist(), batch.joints(later).tolist(), strict=True):
        assert subject.joints(np.array([row]))[0].tolist() == pytest.approx(joint, abs=1e-9, rel=1e-9)
