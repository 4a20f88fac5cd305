"""One message to a Verdict, by a model that is open for any number of messages.

Every `nbspam classify` imports this file; modules that few messages need are imported where they are used.
"""

from __future__ import annotations

import os

from nbspam.decision import Loss, default_loss, describe_loss, judge_message, load_loss, read_loss
from nbspam.errors import CannotCreateError
from nbspam.model.scorer import Scorer
from nbspam.settings import parse_settings
from nbspam.store.connection import OneState
from nbspam.store.reader import open_model
from nbspam.tokens import count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.decision import Verdict
    from nbspam.explain import Explanation
    from nbspam.model.chosen_settings import Scoring
    from nbspam.settings import Settings
    from nbspam.store.reader import Model
    from nbspam.tokens import Counted


class Filter:
    """An open model with a way of scoring and a loss; made by open_filter, nbspam.load and nbspam.train.

    It belongs to one thread and one process, like its connection to the model file.
    """

    __slots__ = ("loss", "model", "owner", "scorer", "settings")

    def __init__(self, model: Model, settings: Settings, loss: Loss | None = None) -> None:
        self.owner: object = None  # what must live as long as the filter: the temporary folder of its model
        self.model, self.settings = model, settings
        self.loss = loss or default_loss(model.classes)
        self.scorer = Scorer(model, settings)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes in class order: ham first, spam last."""
        return self.model.classes

    @property
    def costs(self) -> str:
        """Which costs decide, in words."""
        return describe_loss(self.loss, self.classes)

    def classify(self, data: bytes, name: str = "") -> Verdict:
        """The verdict on the bytes of one message, by the model as it is now; no message raises an error."""
        message = self.count(data, name)
        with OneState(self.model.connection):
            self.refresh()
            return self.judge(message, name)

    def count(self, data: bytes, name: str = "") -> Counted:
        """The distinct tokens of the first MAX_READ_BYTES, and the numeric features if they are scored."""
        return count_tokens(data, self.settings.wanted, name)

    def judge(self, message: Counted, name: str = "") -> Verdict:
        """The verdict on a message whose tokens are counted, by the model as it was read last.

        Without mail to judge by it is that of the prior: undefined, unless the prior is a number of its own.
        A message without header and text is unsure, with the probability of the prior.
        """
        return judge_message(self.scorer, message, self.loss, name)

    def explain(self, data: bytes, name: str = "") -> Explanation:
        """Why the message gets its verdict: what every clue adds, and which clues decide."""
        from nbspam.explain import explain_verdict

        with OneState(self.model.connection):
            self.refresh()
            message = self.count(data, name)
            verdict = self.judge(message, name)
            return explain_verdict(self.scorer, message, verdict)

    def learn(self, data: bytes, label: str) -> str:
        """Count the message as `label` in the model, in one transaction.

        Returns 'learned', 'moved' (it was counted as another class), 'already learned', or 'learned in
        another form' (as another class and with another header, so that it cannot be moved).
        """
        from nbspam.learning.learn import learn_message

        result = learn_message(self.model.path, label, data)
        self.refresh()
        return result

    def unlearn(self, data: bytes) -> str:
        """Take one counting of the message out again.

        Returns 'forgotten', 'was never learned', or 'learned in another form', which still counts.
        """
        from nbspam.learning.learn import unlearn_message

        result = unlearn_message(self.model.path, data)
        self.refresh()
        return result

    def save(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Write a copy of the model, whole or not at all; it takes the place of a model only with `replace`.

        The filter goes on with its own model: what it learns later is not in the copy.
        """
        from nbspam.store.writer import copy_model

        path = os.path.expanduser(path)
        if not copy_model(self.model.path, path, replace):
            raise CannotCreateError(path, "there is a file already", "add `replace=True`", "model-exists")

    def refresh(self) -> None:
        """Read again what another program has changed in the model."""
        if self.model.refresh():
            self.scorer = Scorer(self.model, self.settings)

    def close(self) -> None:
        """Close the model file."""
        self.model.close()


def open_filter(
    path: str, scoring: Scoring | None = None, loss: str | None = None, current: Filter | None = None
) -> Filter:
    """The filter of the model that is at the path now.

    scoring : settings that replace those of the file, see nbspam.model.chosen_settings
    loss    : costs (`FP=10,FN=1,unsure=0.2`) or the path of a matrix file; None for that of the model, or
              the default: 0-1 with `textbook`
    current : an open filter with the same scoring and loss: returned if its model is still there, else closed
    """
    if current:
        if current.model.is_at(path):
            return current
        current.close()
    model = open_model(path)
    settings = parse_settings(model.settings, model.path)
    if scoring:
        from nbspam.model.chosen_settings import change_settings

        settings = change_settings(settings, scoring)
    is_textbook = bool(scoring and scoring.get("textbook"))
    stored = load_loss(model.settings, model.classes, path, is_textbook)
    return Filter(model, settings, read_loss(loss, model.classes) or stored)
