"""A model that stands on another: its counts and, at a weight, those of its prior model.

Hides that the two are kept apart.  Both stay integers, so learning and unlearning are exact; they are
added when a message is scored.  Only a model with a prior pays for this module.
"""

from __future__ import annotations

from math import inf

from nbspam.errors import DamagedModelError, UsageError
from nbspam.model.words import power_factor
from nbspam.store.reader import Model, count_columns, rows_of_keys
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS

NUMERIC_KINDS = ("moment", "bin", "pair")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class ModelOnPrior(Model):
    """Every count is  own + factor * prior  (floats).

    factor : what a count of the prior model is worth, see scoring.events.power_factor
    """

    __slots__ = ("_factor", "_own")

    def __init__(self, own: Model, factor: float) -> None:
        # Not Model.__init__: what it reads has been read.
        self._own = own
        self._factor = factor
        self.path, self.connection, self.classes = own.path, own.connection, own.classes
        self.settings, self.words = own.settings, own.words
        self.messages = self._sum(own.messages, prior_messages(own))
        self.documents = [list(row) for row in own.documents]
        self.occurrences = [list(row) for row in own.occurrences]
        for view, number, documents, occurrences in own.connection.execute("SELECT * FROM prior_total"):
            self.documents[view][number] += factor * documents
            self.occurrences[view][number] += factor * occurrences

    def _sum(self, own: Sequence[int], prior: Sequence[int]) -> list[int]:
        return [a + self._factor * b for a, b in zip(own, prior, strict=True)]  # type: ignore[misc]

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """As Model.counts, with the prior's share."""
        own = count_columns(len(self.classes))
        columns = ", ".join([*own, *(f"prior_{name}" for name in own)])
        # Not added up by SQLite, which would round otherwise than the sums over all tokens do: at lambda = 0
        # a word that all messages have is known by its count being equal to theirs.
        found = rows_of_keys(self.connection, columns, keys)
        n = len(own)
        return {key: tuple(self._sum(row[:n], row[n:])) for key, row in found.items()}

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """As Model.histogram; a sum of two counts has no histogram of its own, so all tokens are read."""
        by_class: list[dict[int, int]] = []
        everyone = range(len(self.classes))
        for k in everyone:
            others = [k] if kind == "documents" else [j for j in everyone if j != k]
            name = "documents" if kind == "documents" else "occurrences"
            own = " + ".join(f"{name}_{j}" for j in others) or "0"
            prior = " + ".join(f"prior_{name}_{j}" for j in others) or "0"
            cells: dict[int, int] = {}
            some = f"FROM token WHERE view NOT IN {NO_TEXTBOOK_VIEWS} GROUP BY own, prior"
            query = f"SELECT {own} AS own, {prior} AS prior, count(*) {some}"
            for a, b, words in self.connection.execute(query):
                value = a + self._factor * b
                cells[value] = cells.get(value, 0) + words
            by_class.append(cells)
        return by_class

    def numeric_counts(self, kind: str, places: list[int] | None = None) -> dict[tuple[int, int], list[int]]:
        """As Model.numeric_counts; moments scaled to whole numbers, which changes no mean and no variance."""
        own = self._own.numeric_counts(kind, places)
        prior = self._own.numeric_counts("prior-" + kind, places)
        one, other = (1, self._factor)
        if kind == "moment":
            other, one = self._factor.as_integer_ratio()  # exact: sums of squares pass what a float holds
        found: dict[tuple[int, int], list[int]] = {}
        for cell in own.keys() | prior.keys():
            row = own.get(cell) or [0] * len(prior[cell])
            more = prior.get(cell) or [0] * len(row)
            found[cell] = [one * a + other * b for a, b in zip(row, more, strict=True)]  # type: ignore[misc]
        return found


def on_prior(model: Model) -> ModelOnPrior:
    """A model that was trained on a prior, with its counts added."""
    return ModelOnPrior(model, power_factor(prior_weight(model), prior_messages(model)))


def prior_weight(model: Model) -> float:
    """How many messages the prior of a model on one counts as."""
    text = model.settings["prior_weight"]
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < inf:
        raise DamagedModelError(model.path, f"a prior model cannot count as {text} messages")
    return weight


def prior_messages(model: Model) -> list[int]:
    """m0_k of the prior model by class; zeros if there is none."""
    found = [0] * len(model.classes)
    for number, messages in model.connection.execute("SELECT number, messages FROM prior_class"):
        if not 0 <= number < len(found) or messages < 0:
            raise DamagedModelError(model.path, f"{messages} messages of class number {number} are no prior")
        found[number] = messages
    return found


class PriorTables:
    """All counts of a model that is to be the prior of another, in that one's class order."""

    __slots__ = ("_model", "_numbers", "classes", "messages")

    def __init__(self, model: Model, classes: tuple[str, ...]) -> None:
        if "prior_weight" in model.settings:
            raise UsageError(
                model.path,
                "stands on a prior model itself, and priors do not stack",
                "merge what it learned into its prior, or train it without --prior-model",
                "prior-stacked",
            )
        self._model = model
        self.classes = classes
        self._numbers = [classes.index(name) for name in model.classes]
        self.messages = [0] * len(classes)
        for number, count in zip(self._numbers, model.messages, strict=True):
            self.messages[number] = count

    def tokens(self) -> Iterator[tuple[object, ...]]:
        """(key, view, text, documents_0, occurrences_0, ...), ascending by key."""
        columns = ", ".join(count_columns(len(self._model.classes)))
        for key, view, text, *counts in self._model.connection.execute(
            f"SELECT key, view, text, {columns} FROM token ORDER BY key"
        ):
            row = [0] * (2 * len(self.classes))
            for place, number in enumerate(self._numbers):
                row[2 * number : 2 * number + 2] = counts[2 * place : 2 * place + 2]
            yield (key, view, text, *row)

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """Features and edges; empty if the model knows words alone."""
        return self._model.numeric_features()

    def numeric_rows(self) -> Iterator[tuple[str, int, int, list[int]]]:
        """(kind, class, place, integers) under the kinds of a prior."""
        for kind in NUMERIC_KINDS:
            for (k, place), row in self._model.numeric_counts(kind).items():
                yield "prior-" + kind, self._numbers[k], place, row

    def calibration(self) -> tuple[list[float], list[list[float]]]:
        """Weights and their covariance; empty if it has none or other classes."""
        if self._model.classes != self.classes:
            return [], []
        return self._model.calibration(), self._model.covariance()
