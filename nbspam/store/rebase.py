"""Overlays are made, and get another base.

What an overlay has learned are differences, which add to any base that counts the same things.  Only what it
has taken out of its base needs a look: that holds as far as the new base has counted the same message.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from nbspam.errors import BadDataError, DamagedModelError, UsageError
from nbspam.model.calibration import CREDIT, FIRST_CREDIT
from nbspam.store.autolearned import count_autolearned
from nbspam.store.check import compute_key
from nbspam.store.covariance import pack_covariance
from nbspam.store.digest import differing_tables
from nbspam.store.merge import list_counted
from nbspam.store.overlay import pack, unpack
from nbspam.store.reader import OVERLAY_TABLES, Model, open_model, schema, state_digest
from nbspam.store.rows import FIRST
from nbspam.store.updater import PRUNED, Transaction, Updater, clamp_counts
from nbspam.store.writer import copy_model, hold_folder, new_model
from nbspam.tokens.bag import N_VIEWS, VIEW_NAMES

_SUBJECT = "subject:"  # how the tokens of its words begin
PAGE_BYTES = 2_048  # with SQLite's 4,096 the empty tables take 80 kB; with 1,024, look-ups are slower


class Calibration(NamedTuple):
    """What a model knows of its calibration; see `setting` and `calibration` in schema.sql."""

    credit: int
    weights: list[float]
    covariance: list[list[float]]


Combine = Callable[[Calibration, Calibration, Calibration], Calibration]


class Unheld(NamedTuple):
    """A message that an overlay had taken out of its base, and that the new base has not counted as often.

    label   : its class
    source  : the command that had taken it out
    subject : words of its subject
    """

    label: str
    source: str
    subject: list[str]


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
    with open_model(start, snapshot=True) as base:
        if not find_obstacle(base):
            with hold_folder(path, start):
                if os.path.exists(path):
                    return ""
                _make_overlay(base, path)
                return "an overlay"
    return "a copy" if copy_model(start, path) else ""


def _make_overlay(base: Model, path: str) -> None:
    read = "SELECT * FROM"
    with new_model(path, base.classes, base.messages, "", False, PAGE_BYTES) as file:
        for statement in schema(len(base.classes), is_overlay=True):
            if statement.split(" ", 3)[2] in OVERLAY_TABLES:
                file.connection.execute(statement)
        file.connection.is_overlay = True
        for table in ("batch", "source"):
            file.delete(table)
        for table in ("setting", "calibration", "calibration_covariance"):
            file.replace(table, base.connection.ask(f"{read} {table}"))
        file.sums = {table: base.connection.ask(f"{read} {table}") for table in ("view", "view_total")}
        file.insert("base", [_base_row(base)])


def _base_row(base: Model) -> tuple[Any, ...]:
    query = "SELECT (SELECT max(number) FROM batch), (SELECT max(number) FROM source)"
    numbers = base.connection.ask(query)[0]
    return os.path.abspath(base.path), state_digest(base.connection), *numbers, pack(_calibration_of(base))


def _calibration_of(model: Model) -> Calibration:
    credit = int(model.settings.get(CREDIT, FIRST_CREDIT))
    return Calibration(credit, model.calibration(), model.covariance())


def rebase(path: str, start: str, combine: Combine) -> list[Unheld]:
    """Let an overlay add to another base, in one transaction; what it took out that the base lacks.

    start   : the new base; empty for what is now at the path of the old one
    combine : one calibration of the new base, its own, that of the overlay, and that of the old base
    """
    with open_model(path, find_base=lambda _: None) as overlay:
        if not overlay.base_path:
            raise UsageError(path, "is no overlay: it has no base", "", "no-overlay")
        start = start or overlay.base_path
    remedy = "take another base: `start=BASE`"
    with open_model(start, snapshot=True) as base:
        if why := find_obstacle(base):
            if any(count_autolearned(base)):
                remedy = f"take them back, see nbspam log `model={start}` and nbspam undo"
            raise BadDataError(start, f"{why}, so it cannot be the base of {path}", remedy, "rebase-base")
        with Transaction(path, base=start) as updater:
            model = updater.model
            if base.classes != model.classes or list_counted(base) != list_counted(model):
                raise BadDataError(start, f"does not count the same things as {path}", remedy, "rebase-base")
            if damaged := differing_tables(updater.connection):
                raise DamagedModelError(path, f"{damaged[0]}: its rows are not those that were written")
            return _Rebase(base, updater).run(combine)


class _Rebase:
    """A rebase within a transaction that has the new base attached."""

    def __init__(self, base: Model, updater: Updater) -> None:
        self.base, self.updater = base, updater
        self.ask = updater.connection.ask
        query = "SELECT digest, batches, sources, calibration FROM base"
        self.digest, self.batches, self.sources, self.calibration = self.ask(query)[0]
        self.row = _base_row(base)
        self.tokens = {key: row for key, *row in self.ask("SELECT * FROM main.token")}

    def run(self, combine: Combine) -> list[Unheld]:
        """Write the overlay anew, and the name of its base."""
        updater, base, unheld = self.updater, self.base, []
        if self.row[1] != self.digest:
            own = _calibration_of(updater.model)
            old = Calibration(*unpack(self.calibration, updater.model.path))
            new = combine(_calibration_of(base), own, old)
            unheld = self._move_messages()
            self._move_tokens()
            self._move_ledger()
            updater.replace("setting", [*base.settings.items()])
            if CREDIT in updater.model.settings:
                updater.settings({CREDIT: str(new.credit)})
            names = base.connection.ask("SELECT number, feature, class FROM calibration ORDER BY number")
            weights = [(*name, weight) for name, weight in zip(names, new.weights, strict=True)]
            updater.replace("calibration", weights)
            packed = [(pack_covariance(new.covariance),)] if new.covariance else []
            updater.replace("calibration_covariance", packed)
        updater.replace("base", [self.row])
        return unheld

    def _write(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        self.updater.delete(table)
        for row in rows:
            marks = ", ".join("?" * len(row))
            self.updater.connection.execute(f"INSERT INTO main.{table} VALUES ({marks})", row)

    def _renumber(self, batch: int) -> int:
        """The new number of a batch: those of the overlay come after those of the base."""
        return batch + self.row[2] - self.batches if batch > self.batches else FIRST

    def _move_messages(self) -> list[Unheld]:
        """Write what is learned; the messages that are no longer taken out have their tokens again."""
        learned: Counter[tuple[int, int, int]] = Counter()
        missing: Counter[tuple[int, int]] = Counter()
        for digest, label, batch, times in self.ask("SELECT * FROM main.learned"):
            if times > 0:
                learned[digest, label, self._renumber(batch)] += times
            else:
                missing[digest, label] -= times
        held: dict[tuple[int, int], int] = {}  # message -> a batch of the base from which it is taken out
        for message in missing:
            query = "SELECT batch, times FROM below.learned WHERE digest = ? AND class = ?"
            for batch, times in self.ask(query, message):
                if taken := min(times, missing[message]):
                    learned[(*message, batch)] -= taken
                    missing[message] -= taken
                    held[message] = batch
        self._write("learned", [(*key, times) for key, times in learned.items() if times])
        self._move_moves(held)
        messages = [*self.base.messages]
        for (_, label, _), times in learned.items():
            messages[label] += times
        self._write(
            "class",
            [(k, name, n) for k, (name, n) in enumerate(zip(self.base.classes, messages, strict=True))],
        )
        return [self._put_back(*message, n, message in held) for message, n in missing.items() if n]

    def _put_back(self, digest: int, label: int, times: int, is_held: bool) -> Unheld:
        """Count the tokens of a message again.  is_held : it is taken out of the new base, too, less often"""
        where, message = "WHERE digest = ? AND class = ?", (digest, label)
        source, packed = self.ask(f"SELECT source, tokens FROM unlearned {where}", message)[0]
        tokens = unpack(packed, self.updater.model.path)
        for view, text, n in tokens:
            nothing = [view, text, FIRST, *[0] * len(self.updater.columns)]
            row = self.tokens.setdefault(compute_key(text, view), nothing)
            row[3 + 2 * label] += times
            row[4 + 2 * label] += times * n
        if not is_held:
            self.updater.connection.execute(f"DELETE FROM unlearned {where}", message)
        subject = [text.removeprefix(_SUBJECT) for _, text, _ in tokens if re.match(rf"{_SUBJECT}\w+$", text)]
        return Unheld(self.base.classes[label], source, subject)

    def _move_moves(self, held: dict[tuple[int, int], int]) -> None:
        moved = {}
        for digest, label, batch, times, until in self.ask("SELECT * FROM main.moved"):
            key = digest, label, self._renumber(batch)
            if batch <= self.batches and times:
                if (digest, label) not in held:
                    continue
                key = digest, label, held[digest, label]
            elif not times:
                key = digest, label, batch
                query = "SELECT 1 FROM below.moved WHERE digest = ? AND class = ? AND batch = ?"
                if not self.ask(query, key):
                    continue
            moved[key] = times, self._renumber(until)
        self._write("moved", [(*key, *row) for key, row in moved.items()])

    def _move_tokens(self) -> None:
        """Write tokens and sums."""
        base, rows = self.base, []
        clamps = PRUNED in base.settings or PRUNED in self.updater.model.settings
        below = base.counts([*self.tokens])
        nothing = (0,) * len(self.updater.columns)
        words = [*base.words]
        totals = [
            [n for pair in zip(*of, strict=True) for n in pair]
            for of in zip(base.documents, base.occurrences, strict=True)
        ]
        for key, (view, text, since, *own) in self.tokens.items():
            before = below.get(key, nothing)
            after = [a + b for a, b in zip(before, own, strict=True)]
            if clamps:
                after = clamp_counts(after)
            if min(after) < 0:
                raise DamagedModelError(base.path, "it has counted a message, but not its tokens")
            own = [a - b for a, b in zip(after, before, strict=True)]
            if any(own):
                rows.append((key, view, text, FIRST if key in below else self._renumber(since), *own))
                words[view] += any(after) - (key in below)
                totals[view] = [a + b for a, b in zip(totals[view], own, strict=True)]
        self._write("token", rows)
        self._write("view", [(view, VIEW_NAMES[view], n) for view, n in enumerate(words)])
        places = [(view, k) for view in range(N_VIEWS) for k in range(len(base.classes))]
        self._write("view_total", [(view, k, *totals[view][2 * k : 2 * k + 2]) for view, k in places])

    def _move_ledger(self) -> None:
        """Give the batches and sources of the overlay numbers after those of the base."""
        change = self.row[3] - self.sources
        batches = self.ask("SELECT number, time, source FROM main.batch")
        moved = [(self._renumber(number), time, source + change) for number, time, source in batches]
        self._write("batch", moved)
        sources = self.ask("SELECT number, name, own FROM main.source")
        self._write("source", [(number + change, *rest) for number, *rest in sources])
