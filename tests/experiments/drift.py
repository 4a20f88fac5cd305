"""Whether counts should age: training mail in time order, older messages counting for less."""

import numpy as np

from nbspam.engine.accumulator import select_rows, time_order
from nbspam.models.views import Background
from nbspam.tokens.bag import N_VIEWS
from tests.experiments.lab import Way, counted, evidence, heading, mail, row

PARTS = 6  # the mail in time order; each part is judged by what came before it, the first is not
HALF_LIVES = (None, 2000, 1000, 500)  # messages after which one counts for half


def aged(train, test, half_life: float):  # type: ignore[no-untyped-def]
    """Log-odds of test, the counts of train aged; the calibration is learned leave-one-out from the same."""
    from sklearn.linear_model import LogisticRegression

    age = np.arange(len(train))[::-1]
    weight = 0.5 ** (age / half_life)
    rows = train.rows()
    documents = np.array(
        [
            np.bincount(
                train.columns, weights=weight[rows] * (train.labels[rows] == k), minlength=len(train.keys)
            )
            for k in (0, 1)
        ]
    )
    pairs = documents[:, train.columns].copy()
    pairs[train.labels[rows].astype(int), np.arange(len(rows))] -= weight[rows]
    pairs[np.abs(pairs) < 1e-9] = 0.0
    sample = evidence(train, seen_with(train, pairs, documents), Way())
    regression = LogisticRegression(C=10.0, max_iter=2000).fit(sample, train.labels)
    judged = seen_with(test, documents[:, test.columns], documents)
    return regression.decision_function(evidence(test, judged, Way()))


def seen_with(block, pairs, documents):  # type: ignore[no-untyped-def]
    """The same totals for all rows, of counts that need not be whole."""
    totals = np.array([np.bincount(block.views, weights=row, minlength=N_VIEWS) for row in documents])
    words = np.bincount(block.views[documents.any(axis=0)], minlength=N_VIEWS) + 1.0
    return Background(
        pairs,
        np.repeat(totals[:, :, None], len(block), axis=2),
        np.repeat(words[:, None], len(block), axis=1),
    )


def main() -> None:
    block = counted(mail("spamassassin"))
    parts = np.array_split(time_order(block), PARTS)
    heading(f"spamassassin in time order, {PARTS} parts, each judged by those before it", len(block))
    for half_life in HALF_LIVES:
        scores, labels = [], []
        for number in range(1, PARTS):
            train = select_rows(block, np.concatenate(parts[:number]))
            test = select_rows(block, parts[number])
            found = aged(train, test, half_life or 1e12)
            scores.append(found)
            labels.append(test.labels)
        name = f"half after {half_life:,} messages" if half_life else "kept: no ageing"
        print(row(name, np.concatenate(scores), np.concatenate(labels)), flush=True)


if __name__ == "__main__":
    main()
