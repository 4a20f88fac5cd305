"""A verdict as one line of JSON.  The keys are the field's names and do not change (cli.md)."""

from __future__ import annotations

import json
from math import isfinite

from nbspam.filter import Classifier, Verdict, top_clues
from nbspam.tasks.explain import interval, share_interval


def verdict_json(classifier: Classifier, verdict: Verdict) -> str:
    """One object, one line."""
    classes = classifier.model.classes
    actions = [*classes, "unsure"]
    content = {
        "name": verdict.name,
        "label": verdict.label,
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": interval(classifier, verdict),
        "clues": _clues(classifier, verdict),
        "probabilities": None
        if verdict.probabilities is None
        else dict(zip(classes, verdict.probabilities, strict=True)),
        "risks": None if verdict.risks is None else dict(zip(actions, verdict.risks, strict=False)),
    }
    return json.dumps(content, ensure_ascii=True) + "\n"


def _clues(classifier: Classifier, verdict: Verdict) -> list[dict[str, object]]:
    """The loudest tokens, and for each a 95 % interval of its share of the class that log_odds is of."""
    counts = {part.text: part.counts[::2] for part in verdict.scored.parts if part.kind == "token"}
    return [
        {
            "token": text,
            "nats": nats,
            "share_interval": share_interval(classifier, counts[text], verdict.shown)
            if text in counts
            else None,
        }
        for text, nats in top_clues(verdict)
        if isfinite(nats)
    ]
