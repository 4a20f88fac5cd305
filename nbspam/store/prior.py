"""A model that begins with the counts of another, its prior, which count as W messages.

All counts of such a model are whole numbers of a unit: a message of the prior counts `share` units, a message
of its own `unit`, and share / unit = W / (messages of the prior).  So learning and unlearning are exact, and
one division by `unit` gives the counts to score with.  Source of the weight: Ibrahim and Chen 2000, the power
prior.
"""

from __future__ import annotations

from nbspam.errors import DamagedModelError, UsageError
from nbspam.store.reader import Model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WEIGHT, UNIT, SHARE = "prior_weight", "prior_unit", "prior_share"  # settings
MAX_WEIGHT = 1_000_000_000  # messages
MAX_UNIT = 10**9  # sums of counts stay below 2^63; the weight is rounded if it needs more digits


def units(weight: float, messages: int) -> tuple[int, int]:
    """(unit, share) for a prior model of so many messages that counts as `weight` messages.

    UsageError for a wrong weight.
    """
    from fractions import Fraction  # not when a message is scored: it loads re

    if not 0 <= weight <= MAX_WEIGHT:
        why = f"the weight of a prior model is a number of messages from 0 to {MAX_WEIGHT:,}"
        remedy = "use 100, for example: the prior model then counts as 100 messages"
        raise UsageError(f"{weight:g}", why, remedy, "prior-weight", option="prior_weight")
    if not messages or not weight:
        return 1, 0
    factor = Fraction(repr(weight)) / messages
    if factor <= 1:
        factor = factor.limit_denominator(MAX_UNIT)
    else:
        factor = 1 / (1 / factor).limit_denominator(MAX_UNIT)
    return factor.denominator, factor.numerator


def stored_units(model: Model) -> tuple[int, int]:
    """(unit, share) of a model; (1, 0) if it has no prior."""
    if WEIGHT not in model.settings:
        return 1, 0
    unit, share = (model.settings.get(name, "") for name in (UNIT, SHARE))
    if not (unit.isdecimal() and share.isdecimal() and int(unit)):
        raise DamagedModelError(model.path, f"a prior model cannot count {share} of {unit} units")
    return int(unit), int(share)


def prior_messages(model: Model) -> list[int]:
    """Messages of the prior model by class; zeros if there is none."""
    found = [0] * len(model.classes)
    for number, messages in model.connection.ask("SELECT number, messages FROM prior_class"):
        if not 0 <= number < len(found) or messages < 0:
            raise DamagedModelError(model.path, f"{messages} messages of class number {number} are no prior")
        found[number] = messages
    return found


def on_prior(model: Model) -> Model:
    """The model as it is scored: with the counts of its prior, if it has one."""
    return ModelOnPrior(model) if WEIGHT in model.settings else model


class ModelOnPrior(Model):
    """A model as it is scored: counts in messages, as floats, with those of the prior."""

    def __init__(self, own: Model) -> None:
        self.__dict__.update(own.__dict__)  # not Model.__init__: what it reads has been read
        self._unit, share = stored_units(own)
        both = zip(own.messages, prior_messages(own), strict=True)
        self.messages = self._scaled(self._unit * n + share * prior for n, prior in both)
        self.documents = [self._scaled(row) for row in own.documents]
        self.occurrences = [self._scaled(row) for row in own.occurrences]

    def _scaled(self, counts: Iterable[int]) -> list[int]:
        return [count / self._unit for count in counts]  # type: ignore[misc]

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """As Model.counts."""
        return {key: tuple(self._scaled(row)) for key, row in super().counts(keys).items()}

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """As Model.histogram."""
        cells = super().histogram(kind)
        return [dict(zip(self._scaled(words), words.values(), strict=True)) for words in cells]

    def numeric_counts(self, kind: str) -> dict[tuple[int, int], list[int]]:
        """As Model.numeric_counts; moments are fractions: sums of squares pass what a float holds."""
        found = super().numeric_counts(kind)
        if kind != "moment":
            return {cell: self._scaled(row) for cell, row in found.items()}
        from fractions import Fraction  # 4 ms, for numeric features on a prior

        return {cell: [Fraction(n, self._unit) for n in row] for cell, row in found.items()}  # type: ignore[misc]
