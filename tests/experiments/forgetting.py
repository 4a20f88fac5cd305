"""Whether a calibration that learns message by message forgets, how fast, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import numpy as np

from nbspam.engine.accumulator import select_rows, time_order
from nbspam.engine.block import Block
from nbspam.scoring import calibration
from nbspam.scoring.calibration import Learner, first_weights
from nbspam.settings import Settings
from nbspam.sources import open_labelled
from nbspam.workflow import calibrating
from tests.experiments.lab import Mail, as_mail, corpus_folder, counted, heading, mail, row
from tests.experiments.replayed import learned_at_once, learned_in_order
from tests.peers.dated_index import sort_key

if TYPE_CHECKING:
    from nbspam.scoring.calibration import Weights

SETTINGS = Settings()
FIRST = 5  # a fifth of the messages trains where a filter is trained first
MAILBOXES = ("enron1", "enron5")


class Grows(Learner):
    """What is uncertain grows, the weights stay."""

    def _drift(self, kept: float) -> None:
        weights = [*self.weights]
        super()._drift(kept)
        self.weights[:] = weights


class Never(Learner):
    """It learns and forgets nothing."""

    def _drift(self, kept: float) -> None:
        pass


class Constant(Learner):
    """It forgets as much of the ten thousandth message as of the first."""

    def _drift(self, kept: float) -> None:
        super()._drift(1.0 - 1 / 5_000)


class Way(NamedTuple):
    """Who learns, and how much is forgotten: see _DRIFT and _DRIFT_DELAY."""

    kind: type[Learner] = Learner
    drift: float = calibration._DRIFT
    delay: float = calibration._DRIFT_DELAY

    @contextmanager
    def begun(self, learned: Weights | None = None) -> Iterator[Learner]:
        """The learner, while it forgets in this way."""
        with (
            mock.patch.object(calibration, "_DRIFT", self.drift),
            mock.patch.object(calibration, "_DRIFT_DELAY", self.delay),
        ):
            yield self.kind(first_weights(2, SETTINGS.kinds), learned)


WAYS = {
    "kept: 0.2, of 100 messages more": Way(),
    "nothing is forgotten": Way(Never),
    "uncertainty grows, the weights stay": Way(Grows),
    "0.1": Way(drift=0.1),
    "0.3, of 300 more": Way(drift=0.3, delay=300),
    "1, of 1,000 more": Way(drift=1.0, delay=1_000),
    "a five thousandth of each message": Way(Constant),
}


class Stream(NamedTuple):
    """Messages in an order, and the evidence of each by the counts of those before it."""

    block: Block
    order: Any
    sample: calibrating.Sample


def dated_mailbox(name: str) -> list[Mail]:
    """The messages of one person of Enron-Spam, by the dates of their names."""
    folder = corpus_folder("enron", "enron")
    items = [item for item in open_labelled([str(folder)]).items() if f"/{name}-" in item.path]
    items.sort(key=lambda item: sort_key(item.path))
    return in_order([as_mail(item.name, item.label, item.read()) for item in items])


def in_order(messages: list[Mail]) -> list[Mail]:
    """The messages with the dates of their places."""
    return [one._replace(date=float(place)) for place, one in enumerate(messages)]


def drawn(messages: list[Mail]) -> list[Mail]:
    """The messages in an order of chance."""
    return in_order([messages[n] for n in np.random.default_rng(0).permutation(len(messages))])


def stream_of(messages: list[Mail]) -> Stream:
    """The messages by their dates."""
    block = counted(messages)
    order = time_order(block)
    documents, _ = block.totals(2)
    background = calibrating.prequential(block, documents, order)
    seen = calibrating.Seen(block, background, np.arange(len(block)))
    return Stream(block, order, calibrating.fresh_sample(seen, SETTINGS, block))


STREAMS = {
    "spamassassin `train.index`, by date": lambda: mail("spamassassin"),
    "spamassassin `train.index`, in its order": lambda: in_order(mail("spamassassin")),
    "sms, drawn": lambda: drawn(mail("sms")),
    "ccert_zh (subject and body, every third message), drawn": lambda: drawn(mail("ccert_zh")),
    **{f"{name} of enron, by date": partial(dated_mailbox, name) for name in MAILBOXES},
}


def replayed_row(name: str, stream: Stream, way: Way) -> str:
    """A filter that begins with nothing."""
    with way.begun() as learner:
        scores = learned_in_order(stream.sample.evidence, learner, stream.block, stream.order)
    return row(name, scores, stream.block.labels)


def first_trained(stream: Stream) -> Weights:
    """The calibration of the first messages, learned at once."""
    past = np.sort(stream.order[: len(stream.order) // FIRST])
    return learned_at_once(select_rows(stream.block, past), SETTINGS)


def continued_row(name: str, stream: Stream, way: Way, learned: Weights) -> str:
    """A filter that was trained on the first messages, judged on the others."""
    start = len(stream.order) // FIRST
    own = [*learned[0]], [[*line] for line in learned[1]]
    with way.begun(own) as learner:
        rest = stream.order[start:]
        scores = learned_in_order(stream.sample.evidence, learner, stream.block, rest, start)
    return row(name, scores[rest], stream.block.labels[rest])


def main() -> None:
    for name, read in STREAMS.items():
        stream = stream_of(read())
        heading(f"{name}, replay", len(stream.block))
        for way_name, way in WAYS.items():
            print(replayed_row(way_name, stream, way), flush=True)
        learned = first_trained(stream)
        heading(f"{name}, the first fifth trains, the others are judged and learned", len(stream.block))
        for way_name, way in WAYS.items():
            print(continued_row(way_name, stream, way, learned), flush=True)


if __name__ == "__main__":
    main()
