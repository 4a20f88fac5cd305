"""What other ways of reading the same tokens would know beside naive Bayes: each as one more evidence."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.linear_model import LogisticRegression

from nbspam.engine.accumulator import time_order
from nbspam.engine.block import Block
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.tokens import VIEWS
from nbspam.tokens.bag import MEASURES_VIEW
from nbspam.workflow.calibrating import ways_to_see
from tests.experiments.lab import (
    CORPORA,
    FOLDS,
    LATER,
    Beside,
    Way,
    counted,
    heading,
    judged,
    later_row,
    learn,
    mail,
    row,
)

FREEDOM = 100.0  # scikit-learn's C; 10 is level with it on train.index
CUTS = (0.4, 0.6, 0.8, 1.0)  # of the messages in time order: each part is judged by what came before it
OFTEN = 0.1  # share of the messages of a class that a word must have, so that it can be missed
SAYS = 0.5  # nats: what a missing word must say to count in an average
CAUTION = 10.0  # added to the number of missing words that an average divides by


def presence(block: Block, keys: Any) -> Any:
    """csr (n_rows, n_keys), 1.0 where a message has the token; measures are none."""
    order = np.argsort(keys)
    places = np.searchsorted(keys[order], block.keys).clip(max=len(keys) - 1)
    columns = np.where(keys[order][places] == block.keys, order[places], -1)[block.columns]
    some = (columns >= 0) & (block.views[block.columns] != MEASURES_VIEW)
    # liblinear takes 32-bit indices only.
    cells = (block.rows()[some].astype(np.int32), columns[some].astype(np.int32))
    return csr_array((np.ones(len(cells[0])), cells), shape=(len(block), len(keys)))


def regression(train: Block, test: Block, scaled: bool) -> tuple[Any, Any, Any]:
    """Log-odds of a logistic regression with a weight for every token.

    scaled : its inputs are the tokens' log-likelihood ratios (Wang and Manning 2012), not ones
    """
    tokens, labels = presence(train, train.keys), train.labels

    def fitted(past: Any, asked: Any) -> Any:
        known, own = tokens[past], labels[past]
        scale = _ratios(known, own) if scaled else np.ones(tokens.shape[1])
        model = LogisticRegression(C=FREEDOM, solver="liblinear")
        model.fit(_normalised(known) @ diags_array(scale), own)
        return model.decision_function(_normalised(asked) @ diags_array(scale))

    left_out = np.zeros(len(train))
    for past, others in fold_splits(stratified_folds(labels, FOLDS, 1)):
        left_out[others] = fitted(past, tokens[others])
    older, order = left_out.copy(), time_order(train)
    for begin, end in pairwise(CUTS) if len(ways_to_see(train)) > 1 else ():
        past, others = np.split(order[: int(len(order) * end)], [int(len(order) * begin)])
        older[others] = fitted(past, tokens[others])
    of_test = fitted(np.arange(len(train)), presence(test, train.keys))
    return left_out[:, None], older[:, None], of_test[:, None]


def _normalised(tokens: Any) -> Any:
    return diags_array(1 / np.sqrt(np.maximum(tokens.sum(axis=1), 1))) @ tokens


def _ratios(tokens: Any, labels: Any) -> Any:
    """float64 (n_columns,), nats, no more than 4 either way."""
    shares = [(tokens[labels == k].sum(axis=0) + 0.1) / ((labels == k).sum() + 0.2) for k in (0, 1)]
    return np.clip(np.log(shares[1]) - np.log(shares[0]), -4, 4)


def missing(train: Block, test: Block) -> tuple[Any, Any, Any]:
    """By view, what the frequent words that a message lacks say: their average, and the strongest ones.

    That is the half of the Bernoulli model which presence leaves out.
    """
    documents, _ = train.totals(2)
    of_class = np.bincount(train.labels, minlength=2)
    views = train.views
    shares = documents / of_class[:, None]
    often = np.flatnonzero((shares.max(axis=0) >= OFTEN) & (views != MEASURES_VIEW))
    has = presence(train, train.keys)[:, often].toarray() > 0
    own = np.eye(2)[train.labels]
    counts = [documents[k, often] - own[:, k : k + 1] * has for k in (0, 1)]
    said = partial(_said, views=views[often])
    left_out = said(has, _without(counts, (of_class - own).T[:, :, None]))
    order = time_order(train)
    older = np.zeros_like(left_out)
    before = [_before(has[order] * own[order, k : k + 1]) for k in (0, 1)]
    older[order] = said(has[order], _without(before, [_before(own[order, k : k + 1]) for k in (0, 1)]))
    of_test = presence(test, train.keys)[:, often].toarray() > 0
    return left_out, older, said(of_test, _without(documents[:, often], of_class[:, None]))


def _before(found: Any) -> Any:
    return np.cumsum(found, axis=0) - found


def _without(counts: Any, messages: Any) -> Any:
    """Nats: what it says that a word is missing, by its counts and the messages of the two classes."""
    logs = [np.log((messages[k] - counts[k] + 1) / (messages[k] + 2)) for k in (0, 1)]
    return logs[1] - logs[0]


def _said(has: Any, weights: Any, views: Any) -> Any:
    """float64 (n_rows, 2 per view)."""
    columns = []
    for view in range(len(VIEWS)):
        of_view = np.broadcast_to(weights, has.shape)[:, views == view] * ~has[:, views == view]
        counting = np.abs(of_view) > SAYS
        columns.append((of_view * counting).sum(axis=1) / (counting.sum(axis=1) + CAUTION))
        columns.append(of_view.max(axis=1, initial=0) + of_view.min(axis=1, initial=0))
    return np.stack(columns, axis=1)


BESIDE: dict[str, Beside | None] = {
    "kept: nothing": None,
    "a logistic regression on all tokens": partial(regression, scaled=False),
    "the same on their log-likelihood ratios": partial(regression, scaled=True),
    "frequent words that a message lacks": missing,
}


if __name__ == "__main__":
    for corpus in CORPORA:
        block = counted(mail(corpus))
        heading(corpus, len(block))
        for name, beside in BESIDE.items():
            print(row(name, judged(block, beside=beside), block.labels), flush=True)
    block = counted(mail("spamassassin"))
    heading(LATER, len(block))
    for name, beside in BESIDE.items():
        print(later_row(name, block, partial(learn, way=Way(), beside=beside)), flush=True)
