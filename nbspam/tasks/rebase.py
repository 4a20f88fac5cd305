"""An overlay gets another base: `model rebase`."""

from __future__ import annotations

import numpy as np

from nbspam.store.rebase import Calibration, Unheld
from nbspam.store.rebase import rebase as write_rebased
from nbspam.tasks.merge import add_lessons


def rebase(path: str, start: str = "") -> list[Unheld]:
    """Let the overlay at `path` add to another base; the messages that it no longer takes out.

    start : the new base; empty for what is now at the path of the old one
    """
    return write_rebased(path, start, _combine)


def _combine(new: Calibration, own: Calibration, old: Calibration) -> Calibration:
    """The calibration of a new base, with what an overlay has learned since it had the old one."""
    if not len(new.covariance) == len(own.covariance) == len(old.covariance) != 0 or own == old:
        return new
    try:
        weights, covariance = add_lessons(new[1:], [(own[1:], old[1:])])
        np.linalg.cholesky(np.array(covariance))
    except np.linalg.LinAlgError:
        return new
    return Calibration(max(new.credit + own.credit - old.credit, 0), weights, covariance)
