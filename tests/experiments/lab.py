"""What the experiments share: small corpora, one way of scoring with every knob, and one table.

    make experiment-NAME           runs tests/experiments/NAME.py and prints its table

Nothing here looks at a message of SpamAssassin's test.index.  A message is parsed once; a variant of the
tokens is a function of message and bag.  `evidence` is nbspam.models.views with knobs that were not kept;
the first row of a table is what nbspam does, and `check_law` holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.stats import rankdata

from nbspam.engine.accumulator import select_rows, time_order
from nbspam.engine.block import Block, BlockBuilder
from nbspam.engine.texts import split_texts, take_texts
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.labels import SPAM
from nbspam.mail import Message, parse
from nbspam.mail.dates import received_date
from nbspam.models import calibrate
from nbspam.models import views as kept
from nbspam.scoring.calibration import feature_names, first_weights
from nbspam.settings import (
    ALPHA,
    AT_LEAST,
    MEASURE_ALPHA,
    MOST_FOR_HAM,
    MOST_TIMES,
    NOVELTY,
    SAME,
    SECOND_ALPHA,
    SHRINKAGE,
    STRONG,
    STRONGEST_ALPHA,
    THRESHOLD,
    WEAK,
    Settings,
)
from nbspam.sources import open_labelled
from nbspam.tokens import VIEWS, Bag, tokenize
from nbspam.tokens.bag import MEASURES_VIEW, N_VIEWS, bigram_tokens
from nbspam.tokens.measures import MEASURES, N_BINS, measure_of
from nbspam.workflow.calibrating import WARM_UP_SHARE, ways_to_see
from tests.conftest import unpacked
from tests.peers.subject_and_body import cut_down

FOLDS = 5
FEW, JUDGED, DRAWS = 500, 1_500, 6  # messages that train and that are judged, and how often they are drawn
LATER = "spamassassin, judged is later mail: the next 30 % after 30, 40 ... 80 %"
CORPORA = {  # archive, folder, index or the folder itself, take every n-th message, subject and body only
    "spamassassin": ("spamassassin", "sa", "train.index", 1, False),
    "sms": ("sms", "sms", "", 1, False),
    "ccert_zh": ("ccert_zh", "ccert_zh", "", 3, True),
    "enron": ("enron", "enron", "", 10, False),
}
Variant = Callable[[Message, Bag], Bag]
# (train, test) -> evidence beside that of nbspam, float64 (n_rows, n): of the messages that train when they
# are left out, of the same when only older ones are known, and of those that are judged.
Beside = Callable[[Block, Block], tuple[Any, Any, Any]]


class Mail(NamedTuple):
    """A parsed message with its class, 0 ham, 1 spam."""

    name: str
    label: int
    message: Message
    date: float | None


def corpus_folder(archive: str, top: str) -> Path:
    """The unpacked corpus; ends the program where its archive is not to be had."""
    folder = unpacked(archive, top)
    if folder is None:
        raise SystemExit(f"{archive}.tar.xz: set NBSPAM_CORPORA to the folder of the archives")
    return folder


def mail(corpus: str, whole: bool = False) -> list[Mail]:
    """The messages of a corpus, or of its sample unless it is to be whole, in the order of the source."""
    archive, top, index, step, cut = CORPORA[corpus]
    folder = corpus_folder(archive, top)
    found = []
    for number, item in enumerate(open_labelled([str(folder / index)]).items()):
        if whole or number % step == 0:
            found.append(as_mail(item.name, item.label, cut_down(item.read()) if cut else item.read()))
    return found


def as_mail(name: str, label: str, data: bytes) -> Mail:
    """A message parsed."""
    message = parse(data)
    return Mail(name, int(label == SPAM), message, received_date(message))


def counted(messages: Iterable[Mail], variant: Variant | None = None) -> Block:
    """The block of the messages, tokens changed by the variant; one that names no measures keeps them.

    Bigrams are those of the body that a variant makes, unless it names its own.
    """
    builder = BlockBuilder()
    for name, label, message, date in messages:
        bag = tokenize(message, measured=True, paired=True)
        found = variant(message, bag) if variant else bag
        found.measures = found.measures or bag.measures
        found.bigrams = found.bigrams or bigram_tokens(found.body)
        builder.add(name, label, found, date, message.body_bytes, [])
    return builder.build()


class Way(NamedTuple):
    """A way of scoring.  Thresholds are shares of `threshold`, by view; see nbspam.settings."""

    alpha: float = ALPHA
    second: float | None = SECOND_ALPHA  # the other smoothing constant; None: one
    strongest: float | None = STRONGEST_ALPHA  # that of the strongest words; None: they are not evidence
    first_ones: int = 1  # so many strongest words of each class count, their mean
    most: float = np.inf  # nats; no word is taken for stronger
    for_ham: tuple[float, ...] = MOST_FOR_HAM  # nats by view; none says more than that for ham
    power: float = 2  # of the unknown share, by which the strongest words are diluted; infinite: they are not
    threshold: float = THRESHOLD
    strong: tuple[float, ...] = STRONG
    weak: tuple[float, ...] = WEAK
    at_least: tuple[int, ...] = AT_LEAST
    most_times: float = MOST_TIMES  # of a word in a message that count, and
    again: tuple[float, ...] = (1.0,) * N_VIEWS  # by view, what the logarithm of how often is worth
    shrinkage: float = SHRINKAGE
    confidence: float = 0.0  # c: a weight is multiplied by n / (n + c), n the messages with the token
    novelty: float = NOVELTY
    measures: float | None = MEASURE_ALPHA  # lambda of their bins; None: they are not evidence
    unknown: bool = True  # the NOTAWORD share of each view
    new_edges: bool = False  # whether pairs at the edges of a text are part of it
    length: str = "mean"  # mean, sum or root: what evidence is divided by

    @property
    def kinds(self) -> tuple[str, ...]:
        """As Settings.kinds."""
        return Settings(
            second_alpha=self.second or 0.0,
            strongest_alpha=self.strongest or 0.0,
            measures=self.measures is not None,
        ).kinds


def evidence(block: Block, seen: kept.Background, way: Way, n_views: int = len(VIEWS)) -> Any:
    """float64 (n_rows, n): views by kind, measures, then shares of unknown tokens by view.

    seen    : the counts that each row is scored with
    n_views : that are averaged; one more than nbspam has takes the place of NOTAWORD in a model
    """
    alphas = [way.alpha] if way.second is None else [way.alpha, way.second]
    cells = block.rows() * N_VIEWS + block.views[block.columns]
    size = len(block) * N_VIEWS
    asked = np.ones(len(cells), bool) if way.new_edges else ~block.edges()[block.columns]
    all_tokens = np.bincount(cells[asked], minlength=size)
    missing = np.bincount(cells[asked & (seen.pairs.sum(axis=0) <= 0)], minlength=size)
    unknown = (missing / np.maximum(all_tokens, 1)).reshape(-1, N_VIEWS)[:, :n_views]
    familiarity = 1.0 - way.novelty * unknown**2
    columns = [familiarity * _averages(block, seen, way, alpha)[:, :n_views] for alpha in alphas]
    if way.strongest is not None:
        weights = np.clip(_weights(block, seen, way.strongest, 0.0), -way.most, way.most)
        strongest = _strongest(cells, weights, way.first_ones, size).reshape(-1, N_VIEWS)
        columns.append(strongest[:, :n_views] * (1.0 - way.novelty * unknown**way.power))
    most = np.array([*way.for_ham, np.inf][:n_views])
    columns = [np.maximum(of_kind, -most) for of_kind in columns]
    if way.measures is not None:
        columns.append(_measures(block, seen, way.measures))
    return np.hstack([*columns, unknown] if way.unknown else columns)


def _measures(block: Block, seen: kept.Background, alpha: float) -> Any:
    """float64 (n_rows, n_measures), nats: what the bin of each says, in the order of their names."""
    columns = np.flatnonzero(block.views == MEASURES_VIEW)
    texts = [text.decode() for text in split_texts(take_texts(block.texts, columns), len(columns))]
    of_columns = [measure_of(text) for text in texts]
    names = sorted(set(of_columns))
    bins = np.array([N_BINS.get(name, of_columns.count(name) + 1) for name in names])
    which = np.zeros(len(block.keys), np.int64)
    which[columns] = [names.index(name) for name in of_columns]
    some = np.flatnonzero(block.views[block.columns] == MEASURES_VIEW)
    rows, which, counts = block.rows()[some], which[block.columns[some]], seen.pairs[:, some]
    messages = seen.totals[:, MEASURES_VIEW][:, rows] / max(1, len(names))
    logs = np.log(counts + alpha) - np.log(messages + alpha * bins[which])
    found = np.zeros((len(block), len(names)))
    found[rows, which] = (logs[1] - logs[0]) * (counts.sum(axis=0) > 0)
    return found


def _averages(block: Block, seen: kept.Background, way: Way, alpha: float) -> Any:
    """float64 (n_rows, N_VIEWS), nats: the averages under one smoothing constant."""
    views = block.views[block.columns].astype(np.int64)
    cells, size = block.rows() * N_VIEWS + views, len(block) * N_VIEWS
    weights = _weights(block, seen, alpha, way.confidence)
    chosen = _chosen(np.abs(weights), views, cells, way)
    times = 1.0 + np.array(way.again)[views] * np.log(np.minimum(block.counts, way.most_times))
    n = np.bincount(cells[chosen], weights=times[chosen], minlength=size)
    sums = np.bincount(cells[chosen], weights=(times * weights)[chosen], minlength=size)
    divisors = {"mean": n + way.shrinkage, "sum": 10.0, "root": np.sqrt(n + way.shrinkage)}
    return (sums / divisors[way.length]).reshape(-1, N_VIEWS)


def _weights(block: Block, seen: kept.Background, alpha: float, confidence: float) -> Any:
    """float64 (n_pairs,), nats: the weight of each token, 0 of one that was never met."""
    rows, views = block.rows(), block.views[block.columns]
    logs = np.log(seen.totals + alpha * seen.words)
    weights = np.log(seen.pairs[1] + alpha) - np.log(seen.pairs[0] + alpha)
    weights -= (logs[1] - logs[0])[views, rows]
    met = seen.pairs.sum(axis=0)
    return weights * np.where(met > 0, met / np.maximum(met + confidence, 1e-9), 0.0)


def _strongest(cells: Any, weights: Any, first_ones: int, size: int) -> Any:
    """float64 (size,), nats: what the strongest words for spam say, less what those for ham say, halved."""
    total = np.zeros(size)
    for sign in (1.0, -1.0):
        some = np.flatnonzero(_ranks(sign * weights, cells) < first_ones)
        total += sign * np.bincount(cells[some], np.maximum(sign * weights[some], 0.0), minlength=size)
    return total / first_ones / 2


def _ranks(values: Any, cells: Any) -> Any:
    """int64 (n_pairs,): how many larger values (or equal ones before it) each has in its cell."""
    order = np.lexsort((-values, cells))
    begins = np.flatnonzero(np.diff(cells[order], prepend=-1))
    ranks = np.empty(len(cells), np.int64)
    ranks[order] = np.arange(len(cells)) - np.repeat(begins, np.diff(np.append(begins, len(cells))))
    return ranks


def _chosen(sizes: Any, views: Any, cells: Any, way: Way) -> Any:
    """bool (n_pairs,): the strong words, and the largest weak ones (and ties) where a row has few."""
    strong, weak, least = (
        np.array((*by_view, by_view[-1], measures))[views]
        for by_view, measures in ((way.strong, np.inf), (way.weak, np.inf), (way.at_least, 0))
    )
    chosen = sizes > way.threshold * strong
    rank = _ranks(sizes, cells)
    enough = np.bincount(cells[chosen], minlength=cells.max(initial=0) + 1)[cells] >= least
    wanting = ~enough & (sizes > way.threshold * weak)
    last = np.full(cells.max(initial=0) + 1, np.inf)
    np.minimum.at(last, cells[wanting & (rank < least)], sizes[wanting & (rank < least)])
    return chosen | (wanting & (sizes >= last[cells] - SAME))


def learn(train: Block, test: Block, way: Way, beside: Beside | None = None) -> Any:
    """float64 (n_rows of test,), log-odds after a calibration on the evidence that nbspam learns from."""
    documents, _ = train.totals(2)
    n_views = len(VIEWS) + bool((train.views == len(VIEWS)).any())  # an experiment may have one more
    left_out, older, of_judged = beside(train, test) if beside else (None, None, None)
    alone = kept.leave_one_out(train, documents, kept.exact_copies(train, 2))
    samples = [_joined(evidence(train, alone, way, n_views), left_out, n_views)]
    labels = [train.labels]
    if len(ways_to_see(train)) > 1:  # dated: prequential evidence too
        order = time_order(train)
        later = order[int(len(order) * WARM_UP_SHARE) :]
        as_came = evidence(train, kept.prequential(train, documents, order), way, n_views)
        samples.append(_joined(as_came, older, n_views)[later])
        labels.append(train.labels[later])
    judged = evidence(test, kept.fixed_background(test, documents), way, n_views)
    judged = _joined(judged, of_judged, n_views)
    sample = as_kept(np.concatenate(samples), way, n_views)
    first = first_weights_of(n_views, sample.evidence.shape[1], way)
    with mock.patch.object(calibrate, "first_weights", lambda *_: first):
        weights, _ = calibrate.fit(sample, np.concatenate(labels).astype(np.int64))
    return calibrate.bulk_scores(weights, as_kept(judged, way, n_views))[:, 1]


def _joined(columns: Any, beside: Any, n_views: int) -> Any:
    """The columns of `evidence` with others behind the measures, which are weighed as they are."""
    return columns if beside is None else np.hstack([columns[:, :-n_views], beside, columns[:, -n_views:]])


def as_kept(columns: Any, way: Way, n_views: int) -> kept.Evidence:
    """The columns of `evidence` as nbspam's calibration takes them; shares that are left out are 0."""
    n_evidence = columns.shape[1] - n_views * way.unknown
    found = np.zeros((len(columns), n_evidence, 2))
    found[:, :, 1] = columns[:, :n_evidence]
    unknown = columns[:, n_evidence:]
    return kept.Evidence(found, unknown if unknown.size else np.zeros((len(columns), n_views)), way.kinds)


