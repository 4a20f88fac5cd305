"""Whether a filter should learn its own verdicts, and which.

    make experiment-autolearn

A model is trained on the first messages, then judges the others one after the other and learns some of its
verdicts.  Nothing here looks at a message of SpamAssassin's test.index.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nbspam.decision import zero_one_loss
from nbspam.engine.accumulator import select_rows, time_order
from nbspam.engine.block import Block
from nbspam.mail import parse
from nbspam.scoring.calibration import Learner, first_weights
from nbspam.settings import Settings
from nbspam.sources import open_labelled
from nbspam.tokens.bag import VIEWS
from nbspam.workflow.filters.replay import AveragedReplay, ReplayFilter
from nbspam.workflow.learning import MAX_OWN
from tests.conftest import unpacked
from tests.experiments import hostile
from tests.experiments.lab import CORPORA, Mail, counted, mail, means, row
from tests.experiments.replayed import learned_at_once

SETTINGS = Settings()
CLASSES = ("ham", "spam")
PARTS = (0.2, 0.3, 0.4, 0.5, 0.6)  # of the mail in time order that trains
LABELLED, JUDGED, DRAWS = 300, 1_700, 4
THINNED, BEGINNINGS = (0.05, 0.2), (0.33, 0.5)  # shares of a class that are left; of the mail that trains
AMOUNTS = (50, 100, 200, 400, 800)
ATTACKS = ("the header of a ham, but for Subject", f"{hostile.GOOD} words of a ham behind it")
KEPT = "kept: log-odds beyond 1.5"
NONE = "none is learned"


class Verdict(NamedTuple):
    """What a rule sees.

    odds          : log-odds of spam, nats
    views         : nats for spam that each view adds
    own, labelled : messages by class that the filter learned on its own word, and that were labelled
    """

    odds: float
    views: list[float]
    own: list[int]
    labelled: list[int]

    @property
    def number(self) -> int:
        """The more probable class."""
        return int(self.odds > 0)


class Rule(NamedTuple):
    """Which verdicts are learned, whether the calibration learns from them, which mistakes are told, and how
    many of the messages that the filter learned on its own word stay counted: the latest.
    """

    takes: Callable[[Verdict], bool]
    calibrates: bool = False
    told: str = ""
    stay: int = 1 << 40


def beyond(nats: float) -> Callable[[Verdict], bool]:
    return lambda verdict: abs(verdict.odds) >= nats


def agreed(verdict: Verdict) -> bool:
    """Neither header nor body speaks against it."""
    header, body, *_ = verdict.views
    sign = 1 if verdict.number else -1
    return beyond(1.5)(verdict) and sign * header >= 0 and sign * body >= 0


def capped(verdict: Verdict) -> bool:
    """Of each class at most as many as were labelled."""
    return beyond(1.5)(verdict) and verdict.own[verdict.number] < verdict.labelled[verdict.number]


def never(_: Verdict) -> bool:
    return False


RULES = {
    NONE: Rule(never),
    "every verdict": Rule(beyond(0)),
    "log-odds beyond 0.5": Rule(beyond(0.5)),
    KEPT: Rule(beyond(1.5)),
    "log-odds beyond 3": Rule(beyond(3)),
    "log-odds beyond 6": Rule(beyond(6)),
    "beyond 1.5 if neither header nor body is against it": Rule(agreed),
    "beyond 1.5, of a class as many as were labelled": Rule(capped),
    "beyond 1.5, the calibration learns, too": Rule(beyond(1.5), calibrates=True),
    "none is learned, mistakes are told": Rule(never, told="mistakes"),
    "beyond 1.5, mistakes are told": Rule(beyond(1.5), told="mistakes"),
    "every message is told": Rule(never, told="all"),
}


BY_AGE = {
    f"kept: the latest {MAX_OWN:,}": Rule(beyond(1.5), stay=MAX_OWN),
    "all": Rule(beyond(1.5)),
    **{f"the latest {stay}": Rule(beyond(1.5), stay=stay) for stay in (400, 200, 100)},
}


class Stream:
    """A model of the first messages of an order, and what becomes of it."""

    def __init__(self, block: Block, order: Any, n_first: int) -> None:
        self.block, self.order, self.n_first = block, order, n_first
        self._filter = AveragedReplay(block, order, CLASSES, SETTINGS, zero_one_loss(2))
        self._labelled = np.bincount(block.labels[order[:n_first]], minlength=2).tolist()
        self._own = [0, 0]
        self._counted: deque[tuple[int, int]] = deque()
        self.wrong = 0
        for message in range(n_first):
            ReplayFilter.learn(self._filter, message, int(block.labels[order[message]]))
        learned = learned_at_once(select_rows(block, order[:n_first]), SETTINGS)
        self._filter._learner = Learner(first_weights(2, SETTINGS.kinds), learned)

    def judge(self, rule: Rule) -> Any:
        """Log-odds of the others, in order."""
        found = []
        for message in range(self.n_first, len(self.order)):
            scores = self._filter.joint(self.order[message])
            found.append(scores[1] - scores[0])
            self._learn(message, found[-1], rule)
        return np.array(found)

    def _learn(self, message: int, odds: float, rule: Rule) -> None:
        evidence, _ = self._filter.seen(message)
        verdict = Verdict(odds, self._by_view(evidence), self._own, self._labelled)
        truth = int(self.block.labels[self.order[message]])
        if rule.told == "all" or (rule.told and verdict.number != truth):
            self._filter.learn(message, truth)
        elif rule.takes(verdict):
            kind = self._filter if rule.calibrates else super(AveragedReplay, self._filter)
            kind.learn(message, verdict.number)
            self._counted.append((message, verdict.number))
            if len(self._counted) > rule.stay:
                self._filter.unlearn(*self._counted.popleft())
            self._own[verdict.number] += 1
            self.wrong += verdict.number != truth

    def _by_view(self, evidence: list[list[float]]) -> list[float]:
        weights = self._filter.weights()
        n_words = len(VIEWS) * sum(kind != "measure" for kind in SETTINGS.kinds)
        return [
            sum(weights[place] * evidence[place][1] for place in range(view, n_words, len(VIEWS)))
            for view in range(len(VIEWS))
        ]

    def truth(self) -> Any:
        """int64: the classes of the messages that were judged."""
        return self.block.labels[self.order[self.n_first :]]

    @property
    def learned(self) -> int:
        """How many messages were learned on the filter's own word."""
        return sum(self._own)


