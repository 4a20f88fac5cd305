"""The law of what a calibration learns from, which models with a prior and with a fixed vocabulary share."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from nbspam.model.scorer import Counted, Scorer
from nbspam.settings import from_text
from nbspam.store.learn import unlearn
from nbspam.store.prior import on_prior
from nbspam.store.reader import open_model
from nbspam.tasks import calibrate as calibrating
from nbspam.tokens import read


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
        scored = Scorer(on_prior(model), settings).score(Counted(read(message, settings.wanted)))
        np.testing.assert_allclose(np.array(scored.evidence), sample.evidence.evidence[row], atol=1e-9)
        np.testing.assert_allclose(scored.common, sample.evidence.common[row], atol=1e-9)
        model.close()
