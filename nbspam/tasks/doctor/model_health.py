"""What is in the model: sound, enough mail, of both classes, calibrated.

Hides how many messages are few.  The bounds are from docs/decisions.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from nbspam.errors import RETRAIN, BadDataError
from nbspam.filter import tells_apart
from nbspam.labels import NAMED_CLASSES
from nbspam.model.calibrate import MIN_CALIBRATION, can_calibrate
from nbspam.settings import from_text
from nbspam.store.autolearned import autolearned_messages
from nbspam.store.inspect import check_model, contradictions, learned_messages
from nbspam.store.reader import FORMAT, Model, open_model
from nbspam.tasks.doctor.finding import Finding, note, wrong
from nbspam.tasks.doctor.model_place import moment, size
from nbspam.tasks.learn import MIN_LABELLED, takes_own_word

# Messages of the rarest class, and what filters that had fewer did on public mail.
FEW = (
    (20, "far too few: public mail was judged wrongly one time in ten or more"),
    (50, "few: public mail was judged wrongly one time in ten to one in forty"),
    (200, "not yet many: public mail was judged wrongly one time in twenty to one in eighty"),
)
LOPSIDED = 20  # times as many messages of one class: the other is what the filter knows little of
SHOWN_COMPLAINTS = 3
LEARN_MORE = "learn more of it: nbspam train --update SOURCE, nbspam learn CLASS FILE"
SOUND = "sound"  # what the finding is about that says so


def health(path: str) -> Iterator[Finding]:
    """Of a model that can be opened."""
    complaints = check_model(path)
    model = open_model(path)
    try:
        if complaints:
            more = len(complaints) - SHOWN_COMPLAINTS
            text = "; ".join(complaints[:SHOWN_COMPLAINTS]) + (f"; and {more} more" if more > 0 else "")
            yield wrong(SOUND, BadDataError(path, "not sound: " + text, RETRAIN, "model-damaged"))
        else:
            text = f"yes: format {FORMAT}, {size(os.path.getsize(path))}, all sums are those of their parts"
            yield Finding(SOUND, text)
        yield from _contents(model)
    finally:
        model.close()


def _contents(model: Model) -> Iterator[Finding]:
    by_class = f"messages ({_by_class(model, model.messages)})"
    if len(model.classes) > NAMED_CLASSES:
        by_class = f"messages of {len(model.classes):,} classes"
    changed = moment(os.path.getmtime(model.path))
    text = f"{sum(model.messages):,} {by_class}; last changed {changed}"
    if "prior_weight" in model.settings:
        text += f"; on a prior model that counts as {model.settings['prior_weight']}"
    yield Finding("counted", text)
    yield from _own_word(model)
    yield _amount(model)
    if any(model.messages):  # else a prior model is all there is
        yield _balance(model)
    yield _calibration(model)
    twice = contradictions(model)
    if twice:
        text = f"{twice:,} {'message is' if twice == 1 else 'messages are'} counted in more than one class"
        yield note("labels", text, "to see which: nbspam doctor SOURCE; then: nbspam learn CLASS FILE")


def _by_class(model: Model, messages: list[int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in zip(model.classes, messages, strict=True))


def _own_word(model: Model) -> Iterator[Finding]:
    own = autolearned_messages(model)
    if any(own):
        text = f"{sum(own):,} of them on the filter's own word ({_by_class(model, own)})"
        if takes_own_word(model):
            yield Finding("autolearned", text)
        else:
            text += f", and no more: that takes {MIN_LABELLED} labelled messages of each class"
            yield note("autolearned", text, LEARN_MORE)


def _amount(model: Model) -> Finding:
    fewest = min(model.messages)
    for bound, text in FEW:
        if fewest < bound:
            if "prior_weight" in model.settings:
                text = "few of your own; till there are more the prior model speaks"
            elif not tells_apart(model.settings.get("averaged") == "1", model.messages):
                text = "so no message is judged: two classes must have mail"
            return note("enough", f"{fewest:,} of class {_rarest(model)}, {text}", LEARN_MORE)
    return Finding("enough", f"yes: {fewest:,} or more of each class")


def _balance(model: Model) -> Finding:
    fewest, most = min(model.messages), max(model.messages)
    ratio = most / max(fewest, 1)
    if ratio > LOPSIDED:
        text = f"{ratio:,.0f} times as many of one class as of {_rarest(model)}: the prior is as lopsided"
        remedy = "learn more of the rare class; or name how the mail will be: nbspam train --prior"
        return note("balance", text, remedy)
    return Finding("balance", f"{ratio:.1f} : 1, not more than {LOPSIDED} : 1")


def _rarest(model: Model) -> str:
    rarest: str = model.classes[model.messages.index(min(model.messages))]
    return rarest


def _calibration(model: Model) -> Finding:
    settings = from_text(model.settings, model.path)
    if not settings.averaged:
        text = f"none: {settings.event_model} as one sum, so its probabilities are far too sure of themselves"
        return Finding("calibrated", text)
    if not can_calibrate(model.messages):
        text = f"not on your mail: that takes {MIN_CALIBRATION} messages of each of two classes"
        return note("calibrated", text, "when there are more, train again: nbspam train --replace")
    if not model.calibration():
        return note("calibrated", "no: the model has no weights for its views", RETRAIN)
    if "imported" in model.settings:
        own = learned_messages(model)
        if own < 2 * MIN_CALIBRATION:
            text = f"hardly: {own:,} messages were yours, the rest {model.settings['imported']}'s"
            return note("calibrated", text, "nbspam train --update SOURCE, of mail that it has not counted")
    return Finding("calibrated", "yes: the views are weighed by what your mail taught")
