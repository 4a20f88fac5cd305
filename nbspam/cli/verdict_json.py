"""A verdict as one line of JSON.  The keys are the field's names and do not change (cli.md)."""

from __future__ import annotations

import json

from nbspam.workflow.classifying import Classifier, Verdict, top_clues


def verdict_json(classifier: Classifier, verdict: Verdict) -> str:
    """One object, one line."""
    classes = classifier.model.classes
    actions = [*classes, "unsure"]
    content = {
        "name": verdict.name,
        "label": verdict.label,
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "clues": [{"token": text, "nats": nats} for text, nats in top_clues(verdict) if abs(nats) < float("inf")],
        "probabilities": None if verdict.probabilities is None else dict(zip(classes, verdict.probabilities, strict=True)),
        "risks": None if verdict.risks is None else dict(zip(actions, verdict.risks, strict=False)),
    }
    return json.dumps(content, ensure_ascii=True) + "\n"
