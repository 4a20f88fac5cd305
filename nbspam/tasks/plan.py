"""What a training or an evaluation is asked to do."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nbspam.corpus.vocabulary import Vocabulary
from nbspam.decision import Loss, default_loss
from nbspam.settings import Settings
from nbspam.tokens.bag import SIGNATURE


class Plan(NamedTuple):
    """What to do with labelled mail.

    settings    : how to count and score; with a vocabulary, those of limit_settings
    loss        : what decisions cost; None for the default
    vocabulary  : all other words are NOTAWORD; None: every word has its own count
    seed        : of everything that an evaluation draws
    grouped     : folds keep near-duplicates together
    edges       : inner edges of the bins of numeric features, by name; the edges of all others are learned
    replaces    : write over an existing model; if False, that is an error
    max_memory  : megabytes of all processes together, 0 for the default; more counts wait in temporary files
    source      : of the mail, for the ledger
    keeps_names : name the messages that are in more than one class
    """

    settings: Settings
    loss: Loss | None = None
    vocabulary: Vocabulary | None = None
    seed: int = 0
    grouped: bool = False
    edges: Mapping[str, list[float]] = {}
    replaces: bool = True
    max_memory: int = 0
    source: str = "train"
    keeps_names: bool = False

    @property
    def wanted(self) -> frozenset[str]:
        """What to read of a message in addition to its words, see nbspam.tokens.read."""
        return self.settings.wanted | ({SIGNATURE} if self.grouped else frozenset())

    def costs(self, classes: tuple[str, ...]) -> Loss:
        """What decisions for these classes cost."""
        return self.loss or default_loss(classes)

    def describe(self, **more: Any) -> dict[str, Any]:
        """The settings as an evaluation keeps them."""
        settings: dict[str, Any] = self.settings.values()
        if self.vocabulary:
            settings["vocabulary_size"] = len(self.vocabulary.words)
        return settings | {"seed": self.seed} | more
