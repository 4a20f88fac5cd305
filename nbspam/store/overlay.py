"""Overlays are made, and get another base."""

import os

from nbspam.errors import BadDataError, CannotCreateError, UsageError
from nbspam.model.calibration import CREDIT
from nbspam.store.autolearned import CORRECTED, LABELLED, count_autolearned
from nbspam.store.digest import check_tables
from nbspam.store.merge import list_counted
from nbspam.store.reader import OWN_SERVERS, Model, state_digest
from nbspam.store.rows import Writer
from nbspam.store.snapshot import open_snapshot
from nbspam.store.updater import open_updater
from nbspam.store.writer import copy_model, new_model, sum_rows

# Settings of a person's labels and servers, which no base gives away.
REVIEWS = (LABELLED, CORRECTED, OWN_SERVERS)
PAGE_BYTES = 2_048  # with SQLite's 4,096 the empty tables take 80 kB; with 1,024, look-ups are slower


def find_obstacle(base: Model) -> str:
    """Why a model can be the base of no overlay; empty if it can."""
    if base.base_path:
        return "is an overlay itself"
    if base.path.encode("utf-8", "replace").decode() != base.path:
        return "has a name that is not UTF-8"
    if base.settings.get("features") != "words":
        return "counts numeric features"
    if base.settings.get("vocabulary") == "fixed":
        return "has a fixed vocabulary"
    return "has learned its own verdicts" if any(count_autolearned(base)) else ""


def start_model(start: str, path: str) -> str:
    """Make a model that begins as `start`; "an overlay", or "a copy" of what can be no base.

    Empty if there is a model at `path` already.
    """
    with open_snapshot(start) as base:
        if find_obstacle(base):
            return "a copy" if copy_model(start, path) else ""
        try:
            with new_model(path, base.classes, [0] * len(base.classes), "", False, PAGE_BYTES) as file:
                _take_settings(file, base, {})
                file.copy_calibration(base)
                _name_base(file, base)
        except CannotCreateError:
            if not os.path.exists(path):
                raise
            return ""  # another program was faster
        return "an overlay"


def _take_settings(file: Writer, base: Model, kept: dict[str, str]) -> None:
    """Give an overlay the settings of its base.  kept : those of its own"""
    shared = {name: value for name, value in base.settings.items() if name not in REVIEWS}
    file.replace("setting", [*(shared | kept).items()])


def _name_base(file: Writer, base: Model) -> None:
    file.replace("base", [(os.path.abspath(base.path), state_digest(base.connection))])


def rebase(path: str, start: str = "") -> None:
    """Let an overlay add to another base, in one transaction.

    start : the new base; empty for what is now at the path of the old one
    Its calibration becomes that of the base, unless it has learned: then it stays.
    """
    with open_updater(path, find_base=lambda _: None) as updater:
        overlay = updater.model
        if not overlay.base_path:
            raise UsageError(path, "is no overlay: it has no base", "", "no-overlay")
        with open_snapshot(start or overlay.base_path) as base:
            _check_base(base, overlay)
            if state_digest(base.connection) != overlay.base_digest:
                check_tables(updater.connection)
                kept = list(REVIEWS)
                if any(overlay.messages) and len(overlay.calibration()) == len(base.calibration()):
                    kept.append(CREDIT)  # of its own lessons, which the new base has not seen
                else:
                    updater.copy_calibration(base)
                _take_settings(
                    updater, base, {one: overlay.settings[one] for one in kept if one in overlay.settings}
                )
                updater.replace("view", sum_rows(updater.connection, base)["view"])
            _name_base(updater, base)


def add_base(file: Writer, overlay: Model, start: str) -> None:
    """Let a new model, which has the counts of an overlay, add to the base `start`."""
    with open_snapshot(start) as base:
        _check_base(base, overlay)
        for table, rows in sum_rows(file.connection, base).items():
            file.insert(table, rows)
        _name_base(file, base)


def _check_base(base: Model, overlay: Model) -> None:
    remedy, why = "take another base: `start=BASE`", find_obstacle(base)
    if any(count_autolearned(base)):
        remedy = f"take them back, see nbspam log `model={base.path}` and nbspam undo"
    if why:
        why = f"{why}, so it cannot be the base of {overlay.path}"
    elif list_counted(base) != list_counted(overlay):
        why = f"does not count the same things as {overlay.path}"
    if why:
        raise BadDataError(base.path, why, remedy, "rebase-base")