def first_weights_of(n_views: int, n_evidence: int, way: Way) -> tuple[list[float], list[list[float]]]:
    """nbspam's first weights for any number of views and measures; one more begins as the last does."""
    words = [*VIEWS, VIEWS[-1]][:n_views]
    weights, covariance = first_weights(2, way.kinds)
    names = [name for name, _ in feature_names(2, way.kinds)]
    taken = [f"{kind}:{name}" for kind in way.kinds if kind != "measure" for name in words]
    taken += [name for name in names if name.startswith("measure:")][:1] * (n_evidence - len(taken))
    places = [names.index(name) for name in [*taken, "constant", *("unknown:" + name for name in words)]]
    return [weights[i] for i in places], np.diag([covariance[i][i] for i in places]).tolist()


def judged(block: Block, way: Way | None = None, seed: int = 0, beside: Beside | None = None) -> Any:
    """Log-odds of every row, by the folds that did not have it."""
    way = way or Way()
    scores = np.zeros(len(block))
    for train, test in fold_splits(stratified_folds(block.labels, FOLDS, seed)):
        scores[test] = learn(select_rows(block, train), select_rows(block, test), way, beside)
    return scores


def row(name: str, scores: Any, labels: Any) -> str:
    """A line of the table: name, (1-ROCA)%, log loss in thousandths of a nat, ham lost, spam missed."""
    spam = labels == 1
    below = rankdata(scores)[spam].sum() - spam.sum() * (spam.sum() + 1) / 2
    area = below / (spam.sum() * (~spam).sum())
    loss = np.logaddexp(0, np.where(spam, -scores, scores)).mean()
    lost, missed = int((scores[~spam] > 0).sum()), int((scores[spam] <= 0).sum())
    return f"| {name} | {100 * (1 - area):.4f} | {1000 * loss:.2f} | {lost} | {missed} |"


