"""How evidence is averaged: threshold, the least number of words, shrinkage, trust in rare words."""

from tests.experiments.lab import Way, check_law, counted, mail, ways

PLAIN = {"strong": (1, 1, 1, 1), "weak": (1, 1, 1, 1), "at_least": (0, 0, 0, 0)}
WAYS = {
    "kept: T 2, body 0.75 T and at least 20 over 0.5 T, structure 0.5 T": Way(),
    "T 2 in all views": Way(**PLAIN),
    "T 1 in all views": Way(threshold=1, **PLAIN),
    "T 3 in all views": Way(threshold=3, **PLAIN),
    "kept, T 1.5": Way(threshold=1.5),
    "kept, T 2.5": Way(threshold=2.5),
    "no least number in the body": Way(at_least=(0, 0, 0, 0)),
    "least 40 in the body": Way(at_least=(0, 40, 0, 0)),
    "shrinkage 1": Way(shrinkage=1),
    "shrinkage 10": Way(shrinkage=10),
    "unknown tokens dilute nothing": Way(novelty=0.0),
    "unknown tokens dilute by half as much": Way(novelty=0.5),
    "rare words trusted less, c = 0.5": Way(confidence=0.5),
    "the same at λ = 0.01": Way(confidence=0.5, alpha=0.01),
    "c = 0, λ = 0.01": Way(alpha=0.01),
}

if __name__ == "__main__":
    check_law(counted(mail("spamassassin")[::10]))
    ways(("spamassassin", "sms", "ccert_zh"), WAYS)