def stream_row(name: str, streams: Iterator[Stream], rule: Rule) -> str:
    """A line of the table: means over some streams."""
    lines, learned, wrong = [], [], []
    for stream in streams:
        lines.append(row("", stream.judge(rule), stream.truth()))
        learned.append(stream.learned)
        wrong.append(stream.wrong)
    return means(name, lines) + f" {np.mean(learned):,.0f} | {np.mean(wrong):.1f} |"


def in_time(block: Block) -> Iterator[Stream]:
    order = time_order(block)
    return (Stream(block, order, int(len(order) * part)) for part in PARTS)


def drawn(block: Block, n_first: int) -> Iterator[Stream]:
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(block))[: n_first + JUDGED]
        yield Stream(block, order, n_first)


def table(title: str, more: str = "") -> None:
    """Prints the head of a table."""
    print(f"\n{title}\n")
    head = f"| | (1-ROCA)% | log loss, 1/1000 | ham lost | spam missed |{more} learned | wrongly |"
    print(head + "\n|" + "---|" * (head.count("|") - 1), flush=True)


def thinned(block: Block) -> None:
    """Later mail of which there is little of one class."""
    table("SpamAssassin in time order, later mail thinned out")
    order, draw = time_order(block), np.random.default_rng(0)
    for number, share, part in product((0, 1), THINNED, BEGINNINGS):
        n_first = int(len(order) * part)
        late = order[n_first:]
        kept = late[(block.labels[late] != number) | (draw.random(len(late)) < share)]
        for name, shown in ((NONE, "none"), (KEPT, "autolearn")):
            stream = Stream(block, np.concatenate([order[:n_first], kept]), n_first)
            left = f"{100 * share:.0f} % of the {CLASSES[number]}, {100 * part:.0f} % train, {shown}"
            line = row(left, stream.judge(RULES[name]), stream.truth())
            print(f"{line} {stream.learned:,} | {stream.wrong} |", flush=True)


