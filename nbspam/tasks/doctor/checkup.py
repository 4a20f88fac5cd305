"""A check-up of a model and of what is around it.

Hides the order: what must hold first is looked at first, and what rests on it is left out where it does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from nbspam.corpus.item import Skipped
from nbspam.corpus.source import unread_error
from nbspam.errors import BadDataError, NbspamError, NoInputError
from nbspam.store.reader import check_file
from nbspam.tasks.doctor.delivery import delivery
from nbspam.tasks.doctor.finding import FINE, Finding, note, wrong
from nbspam.tasks.doctor.labels_in_doubt import MIN_OF_CLASS, Checked
from nbspam.tasks.doctor.model_health import SOUND, health
from nbspam.tasks.doctor.model_place import missing, others, place


def examine(
    path: str, why: str, places: Iterable[str], home: str, has_mail: bool = False, start: str = ""
) -> list[Finding]:
    """The findings in the order in which they are to be read.

    why      : how this model came to be the one, such as `named by --model`
    places   : where else a model may be
    home     : the folder of the files that deliver mail
    has_mail : labelled mail was named, so that a model that is missing is no fault
    start    : what the model begins with where it is missing, or empty
    """
    found = [Finding("model", f"{path} ({why})"), *_model(path, has_mail, start)]
    return [*found, *others(path, places), *delivery(home, path)]


def _model(path: str, has_mail: bool, start: str) -> Iterator[Finding]:
    try:
        check_file(path)
    except NoInputError as error:
        if error.slug == "model-missing":
            yield from missing(path, has_mail, start)
            yield from _health(start, is_start=True) if start else ()
        else:
            yield wrong("file", error)
            yield from place(path) if os.path.isfile(path) else ()
        return
    except NbspamError as error:
        yield from place(path)
        yield wrong("file", error)
        return
    yield from place(path)
    yield from _health(path)


def _health(path: str, is_start: bool = False) -> Iterator[Finding]:
    """is_start : it is not the model that was asked about, so what is wrong names it"""
    try:
        yield from health(path)
    except NbspamError as error:
        found = wrong(SOUND, error)
        yield found._replace(about="start", text=f"{path}: {error.why}") if is_start else found


def is_sound(findings: list[Finding]) -> bool:
    """Whether the model can be asked what it has counted."""
    return any(one.about == SOUND and one.state == FINE for one in findings)


def unread_findings(skipped: Skipped) -> list[Finding]:
    """That mail could not be read, the first by name, or nothing."""
    if not skipped:
        return []
    error, (path, reason) = unread_error(skipped), skipped[0]
    return [wrong("mail", error)._replace(text=f"{error.why}; the first is {path}: {reason}")]


def label_findings(checked: Checked) -> list[Finding]:
    """What is to be said of labels in one line a kind; the messages stand in `checked`."""
    return [*_contradictions(checked), *_against_the_model(checked), _in_doubt(checked)]


def _contradictions(checked: Checked) -> Iterator[Finding]:
    if checked.same:
        why = f"{_messages(len(checked.same))} of {checked.messages:,} under two labels"
        remedy = "take one label away, then train again: nbspam train --replace"
        yield wrong("labels", BadDataError("SOURCE", why, remedy, "labels-contradict"))
    else:
        yield Finding("labels", f"{checked.messages:,} messages, none under two labels")
    if checked.near:
        text = f"{_messages(len(checked.near))} nearly the same as another under another label"
        yield note("labels", text, "look at both: one label may be wrong")


def _against_the_model(checked: Checked) -> Iterator[Finding]:
    if checked.moved is None:
        return
    if checked.moved:
        why = f"{_messages(len(checked.moved))} counted in the model as another class than the label says"
        remedy = "nbspam learn CLASS FILE moves it; if many: nbspam train --replace"
        yield wrong("counted as", BadDataError("SOURCE", why, remedy, "labels-counted"))
    else:
        yield Finding("counted as", "what the model has counted of this mail, it has as it is labelled")


def _in_doubt(checked: Checked) -> Finding:
    if checked.doubts is None:
        return note("in doubt", f"not looked for: that takes {MIN_OF_CLASS} messages of each of two classes")
    if not checked.doubts:
        return Finding("in doubt", "no label")
    text = f"{_messages(len(checked.doubts))} likely mislabelled, by the mail of other campaigns"
    return note("in doubt", text, "look at them; move them, then train again: nbspam train --replace")


def _messages(n: int) -> str:
    return f"{n:,} message" + ("s" if n > 1 else "")
