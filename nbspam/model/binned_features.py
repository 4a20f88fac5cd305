"""What the measures of many messages say; nbspam.model.evidence.measure_evidence says it of one bin.

Hides how a token is known for a measure: by its key, of which there are some hundred.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Ints
from nbspam.settings import MEASURE_ALPHA
from nbspam.tokens.keys import key_list
from nbspam.tokens.measures import MEASURES, N_BINS, bins_of

Floats = NDArray[np.float64]


def measure_evidence(counts: NDArray[Any], totals: Floats, keys: Ints, rows: Ints) -> Floats:
    """float64 (n_rows, n_measures, n_classes), nats, class 0 is 0; 0 where a message has no known bin.

    counts : numbers (n_classes, n_tokens), n_jk of the tokens that are measures
    totals : float64 (n_classes, n_rows), sum of n_jk over all measures: each message counts once in each
    keys, rows : int64 (n_tokens,), of these tokens
    """
    found = np.zeros((totals.shape[1], len(MEASURES), len(totals)))
    place = np.minimum(np.searchsorted(_KEYS, keys), len(_KEYS) - 1)
    known = (_KEYS[place] == keys) & (counts.sum(axis=0) > 0)
    which, rows, counts = _PLACES[place[known]], rows[known], counts[:, known]
    messages = totals[:, rows] / len(MEASURES)
    logs = np.log(counts + MEASURE_ALPHA) - np.log(messages + MEASURE_ALPHA * _BINS[which])
    found[rows, which] = (logs - logs[0]).T
    return found


def _keys_and_places() -> tuple[Ints, Ints]:
    """The keys of all measures' tokens, ascending, and the place in MEASURES of each."""
    keys = [np.array(key_list(bins_of(name)), np.int64) for name in MEASURES]
    places = np.repeat(np.arange(len(MEASURES)), [len(some) for some in keys])
    order = np.argsort(np.concatenate(keys))
    return np.concatenate(keys)[order], places[order]


_KEYS, _PLACES = _keys_and_places()
_BINS = np.array([N_BINS[name] for name in MEASURES])
