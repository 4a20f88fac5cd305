"""One message to a Verdict, by a model that is open for any number of messages.

Every `nbspam classify` imports this file; modules that few messages need are imported where they are used.
"""

from __future__ import annotations

import os

from nbspam.decision import Loss, Unread, describe_loss, judge_message, load_loss, read_loss
from nbspam.errors import CannotCreateError, NoInputError, UsageError
from nbspam.labels import amount, format_counts
from nbspam.model.scorer import Scorer
from nbspam.settings import parse_settings
from nbspam.store.connection import BUSY_SECONDS
from nbspam.store.reader import open_model
from nbspam.tokens import count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from tempfile import TemporaryDirectory

    from nbspam.corpus.item import Given
    from nbspam.decision import Verdict
    from nbspam.explain import Explanation
    from nbspam.model.chosen_settings import Scoring
    from nbspam.settings import Settings
    from nbspam.store.reader import FindBase, Model
    from nbspam.tokens import KeyedTokens

    Asked = tuple[Scoring | None, str | os.PathLike[str] | None]

_REPORT = b"x-spam-type"  # of SpamAssassin, see split_report


class Filter:
    """An open model with a way of scoring and a loss; made by nbspam.load and nbspam.train.

    A message is bytes, an email.message.Message or a path object (pathlib.Path).
    It belongs to one thread and one process, like its connection to the model file.  A copy, also one that
    was pickled, opens the same file again.  A context closes it; each use after that is a UsageError.

    asked : what open_filter was asked for: scoring and loss
    owner : of a filter that was trained here, the temporary folder of its model
    """

    __slots__ = ("_model", "_saved", "asked", "loss", "owner", "scorer", "settings")

    def __init__(self, model: Model, settings: Settings, loss: Loss, asked: Asked) -> None:
        self._model: Model | None = model
        self.owner: TemporaryDirectory[str] | None = None
        self._saved = ""  # where a file has what the temporary model has
        self.settings, self.loss, self.asked = settings, loss, asked
        self.scorer = Scorer(model, settings)

    def __repr__(self) -> str:
        if self._model is None:
            return "<Filter: closed>"
        path = self._saved if self.owner else self.model.path
        where = f"of {path!r}" if path else "that is not saved"
        total, counts = sum(self.model.messages), format_counts(self.classes, self.model.messages)
        return f"<Filter {where}: {amount(total, 'message')}, {counts}>"

    def __reduce__(self) -> tuple[object, ...]:
        path = self._saved if self.owner else self.model.path
        if not path:
            raise UsageError("filter", "no file has what it has learned", "save it first", "filter-unsaved")
        return open_filter, (os.path.abspath(path), *self.asked)

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def model(self) -> Model:
        """The open model; UsageError if it was closed."""
        if self._model is None:
            raise UsageError("filter", "is closed", "open its model again: nbspam.load", "filter-closed")
        return self._model

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes in class order: ham first, spam last."""
        return self.model.classes

    @property
    def costs(self) -> str:
        """Which costs decide, in words."""
        return describe_loss(self.loss, self.classes)

    def classify(self, message: Given, name: str = "") -> Verdict:
        """The verdict on one message, by the model as it is now; no bytes raise an error."""
        data = _read(message)
        self._follow_file()
        counted = self.count(data, name)
        with self.model.one_state():
            self.refresh()
            return self.follow_senders(self.judge(counted, name), data)

    def classify_many(self, messages: Iterable[Given], jobs: int | None = None) -> Iterator[Verdict | Unread]:
        """The verdicts on messages, in their order, without clues; several processes judge hundreds of them.

        jobs : processes; None for all cores
        A message that cannot be read has an Unread in place of its verdict.
        """
        from nbspam.corpus.executor import choose_jobs, run_shards
        from nbspam.corpus.reading import cut_shards

        path, own = self.model.path, None  # a Filter of this process: SQLite's connections are for one

        def judge(message: Given) -> Verdict | Unread:
            nonlocal own
            own = own or open_filter(path, *self.asked)
            try:
                data = _read(message)
            except NoInputError as error:
                return Unread(error)
            verdict = own.classify(data)
            verdict.scored.parts = []  # to hand them over takes a fifth of the time
            return verdict

        shards = cut_shards(messages)
        for verdicts in run_shards(lambda shard: [*map(judge, shard)], shards, choose_jobs(jobs)):
            yield from verdicts

    def count(self, message: Given, name: str = "") -> KeyedTokens:
        """The distinct tokens of the first MAX_READ_BYTES, and the numeric features if they are scored."""
        data, report = _read(message), b""
        if _REPORT in data:
            from nbspam.corpus import split_report  # rare

            data, report = split_report(data)
        counted = count_tokens(data, self.settings.wanted, name)
        counted.report = count_tokens(report, self.settings.wanted, name) if report else None
        return counted

    def judge(self, message: KeyedTokens, name: str = "") -> Verdict:
        """The verdict on a message whose tokens are counted, by the model as it was read last.

        Without mail to judge by it is that of the prior: undefined, unless the prior is a number of its own.
        A message without header and text is unsure, with the probability of the prior.
        """
        return judge_message(self.scorer, self._choose_part(message), self.loss, name)

    def _choose_part(self, message: KeyedTokens) -> KeyedTokens:
        """What the verdict is about: a report of SpamAssassin if that is more like spam than what is in it.

        A spammer can forge a report, with ham in it.
        """
        if message.report is None:
            return message
        inside, report = (judge_message(self.scorer, part, self.loss) for part in (message, message.report))
        return message.report if report.is_spammier(inside) else message

    def follow_senders(self, verdict: Verdict, data: bytes) -> Verdict:
        """The verdict, with the decision of the user's list of senders if that has one."""
        if self.model.has_senders:
            from nbspam.store.senders import judge_by_list  # few models have a list

            verdict.follow(*judge_by_list(self.model, data))
        return verdict

    def explain(self, message: Given, name: str = "") -> Explanation:
        """Why the message gets its verdict: what every clue adds, and which clues decide."""
        from nbspam.explain import explain_verdict

        self._follow_file()
        with self.model.one_state():
            self.refresh()
            counted = self._choose_part(self.count(message, name))
            verdict = self.follow_senders(self.judge(counted, name), _read(message))
            return explain_verdict(self.scorer, counted, verdict)

    def learn(self, message: Given, label: str) -> str:
        """Count the message as `label` in the model, in one transaction.

        Returns 'learned', 'moved' (it was counted as another class), 'already learned', 'is in the shared
        model' (the base of an overlay counts it so), or 'learned in another form' (as another class and with
        another header or encoding, so that it cannot be moved).
        """
        if not isinstance(label, str):
            raise TypeError(f"a label is a str, not {label!r}")
        return self._learn(message, label)

    def unlearn(self, message: Given) -> str:
        """Take one counting of the message out again.

        Returns 'forgotten', 'was never learned', or what still counts: 'learned in another form', or 'is in
        the shared model' (the base of an overlay, which keeps it).
        """
        return self._learn(message, None)

    def _learn(self, message: Given, label: str | None) -> str:
        from nbspam.learning.learn import learn_message

        self._follow_file()
        result = learn_message(self.model.path, label, _read(message))
        self._saved = ""
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
        self._saved = os.path.abspath(path)

    def refresh(self) -> None:
        """Read again what another program has changed in the model."""
        if self.model.refresh():
            self.scorer = Scorer(self.model, self.settings)

    def _follow_file(self) -> None:
        """Open the model that another program has put in its place; UsageError in another thread."""
        self.refresh()
        if not self.model.is_at(self.model.path):
            now = open_filter(self.model.path, *self.asked)
            self.model.close()
            self._model, self.settings, self.loss, self.scorer = now.model, now.settings, now.loss, now.scorer

    def close(self) -> None:
        """Close the model file; a temporary one is removed."""
        if self._model:
            with self._model.one_state():
                pass  # the error of another thread
            self._model.close()
        if self.owner:
            self.owner.cleanup()
        self._model = self.owner = None


