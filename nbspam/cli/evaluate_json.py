"""An evaluation as one line of JSON.  The keys are the field's names and do not change (cli.md)."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

from nbspam.decision import UNDECIDED
from nbspam.evaluate.learning_curve import FIELDS, learning_curve
from nbspam.evaluate.outcomes import Evaluation


def evaluation_json(evaluation: Evaluation, found: dict[str, Any]) -> str:
    """The summary, the settings and the misclassified messages; of a replay, the curve over time too."""
    names = evaluation.classes
    content = found | {
        "settings": dict(evaluation.settings),
        "misclassified": [
            {
                "name": outcome.name,
                "label": names[outcome.truth],
                "decided": names[outcome.decided],
                "log_odds": outcome.log_odds,
                "clues": [
                    {"token": token, "nats": nats} for token, nats in evaluation.clues.get(outcome.name, ())
                ],
            }
            for outcome in evaluation.outcomes
            if outcome.decided not in (outcome.truth, UNDECIDED)
        ],
    }
    if evaluation.method == "replay":
        curve = learning_curve(evaluation)
        content["learning_curve"] = [dict(zip(FIELDS, _finite(row.tolist()), strict=True)) for row in curve]
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def _finite(values: tuple[float, ...]) -> list[float | None]:
    """nan, a figure that is undefined, is null in JSON."""
    return [None if isnan(value) else value for value in values]
