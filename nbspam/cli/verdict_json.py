"""A verdict as one line of JSON.  The keys are the field's names and do not change (cli.md)."""

from __future__ import annotations

import json
from math import isfinite

from nbspam.filter import Filter, Verdict
from nbspam.model.explain import interval, share_interval


def verdict_json(classifier: Filter, verdict: Verdict) -> str:
    """One object, one line."""
    content = {
        "name": verdict.name,
        "label": verdict.label,
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": interval(classifier, verdict),
        "clues": _clues(classifier, verdict),
        "probabilities": verdict.probabilities,
        "risks": verdict.risks,
    }
    return json.dumps(content, ensure_ascii=True) + "\n"


def _clues(classifier: Filter, verdict: Verdict) -> list[dict[str, object]]:
    """The loudest tokens, and for each a 95 % interval of its share of the class that log_odds is of."""
    counts = {part.text: part.counts[::2] for part in verdict.scored.parts if part.kind == "token"}
    return [
        {
            "token": text,
            "nats": nats,
            "share_interval": share_interval(classifier, counts[text], verdict.number)
            if text in counts
            else None,
        }
        for text, nats in verdict.clues
        if isfinite(nats)
    ]