def means(name: str, rows: list[str]) -> str:
    """The line of a table with the means of other lines' figures."""
    figures = np.array([[float(cell) for cell in line.split("|")[2:6]] for line in rows])
    area, loss, lost, missed = figures.mean(axis=0)
    return f"| {name} | {area:.4f} | {loss:.2f} | {lost:.1f} | {missed:.1f} |"


def folds_row(name: str, block: Block, way: Way) -> str:
    """Random folds, each judged by the others."""
    return row(name, judged(block, way), block.labels)


def later_row(name: str, block: Block, judge: Callable[[Block, Block], Any]) -> str:
    """The older part of the mail trains, the next three tenths are judged: means over six cuts.

    judge : (past, future) -> log-odds of the future
    """
    order, rows = time_order(block), []
    for percent in range(30, 90, 10):
        cut, end = len(order) * percent // 100, len(order) * min(percent + 30, 100) // 100
        past, future = select_rows(block, order[:cut]), select_rows(block, order[cut:end])
        rows.append(row("", judge(past, future), future.labels))
    return means(name, rows)


def future_row(name: str, block: Block, way: Way) -> str:
    """later_row of a way of scoring."""
    return later_row(name, block, partial(learn, way=way))


def few_row(name: str, block: Block, way: Way) -> str:
    """Trained on some messages drawn at random, others judged: means over the draws."""
    rows = []
    for seed in range(DRAWS):
        drawn = np.random.default_rng(seed).permutation(len(block))
        few = select_rows(block, np.sort(drawn[:FEW]))
        others = select_rows(block, drawn[FEW : FEW + JUDGED])
        rows.append(row("", learn(few, others, way), others.labels))
    return means(name, rows)


