"""What a word counts that a message has more than once: in which views, and up to how often.

make experiment-repeats
"""

from __future__ import annotations

from math import inf

from nbspam.settings import MOST_TIMES
from nbspam.tokens.bag import N_VIEWS, VIEWS
from tests.experiments.borrowed import ADDED, hidden, on_a_sample
from tests.experiments.lab import CORPORA, Way, check_law, counted, mail
from tests.experiments.replayed import whole

AGAIN_AND_AGAIN = (("20 good words, each 30 times", 20, 30), ("5, each 100 times", 5, 100))


def alone(view: str) -> Way:
    """The words of one view alone count more than once."""
    return Way(again=tuple(float(number == VIEWS.index(view)) for number in range(N_VIEWS)))


WAYS = {
    f"kept: 1 + log n, n at most {MOST_TIMES}": Way(),
    "once": Way(most_times=1),
    "n at most 2": Way(most_times=2),
    "n at most 8": Way(most_times=8),
    "1 + log n": Way(most_times=inf),
    "1 + 2 log n, n at most 4": Way(again=(2.0,) * N_VIEWS),
    "1 + log n in the header alone": alone("header"),
    "in the body alone": alone("body"),
    "in the structure alone": alone("structure"),
    "among bigrams alone": alone("bigrams"),
}
OF_ALL = tuple(WAYS)[:2]  # the rows of the tables of all messages


def main() -> None:
    """Prints the tables."""
    check_law(counted(mail("spamassassin")[::10]))
    hidden({name: (counted, way) for name, way in WAYS.items()}, (*ADDED, *AGAIN_AND_AGAIN))
    for corpus in CORPORA:
        on_a_sample(corpus, WAYS)
    whole({name: (counted, WAYS[name]) for name in OF_ALL})


if __name__ == "__main__":
    main()