def disguised(kind: str) -> tuple[Block, set[str]]:
    """SpamAssassin's mail, half of the spam in the newer two thirds disguised; the names of those."""
    archive, top, index, _, _ = CORPORA["spamassassin"]
    items = open_labelled([str(unpacked(archive, top) / index)]).items()  # type: ignore[operator]
    contents = {item.name: item.read() for item in items}
    messages = sorted(mail("spamassassin"), key=lambda one: (one.date is None, one.date or 0.0))
    cut, draw = len(messages) // 3, random.Random(1)
    ham = [hostile.taken_apart(contents[one.name]) for one in messages[:cut] if one.label == 0]
    names: set[str] = set()
    changed: list[Mail] = []
    for place, one in enumerate(messages):
        if one.label == 1 and place >= cut and draw.random() < 0.5:
            names.add(one.name)
            data = hostile.DISGUISES[kind](hostile.taken_apart(contents[one.name]), ham)
            one = one._replace(message=parse(data))
        changed.append(one)
    return counted(changed), names


def attack(kind: str) -> None:
    """How the mail that is not disguised is judged beside mail that is, and how much of that is missed."""
    block, names = disguised(kind)
    order = time_order(block)
    late = order[len(order) // 3 :]
    hidden = np.array([block.names[place] in names for place in late])
    title = f"SpamAssassin in time order, the oldest third trains, half of the later spam has {kind}"
    table(title, " of these missed |")
    for name in (NONE, KEPT, *list(RULES)[4:7]):
        stream = Stream(block, order, len(order) // 3)
        scores = stream.judge(RULES[name])
        missed = f"{(scores[hidden] <= 0).sum()} of {hidden.sum()}"
        line = row(name, scores[~hidden], block.labels[late][~hidden])
        print(f"{line} {missed} | {stream.learned:,} | {stream.wrong} |", flush=True)


def by_age(dated: Block, blocks: dict[str, Block]) -> None:
    """How long the filter's own word is to count."""
    table("SpamAssassin in time order, how many messages of its own stay counted")
    for name, rule in BY_AGE.items():
        print(stream_row(name, in_time(dated), rule), flush=True)
    for corpus, block in blocks.items():
        table(f"{corpus}, {LABELLED} drawn messages train, how many of its own stay counted")
        for name, rule in BY_AGE.items():
            print(stream_row(name, drawn(block, LABELLED), rule), flush=True)


def main() -> None:
    dated = counted(mail("spamassassin"))
    table(f"SpamAssassin `train.index` in time order, {len(dated):,} messages, the oldest 20 to 60 % train")
    for name, rule in RULES.items():
        print(stream_row(name, in_time(dated), rule), flush=True)
    thinned(dated)
    blocks = {corpus: counted(mail(corpus)) for corpus in ("sms", "enron", "ccert_zh")}
    for corpus, block in blocks.items():
        table(f"{corpus}, {LABELLED} drawn messages train, {JUDGED:,} others are judged")
        for name, rule in RULES.items():
            print(stream_row(name, drawn(block, LABELLED), rule), flush=True)
    by_age(dated, blocks)
    for corpus, block in blocks.items():
        table(f"{corpus}, how many labelled messages it takes, {JUDGED:,} others are judged")
        for amount in AMOUNTS:
            for name in (NONE, KEPT):
                shown = f"{amount} train, {'none' if name == NONE else 'autolearn'}"
                print(stream_row(shown, drawn(block, amount), RULES[name]), flush=True)
    for kind in ATTACKS:
        attack(kind)


if __name__ == "__main__":
    main()