def heading(corpus: str, messages: int) -> None:
    """Prints the head of a table."""
    folds = "" if "judged" in corpus or "replay" in corpus else f", {FOLDS} folds"
    print(f"\n{corpus}, {messages:,} messages{folds}\n", flush=True)
    print("| | (1-ROCA)% | log loss, 1/1000 | ham lost | spam missed |\n|---|---|---|---|---|", flush=True)


def few_heading(corpus: str, messages: int) -> None:
    """Prints the head of a table of few_row."""
    heading(f"{corpus}, {FEW} messages train, {JUDGED:,} are judged", messages)


def ways(corpora: Iterable[str], named: dict[str, Way]) -> None:
    """A table a corpus, a row a way of scoring."""
    for corpus in corpora:
        block = counted(mail(corpus))
        heading(corpus, len(block))
        for name, way in named.items():
            print(folds_row(name, block, way), flush=True)


def variants(corpora: Iterable[str], named: dict[str, Variant | None]) -> None:
    """A table a corpus, a row a variant of the tokens."""
    for corpus in corpora:
        messages = mail(corpus)
        heading(corpus, len(messages))
        for name, variant in named.items():
            print(folds_row(name, counted(messages, variant), Way()), flush=True)


def check_law(block: Block) -> None:
    """Raises if `evidence` with the settings of nbspam is not what nbspam does (but for ties)."""
    documents, _ = block.totals(2)
    ours = evidence(block, kept.fixed_background(block, documents), Way())
    theirs = kept.view_evidence(block, kept.fixed_background(block, documents), Settings())
    of_words = len(VIEWS) * (len(theirs.kinds) - 1)
    by_name = of_words + np.argsort(MEASURES)
    places = [*range(of_words), *by_name.tolist()]
    same = np.isclose(ours, np.hstack([theirs.evidence[:, places, 1], theirs.common]), atol=1e-9)
    assert same.mean() > 0.999, same.mean()
