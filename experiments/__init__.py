"""Experiments, run by hand: `make experiment-NAME`.  What they found is told in docs/decisions.md."""
