"""The share of tokens of a view that training never met, NOTAWORD, as evidence of its own."""

from tests.experiments.lab import Way, ways

if __name__ == "__main__":
    ways(
        ("spamassassin", "sms", "ccert_zh", "enron"),
        {"with the shares": Way(), "without": Way(unknown=False)},
    )