def _read(message: Given) -> bytes:
    """The bytes of a message; see take_bytes for what it may be, and for errors."""
    if isinstance(message, bytes):
        return message
    from nbspam.corpus.item import take_bytes

    return take_bytes(message)


def open_filter(
    path: str,
    scoring: Scoring | None = None,
    loss: str | os.PathLike[str] | None = None,
    current: Filter | None = None,
    find_base: FindBase | None = None,
    busy_seconds: float = BUSY_SECONDS,
) -> Filter:
    """The filter of the model that is at the path now.

    scoring : settings that replace those of the file, see nbspam.model.chosen_settings
    loss    : costs (`FP=10,FN=1,unsure=0.2`) or the path of a matrix file; None for that of the model, or
              the default: 0-1 with `textbook`
    current : an open filter with the same scoring and loss: returned if its model is still there, else closed
    find_base : as for nbspam.store.reader.Model
    busy_seconds : how long to wait for a writer's commit; then TryAgainError
    """
    if current:
        if current.model.is_at(path):
            return current
        current.close()
    model = open_model(path, find_base=find_base, busy_seconds=busy_seconds)
    settings = parse_settings(model.settings, model.path)
    if scoring:
        from nbspam.model.chosen_settings import change_settings

        settings = change_settings(settings, scoring)
    is_textbook = bool(scoring and scoring.get("textbook"))
    stored = load_loss(model.settings, model.classes, path, is_textbook)
    return Filter(model, settings, read_loss(loss, model.classes) or stored, (scoring, loss))


def choose_model(path: str, start: str) -> str:
    """The model that judges: a person's own at `path`, or `start` if it does not exist yet.

    start : a model that others share, or empty; see docs/decisions.md, "Shared models"
    """
    if not start:
        return path
    try:
        os.stat(path)
    except FileNotFoundError:
        return start
    except OSError:
        pass  # it may be there: opening it says what is wrong
    return path


def begin_model(path: str, start: str) -> str:
    """Make the person's own model if it is missing: "an overlay" or "a copy" of `start`; "" if it exists."""
    if choose_model(path, start) == path:
        return ""
    from nbspam.store.overlay import start_model  # once in a model's life

    return start_model(start, path)
