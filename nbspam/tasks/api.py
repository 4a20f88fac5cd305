"""The Python API: train, load, evaluate, parse and tokenize.  The manual is docs/api.md.

Arguments have the names of the command line's options.  What can go wrong is a child of nbspam.NbspamError.
"""

from __future__ import annotations

import html
import json
import os
import tempfile
import warnings
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast, get_type_hints

import numpy as np

from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.executor import choose_jobs
from nbspam.corpus.item import Skipped, take_bytes
from nbspam.corpus.labelled import NAME_CLASSES, open_labelled
from nbspam.corpus.source import Source, read_heads
from nbspam.decision import read_loss
from nbspam.errors import UsageError
from nbspam.evaluation.figures import list_figures, summarise
from nbspam.evaluation.outcomes import Evaluation, find_worst_mistakes
from nbspam.evaluation.replay import parse_feedback
from nbspam.evaluation.sentences import describe_decisions
from nbspam.filter import Filter, open_filter
from nbspam.mail import Message
from nbspam.mail import parse as parse_bytes
from nbspam.model.chosen_settings import REPLACEABLE, Scoring, make_settings
from nbspam.tasks.evaluate import evaluate_folds, evaluate_holdout, evaluate_replay
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from nbspam.tokens import tokenize as tokenize_message
from nbspam.tokens.bag import Tokens

if TYPE_CHECKING:
    from email.message import Message as EmailMessage

    from numpy.typing import NDArray

    from nbspam.corpus.item import Given

    Path = str | os.PathLike[str]
    Mail = Path | bytes | EmailMessage
    Mails = Mail | Iterable[Mail]

_TYPES: dict[str, Any] = get_type_hints(Scoring) | {
    "folds": int,
    "holdout": float | None,
    "seed": int,
    "feedback": str,
}
# Keywords of an evaluation that belong to another, and what they are without it.
_OWNED = {"by_time": ("holdout", False), "feedback": ("replay", "immediate")}


def train(
    source: Mails = (),
    *,
    ham: Mails = (),
    spam: Mails = (),
    classes: Mapping[str, Mails] | None = None,
    loss: Path | None = None,
    jobs: int | None = None,
    **scoring: Unpack[Scoring],
) -> Filter:
    """Train a filter on labelled mail.  Its model is a temporary file until it is saved.

    source  : a Maildir, a folder with a folder a class, or an index file; or some of them
    ham, spam, classes : mail of which the class is given: Maildir, MH, mbox, folder or file; or messages
              in memory (bytes, email.message.Message)
    loss    : costs of decisions, such as 'FP=10,FN=1,unsure=0.2', or the path of a matrix file
    jobs    : processes; None for all cores
    scoring : event_model, alpha, prior, features, views, textbook ... as `nbspam train`
    """
    plan = _make_plan(scoring, is_kept=True)
    mail = _open_mail(source, ham, spam, classes)
    plan = plan._replace(loss=read_loss(loss, mail.classes, scoring.get("textbook", False)))
    folder = tempfile.TemporaryDirectory(prefix="nbspam-")  # removed with the filter
    path = os.path.join(folder.name, "model.nbspam")
    done = train_model(mail.items(), mail.classes, path, plan, choose_jobs(jobs))
    _warn_of_unread([*mail.skipped, *done.skipped])
    spam_filter = open_filter(path)
    spam_filter.owner = folder
    return spam_filter


def load(path: Path, *, loss: Path | None = None, **scoring: Unpack[Scoring]) -> Filter:
    """Open the filter of a model file; `learn` changes that file.

    loss    : as for train, in place of the loss in the model
    scoring : event_model, alpha, prior, features or textbook, in place of those in the model
    """
    return open_filter(_expand_path(path), _drop_unset(scoring, REPLACEABLE), loss)


class Report(NamedTuple):
    """How good a filter is: the figures, and the messages that they are made of.  A notebook shows a table.

    figures    : name -> figure; `X_interval` is the 95 % interval of X; None where undefined
    evaluation : what was decided about each message

    Each figure is an attribute: `report.hm_percent`, `report.hm_percent_interval`; dir(report) lists them.
    """

    figures: dict[str, Any]
    evaluation: Evaluation

    def __getattr__(self, name: str) -> Any:
        if name in self.figures:
            return self.figures[name]
        raise AttributeError(f"a report has no figure {name!r}; its figures: {', '.join(self.figures)}")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.figures]

    def __repr__(self) -> str:
        return f"<Report: {describe_decisions(self.figures)}>"

    def _repr_html_(self) -> str:
        """The table of figures, as notebooks show it."""
        head = "<tr><th>figure<th>value<th>95 % interval<th>what it says"
        shown = list_figures(self.figures)
        rows = ["<tr><td>" + "<td>".join(map(html.escape, row[1:])) for row in shown]
        return f"<p>{html.escape(describe_decisions(self.figures))}</p><table>{head}{''.join(rows)}</table>"

    @property
    def truth(self) -> NDArray[np.int64]:
        """int64 (n,): the number of each message's true class, in class order."""
        return self.evaluation.truth

    @property
    def log_odds(self) -> NDArray[np.float64]:
        """float64 (n,): each message's log-odds of spam in nats; nan without a class spam."""
        return self.evaluation.score

    def to_json(self) -> str:
        """The figures and settings as a JSON object."""
        return json.dumps(self.figures | {"settings": dict(self.evaluation.settings)}, allow_nan=False)

    def to_html(self) -> str:
        """A page with curves, figures and the worst mistakes; needs the extra report."""
        from nbspam.evaluation.report import report_html

        names = self.evaluation.names[find_worst_mistakes(self.evaluation)]
        return report_html(self.evaluation, self.figures, read_heads(names.tolist()), str(date.today()))


