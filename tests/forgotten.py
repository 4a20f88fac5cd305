"""The law of what a calibration learns from, which models with a prior and with a fixed vocabulary share."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from nbspam.filter import as_scored
from nbspam.model.scorer import Scorer
from nbspam.settings import from_text
from nbspam.store.reader import open_model
from nbspam.tasks import calibrate as calibrating
from nbspam.tasks.learn import unlearn
from nbspam.tasks.message_bytes import counted_message


def check_evidence(
    path: str, sample: calibrating.Sample, names: list[str], rows: range, folder: Path
) -> None:
    """Each row has the evidence that the model gives the message when it has forgotten it."""
    for row in rows:
        without = shutil.copy(path, str(folder / "without"))
        message = Path(names[row]).read_bytes()
        assert unlearn(without, message) == "forgotten"
        model = open_model(without)
        settings = from_text(model.settings)
        scored = Scorer(as_scored(model), settings).score(counted_message(message, settings))
        np.testing.assert_allclose(np.array(scored.evidence), sample.evidence.evidence[row], atol=1e-9)
        np.testing.assert_allclose(scored.common, sample.evidence.common[row], atol=1e-9)
        model.close()
