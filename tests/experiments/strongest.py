"""The strongest word of each class as evidence beside the averages: under which λ, and how many."""

from math import inf

from tests.experiments.lab import (
    CORPORA,
    LATER,
    Way,
    check_law,
    counted,
    few_heading,
    few_row,
    future_row,
    heading,
    mail,
    ways,
)

WAYS = {
    "kept: one of each class, λ = 1": Way(),
    "none": Way(strongest=None),
    "λ = 0.3": Way(strongest=0.3),
    "λ = 3": Way(strongest=3.0),
    "λ = 10": Way(strongest=10.0),
    "the mean of two": Way(first_ones=2),
    "the mean of three": Way(first_ones=3),
    "the mean of five": Way(first_ones=5),
    "unknown tokens dilute it by 1 - u⁸": Way(power=8),
    "unknown tokens do not dilute it": Way(power=inf),
    "no word taken for stronger than 4 nats": Way(most=4.0),
    "instead of the average under λ = 10": Way(second=None),
}


if __name__ == "__main__":
    check_law(counted(mail("spamassassin")[::10]))
    ways(CORPORA, WAYS)
    block = counted(mail("spamassassin"))
    heading(LATER, len(block))
    for name, way in WAYS.items():
        print(future_row(name, block, way), flush=True)
    for corpus in CORPORA:
        block = counted(mail(corpus))
        few_heading(corpus, len(block))
        for name in ("kept: one of each class, λ = 1", "none"):
            print(few_row(name, block, WAYS[name]), flush=True)
