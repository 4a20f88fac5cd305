"""Which messages train and which are judged: folds, grouped folds, splits in time, a holdout.

The result depends only on the labels, the groups and the seed: the same corpus gives the same folds.
"""

import numpy as np
from numpy.typing import ArrayLike

from nbspam.errors import BadDataError, UsageError
from nbspam.evaluation.outcomes import Ints

Split = tuple[Ints, Ints]  # rows to train on, rows to judge, both rising


def draw_folds(truth: ArrayLike, folds: int, seed: int = 0) -> Ints:
    """The fold of each message, classes spread evenly: sizes differ by at most one a class, and overall.

    truth : int (n,), class numbers
    Returns int64 (n,), 0 .. folds - 1.  UsageError for folds < 2; BadDataError for one class only,
    or a class with fewer messages than folds.
    """
    classes = np.asarray(truth, dtype=np.int64)
    _, counts = np.unique(classes, return_counts=True)
    _check_sizes(counts, folds, "messages")
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    # Dealt like cards over all classes, so that the sizes of whole folds differ by one at most, too.
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[by_class] = np.arange(len(classes)) % folds
    return fold


def draw_grouped_folds(truth: ArrayLike, groups: ArrayLike, folds: int, seed: int = 0) -> Ints:
    """The fold of each message: a group stays in one fold, classes are spread as evenly as that allows.

    truth  : int (n,), class numbers
    groups : int (n,), group numbers, such as near-duplicates share
    Returns int64 (n,).  Large groups are placed first, each where its classes are scarcest.
    Errors as draw_folds, counting groups in place of messages.
    """
    classes, class_of = np.unique(np.asarray(truth), return_inverse=True)
    names, group_of = np.unique(np.asarray(groups), return_inverse=True)
    members = np.zeros((len(names), len(classes)))
    np.add.at(members, (group_of, class_of), 1)
    _check_sizes((members > 0).sum(axis=0), folds, "campaigns (groups of near-duplicates)")
    share = members / members.sum(axis=0)  # of its class, so that a rare class weighs as much as a common one
    shuffled = np.random.default_rng(seed).permutation(len(names))
    load = np.zeros((folds, len(classes)))
    fold_of_group = np.empty(len(names), dtype=np.int64)
    for group in shuffled[np.argsort(-share[shuffled].max(axis=1), kind="stable")]:
        # Least sum of squared loads after placing: the load where this group's classes are.
        chosen = int(np.argmin(load @ share[group]))
        fold_of_group[group] = chosen
        load[chosen] += share[group]
    return fold_of_group[group_of]


def split_by_fold(fold: Ints) -> list[Split]:
    """(rows to train on, rows to judge) for each fold number in rising order."""
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]


def split_by_time(truth: ArrayLike, order: ArrayLike, splits: int) -> list[Split]:
    """Train on the past, judge the next block: `splits` times, with ever more past.

    truth  : int (n,), class numbers
    order  : int (n,), rows from the oldest to the newest
    splits : at least 1
    The order is cut into splits + 1 blocks of equal size; block k is judged by what came before it.
    BadDataError if the oldest block lacks a class, or is empty.
    """
    blocks = np.array_split(np.asarray(order), splits + 1)
    _refuse_missing_class(np.asarray(truth), blocks[0], f"the oldest of {splits + 1} blocks in time")
    pasts = (np.concatenate(blocks[:number]) for number in range(1, splits + 1))
    return [(np.sort(past), np.sort(new)) for past, new in zip(pasts, blocks[1:], strict=True) if len(new)]


def hold_out(truth: ArrayLike, share: float, seed: int = 0, order: ArrayLike | None = None) -> Split:
    """Keep `share` of the messages for judging; train on the rest.

    truth : int (n,), class numbers
    share : 0 < share < 1; of each class, rounded, at least one message judged and one trained on
    order : int (n,), rows from oldest to newest: the newest are judged, whatever their classes;
            None = drawn by seed
    UsageError for another share; BadDataError for a class that training or judging would lack.
    """
    classes = np.asarray(truth)
    if not 0 < share < 1:
        why = "is not a share between 0 and 1"
        raise UsageError(f"{share:g}", why, "for example `holdout=0.3`", "holdout-share", option="holdout")
    if order is not None:
        rows = np.asarray(order)
        train, test = np.split(rows, [-_count_judged(share, len(rows))])
        _refuse_missing_class(classes, train, f"the oldest {1 - share:.0%} of the messages")
        return np.sort(train), np.sort(test)
    numbers, counts = np.unique(classes, return_counts=True)
    _check_sizes(counts, 2, "messages")
    random = np.random.default_rng(seed)
    is_judged = np.zeros(len(classes), dtype=np.bool_)
    for number, count in zip(numbers, counts.tolist(), strict=True):
        is_judged[random.permutation(np.flatnonzero(classes == number))[: _count_judged(share, count)]] = True
    return np.flatnonzero(~is_judged), np.flatnonzero(is_judged)


def _count_judged(share: float, count: int) -> int:
    """How many of so many messages are judged: at least one, and not all."""
    return min(max(1, round(share * count)), count - 1)


def _check_sizes(sizes: Ints, parts: int, what: str) -> None:
    """Refuse one part, one class, and a class of fewer messages (or groups of them) than parts."""
    if parts < 2:
        why = "at least 2 folds are needed"
        raise UsageError(str(parts), why, "for example `folds=10`", "too-few-folds", option="folds")
    if len(sizes) < 2:
        why = "the messages are of one class only"
        remedy = "name mail of at least two classes, for example `ham=PATH` `spam=PATH`"
        raise BadDataError("evaluation", why, remedy, "one-class")
    fewest = int(sizes.min())
    if fewest < parts:
        why = f"the smallest class has {fewest:,} {what}, fewer than the {parts} parts to be made"
        raise BadDataError("evaluation", why, "use fewer folds, or more mail of that class", "too-many-folds")


def _refuse_missing_class(classes: Ints, rows: Ints, what: str) -> None:
    missing = len(np.unique(classes)) - len(np.unique(classes[rows]))
    if missing:
        why = f"{what} lack {missing} of the classes"
        remedy = "train on a larger share, or use `folds`, which spreads the classes evenly"
        raise BadDataError("evaluation", why, remedy, "class-missing-in-time")
