"""The smoothing constant of averaged views."""

from tests.experiments.lab import Way, ways

if __name__ == "__main__":
    named = {f"λ = {alpha:g}": Way(alpha=alpha) for alpha in (0.03, 0.001, 0.003, 0.01, 0.1, 0.3, 1.0)}
    ways(("spamassassin", "sms", "ccert_zh"), named)