def evaluate(
    source: Mails = (),
    *,
    ham: Mails = (),
    spam: Mails = (),
    classes: Mapping[str, Mails] | None = None,
    folds: int = 10,
    grouped: bool = False,
    holdout: float | None = None,
    by_time: bool = False,
    replay: bool = False,
    feedback: str = "immediate",
    seed: int = 0,
    loss: Path | None = None,
    jobs: int | None = None,
    **scoring: Unpack[Scoring],
) -> Report:
    """Judge each message by a filter that has not learned it.

    source, ham, spam, classes, loss, jobs, scoring : as for train
    folds   : judge each of so many parts by the others; grouped keeps near-duplicates in one part
    holdout : judge this share by the rest; with by_time the newest messages
    replay  : in order of time, judge each message and then learn it, see feedback
    """
    plan = _make_plan(scoring)
    _check_types(folds=folds, holdout=holdout, feedback=feedback, seed=seed)
    _check_owned(holdout=holdout, by_time=by_time, replay=replay, feedback=feedback)
    mail = _open_mail(source, ham, spam, classes)
    costs = read_loss(loss, mail.classes, scoring.get("textbook", False))
    plan = plan._replace(loss=costs, seed=seed, grouped=grouped)
    jobs = choose_jobs(jobs)
    corpus = read_corpus(mail.items(), mail.classes, jobs, mail.ordered_by_index, wanted=plan.wanted)
    _warn_of_unread([*mail.skipped, *corpus.skipped])
    if replay:
        evaluation = evaluate_replay(corpus, plan, parse_feedback(feedback))
    elif holdout is not None:
        evaluation = evaluate_holdout(corpus, plan, holdout, by_time)
    else:
        evaluation = evaluate_folds(corpus, plan, folds, jobs)
    return Report(summarise(evaluation), evaluation)


def parse(message: Given) -> Message:
    """Take a message apart: its header fields and parts, decoded.  No bytes raise an error."""
    return parse_bytes(take_bytes(message))


def tokenize(message: Given | Message, wanted: Collection[str] = ()) -> Tokens:
    """The tokens of each view, see docs/tokens.md.

    message : as for parse, or what parse returns
    wanted  : what is read in addition to the words: some of 'bigrams', 'raw', 'measures', 'signature',
              'numeric', 'date'
    """
    return tokenize_message(message if isinstance(message, Message) else parse(message), wanted)


def _make_plan(scoring: Scoring, is_kept: bool = False) -> Plan:
    """The plan of a training or evaluation, as far as it does not depend on the classes."""
    return Plan(make_settings(_drop_unset(scoring), is_kept))


def _drop_unset(scoring: Scoring, names: Collection[str] = tuple(Scoring.__annotations__)) -> Scoring:
    """The settings that are asked for: the others may be None, empty or False; alpha may be 0.

    names : what can be asked for here; TypeError for another name, which would be ignored
    """
    for name in scoring:
        if name not in names:
            raise TypeError(f"unexpected keyword argument {name!r}; the settings here are {', '.join(names)}")
    values = _check_types(**scoring)
    asked = {name: value for name, value in values.items() if value not in (None, "") and value is not False}
    return cast("Scoring", asked)


def _check_types(**keywords: object) -> dict[str, object]:
    """The keywords, with the numbers of numpy as those of Python.  TypeError for a value of a wrong type."""
    for name, value in keywords.items():
        plain = keywords[name] = value.item() if isinstance(value, np.generic) else value
        types = _TYPES[name]
        is_right = isinstance(plain, types) or (isinstance(plain, int) and isinstance(0.5, types))
        if plain is not None and not is_right:
            raise TypeError(f"{name} is of type {getattr(types, '__name__', types)}, not {value!r}")
    return keywords


def _check_owned(**keywords: object) -> None:
    """UsageError for a keyword without the one that it belongs to."""
    for name, (owner, unset) in _OWNED.items():
        if keywords[name] != unset and keywords[owner] in (None, False):
            why = f"belongs to `{owner}`"
            raise UsageError("", why, f"add `{owner}`, or leave it out", "no-effect", option=name)


def _open_mail(source: Mails, ham: Mails, spam: Mails, classes: Mapping[str, Mails] | None) -> Source:
    sources = _list_mail(source)
    if any(isinstance(one, bytes) for one in sources):
        raise UsageError("source", "messages in memory have no class", NAME_CLASSES, "unlabelled")
    if not isinstance(classes, Mapping | None) or not all(isinstance(name, str) for name in classes or ()):
        raise TypeError("classes is a dict: from the name of a class to its mail")
    named = {name: _list_mail(mail) for name, mail in (classes or {}).items()}
    return open_labelled(
        cast("list[str]", sources), ham=_list_mail(ham), spam=_list_mail(spam), classes=named
    )


def _list_mail(mail: Mails) -> list[str | bytes]:
    """Paths, and the bytes of messages in memory."""
    is_one = isinstance(mail, (str, bytes, os.PathLike)) or hasattr(mail, "as_bytes")
    each: list[Any] = [mail] if is_one else [*cast("Iterable[Mail]", mail)]
    return [_expand_path(one) if isinstance(one, (str, os.PathLike)) else take_bytes(one) for one in each]


def _expand_path(path: Path) -> str:
    return os.path.expanduser(os.fspath(path))


def _warn_of_unread(skipped: Skipped) -> None:
    if skipped:
        name, why = skipped[0]
        warnings.warn(f"{len(skipped):,} could not be read, such as {name}: {why}", stacklevel=3)
