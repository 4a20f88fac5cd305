"""A check-up of a model and of its place in the file system.

A finding that is wrong carries the exit status of the error that the next command would meet, so scripts can
act on it.  The bounds are from docs/decisions.md, "Wrong labels".
"""

import os
import pwd
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

from nbspam import errors
from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.labelled import open_unsorted
from nbspam.decision import describe_loss, load_loss
from nbspam.evaluation.sentences import is_strange
from nbspam.files import find_nearest_folder
from nbspam.filter import choose_model, open_filter
from nbspam.labels import format_counts
from nbspam.learning.autolearn import MIN_LABELLED
from nbspam.model.calibrate import MIN_CALIBRATION, can_calibrate
from nbspam.model.posterior import can_judge
from nbspam.places import find_weakness
from nbspam.settings import parse_settings
from nbspam.store.check import check_model, count_different, count_learned, list_fields
from nbspam.store.connection import FORMAT
from nbspam.store.reader import Model, open_model
from nbspam.tasks.classify import ModelJudge
from nbspam.tasks.train import count_reports
from nbspam.tokens import describe_reader

FINE = "ok"
NOTE = "note"  # worth knowing, not wrong
WRONG = "wrong"
OTHERS_ACCESS = 0o066  # read or write
ENOUGH = 200  # messages of the rarest class
MOST_READ = 1_000  # messages that are compared with the mail of training
# A header field in such shares of one class, and of each other, tells where mail came from.
MOSTLY, HARDLY = 0.9, 0.02
LEARN_MORE = "learn more of it: nbspam train `update` SOURCE, nbspam learn CLASS FILE"
PROCMAILRC = ".procmailrc"
DELIVERY_FILES = (PROCMAILRC, ".mailfilter", ".forward")


class Finding(NamedTuple):
    """One result of the check-up.

    about  : its subject, a word or two
    text   : one line
    state  : FINE, NOTE or WRONG
    remedy : what to do next, one line; may be empty
    status : the exit status of such an error, if the state is WRONG; else 0
    """

    about: str
    text: str
    state: str = FINE
    remedy: str = ""
    status: int = 0


def _note(about: str, text: str, remedy: str) -> Finding:
    """A finding that is worth knowing."""
    return Finding(about, text, NOTE, remedy)


def _wrong(about: str, text: str, remedy: str, kind: type[errors.NbspamError]) -> Finding:
    """A finding that is wrong.  kind : of the error that the next command would meet"""
    return Finding(about, text, WRONG, remedy, kind.status)


def examine(
    path: str, why: str, places: Iterable[str], start: str = "", mail: Sequence[str] = ()
) -> list[Finding]:
    """Examine the model at `path`; findings in reading order.

    why    : why it is this model, such as `named by $NBSPAM_MODEL`
    places : other paths where a model may be
    start  : the model that judges as long as `path` does not exist, or empty
    mail   : folders and mailboxes that are compared with the mail of training
    """
    reader = _examine_reader()
    findings = [Finding("model", f"{path} ({why})"), reader, *_examine_model(path, start)]
    if mail and not any(finding.status for finding in findings):
        findings.append(_examine_mail(choose_model(path, start), mail))
    return [*findings, *_find_others(path, places), *_find_calls(os.path.expanduser("~"))]


def _examine_reader() -> Finding:
    try:
        return Finding("reader", describe_reader())
    except errors.UsageError as error:
        return _wrong("reader", f"{error.where}: {error.why}", error.remedy, type(error))


def _user_name(number: int) -> str:
    """The name of a user, or the number if there is no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _examine_model(path: str, start: str) -> Iterator[Finding]:
    if os.path.isfile(path):
        yield _examine_owner(path)
        yield _examine_writing(path)
    if start and (weakness := find_weakness(path)):
        remedy = "such a server keeps its models in a folder of its own: docs/users.md"
        yield _note("server", f"{weakness}: no server with a model for each user opens it", remedy)
    try:
        yield from _examine_contents(path)
    except errors.NbspamError as error:
        is_missing = isinstance(error, errors.NoModelError)
        if is_missing and start:
            yield Finding("file", f"none yet: {start} judges, and learn begins with an overlay of it")
        else:
            yield _wrong("file", error.why, error.remedy, type(error))
        if is_missing:
            yield from _examine_missing(path, start)


def _examine_missing(path: str, start: str) -> Iterator[Finding]:
    folder = find_nearest_folder(path)
    if not (os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)):
        why = f"a model cannot be made here: {_own_name()} cannot write to {folder}"
        yield _wrong("writing", why, "choose another place: `model=PATH`", errors.CannotCreateError)
    if start:
        try:
            yield from _examine_contents(start)
        except errors.NbspamError as error:
            yield _wrong("start", error.why, error.remedy, type(error))


def _examine_owner(path: str) -> Finding:
    status = os.stat(path)
    link = f"; a link to {os.path.realpath(path)}" if os.path.islink(path) else ""
    mode = stat.filemode(status.st_mode)[1:]
    text = f"{_user_name(status.st_uid)}'s, {mode}; you are {_own_name()}{link}"
    other = os.stat(_find_folder(path)).st_uid
    if other not in (status.st_uid, 0):
        name = _user_name(other)
        text += f"; it is in a folder of {name}, and a filter that runs as {name} cannot learn"
        return _note("owner", text, f"as root: chown {name} {path}")
    if status.st_mode & OTHERS_ACCESS:
        text += "; others can open it, and with it the words of your mail"
        return _note("owner", text, f"if it is not meant for them: chmod go-rw {path}")
    return Finding("owner", text)


def _examine_writing(path: str) -> Finding:
    denied = [place for place in (path, _find_folder(path)) if not os.access(place, os.W_OK)]
    if not denied:
        return Finding("writing", "you can learn into it: the file and its folder are writable")
    why = f"{_own_name()} cannot write to {' and '.join(denied)}: learn and train fail"
    is_owner = all(os.stat(place).st_uid == os.geteuid() for place in denied)
    change = "chmod u+w" if is_owner else f"as root: chown {_own_name()}"
    remedy = f"{change} {' '.join(denied)}; or keep a model of your own: `model=PATH`"
    return _wrong("writing", why, remedy, errors.InputOutputError)


def _examine_contents(path: str) -> Iterator[Finding]:
    complaints = check_model(path)
    if complaints:
        text = "not sound: " + "; ".join(complaints)
        yield _wrong("sound", text, errors.RETRAIN, errors.BadDataError)
    else:
        size = f"{os.path.getsize(path) / 1e6:.1f} MB"
        yield Finding("sound", f"yes: format {FORMAT}, {size}, all sums are right")
    with open_model(path) as model:
        text = f"{sum(model.messages):,} messages ({format_counts(model.classes, model.messages)})"
        yield Finding("counted", f"{text}; last changed {_format_time(os.path.getmtime(path))}")
        loss = load_loss(model.settings, model.classes, path)
        yield Finding("decisions", describe_loss(loss, model.classes))
        yield from _examine_amount(model)
        yield _examine_calibration(model)
        yield from _examine_fields(model)
        for name, number in count_reports(model).items():
            text = f"{number:,} messages of {name} carry another one, as Exchange's journal does"
            yield _note("reports", text, "train again on what they carry: nbspam train `attached` SOURCE")


def _examine_amount(model: Model) -> Iterator[Finding]:
    different = count_different(model)
    fewest = min(different)
    rarest = model.classes[different.index(fewest)]
    if fewest >= ENOUGH:
        yield Finding("enough", f"yes: {fewest:,} or more different messages of each class")
    else:
        text = f"with fewer than {ENOUGH}, public mail was judged wrongly one time in eighty or more"
        if not can_judge(model.settings.get("averaged") == "1", model.messages):
            text = "so no message is judged until two classes have mail"
        yield _note("enough", f"{fewest:,} of class {rarest}; {text}", LEARN_MORE)


def _examine_calibration(model: Model) -> Finding:
    settings = parse_settings(model.settings, model.path)
    if not settings.averaged:
        text = f"no: {settings.event_model} without averaged views gives probabilities far too near 0 or 1"
        return Finding("calibrated", text)
    learned = count_learned(model)
    if learned < 2 * MIN_CALIBRATION or not can_calibrate(model.messages):
        needed = f"{MIN_CALIBRATION} of each of two classes are needed"
        text = f"hardly: {learned:,} messages are your own, and {needed}"
        return _note("calibrated", text, LEARN_MORE)
    return Finding("calibrated", "yes: the weights of the views were learned from your mail")


def _examine_fields(model: Model) -> Iterator[Finding]:
    """Header fields of one class alone: its mail came on another way, which the filter may have learned."""
    if min(model.messages) < MIN_LABELLED:
        return
    one_sided = []
    for name, having in list_fields(model).items():
        shares = sorted(n / total for n, total in zip(having, model.messages, strict=True))
        if shares[-1] > MOSTLY and max(shares[:-1], default=1) < HARDLY:
            one_sided.append(name)
    if one_sided:
        more = f" and {len(one_sided) - 3} more" if len(one_sided) > 3 else ""
        text = f"in over 90 % of one class and under 2 % of the others: {', '.join(one_sided[:3])}{more}"
        text += "; the filter may have learned where mail came from, not what it is"
        yield _note("fields", text, "train on mail of all classes that came the same way")


def _examine_mail(path: str, mail: Sequence[str]) -> Finding:
    """Is this mail like the mail of training?  Only the first MOST_READ messages are read."""
    items = islice(open_unsorted(mail).items(), MOST_READ)
    with open_filter(path) as spam_filter:
        if not spam_filter.scorer.settings.damped:
            return Finding("mail", "cannot be compared: this model does not know which tokens are usual")
        block = read_corpus(items, spam_filter.classes, wanted=spam_filter.settings.wanted).block
        strange = ModelJudge(spam_filter).count_strange(block)
    text = f"{strange:,} of {len(block):,} messages are unlike the mail of training"
    if is_strange(strange, len(block)):
        return _note("mail", text, "learn 60 messages of it: nbspam label FOLDER")
    return Finding("mail", text)


def _find_others(path: str, places: Iterable[str]) -> Iterator[Finding]:
    """Models at other places: training may have gone there."""
    used = os.path.getmtime(path) if os.path.isfile(path) else inf
    others = {os.path.realpath(other): other for other in places if os.path.isfile(other)}
    others.pop(os.path.realpath(path), None)
    for other in others.values():
        status = os.stat(other)
        newer = ", later than this one: was that training meant for here?" if status.st_mtime > used else ""
        text = f"{other} ({_user_name(status.st_uid)}'s, changed {_format_time(status.st_mtime)}{newer})"
        yield _note("another", text, f"to use it: `model={other}` or NBSPAM_MODEL={other}")


def _find_calls(home: str) -> Iterator[Finding]:
    """The lines that name nbspam in files that deliver mail; what these lines do is not examined."""
    for name in DELIVERY_FILES:
        path = os.path.join(home, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file]
        except OSError:
            continue
        search = None  # the PATH that the file has set so far
        for number, line in enumerate(lines, 1):
            if assigned := re.match(r"PATH\s*=\s*[\"']?([^\"']*)", line):
                search = re.sub(r"\$HOME\b|\$\{HOME\}", home, assigned[1])
            if not re.search(r"\bnbspam\b", line) or line.startswith("#"):
                continue
            text, why = f"{path}:{number}: {line}", ""
            if search is None:
                why = "the file sets no PATH, so the PATH of the mail system decides"
            elif shutil.which("nbspam", path=search) is None:
                why = f"its PATH has no nbspam: {search}"
            if why and "/nbspam" not in line:
                remedy = "set it at the top of the file: PATH=$HOME/.local/bin:/usr/bin:/bin"
                yield _note(name[1:], f"{text} ({why})", remedy)
            else:
                yield Finding(name[1:], text)
        if name == PROCMAILRC and any("nbspam" in line and not line.startswith("#") for line in lines):
            yield _examine_places(path, lines, home)


def _examine_places(path: str, lines: Sequence[str], home: str) -> Finding:
    """Where procmail puts mail: what a file says of it, and procmailrc(5) of what the file does not say."""
    spool, own_maildir = f"/var/mail/{_own_name()}", os.path.join(home, "Maildir")
    variables = {"HOME": home, "LOGNAME": _own_name(), "MAILDIR": home, "DEFAULT": spool, "ORGMAIL": spool}
    said = set()
    for line in lines:
        if assigned := re.match(r"(\w+)\s*=\s*[\"']?([^\"'#]*)", line):
            value = re.sub(r"\$(?:(\w+)|\{(\w+)\})", lambda m: variables.get(m[1] or m[2], ""), assigned[2])
            variables[assigned[1]] = value.strip()
            said.add(assigned[1])
    folder, last = variables["MAILDIR"], os.path.join(home, variables["ORGMAIL"])
    inbox = os.path.join(folder, variables["DEFAULT"])
    text = f"{path}: a recipe's folder is below {folder}, all other mail goes to {inbox}"
    text += f", or to {last} if that fails" * (last != inbox)
    if not os.path.isdir(folder):
        text += f"; there is no {folder}, and without it procmail delivers into the folder where it starts"
        return _note("delivery", text, f"make it: mkdir -p {folder}")
    for name, value in (("MAILDIR", "$HOME/Maildir"), ("DEFAULT", "$MAILDIR/")):
        if name not in said and (os.path.isdir(own_maildir) or "MAILDIR" in said):
            remedy = f"if your mail program reads {own_maildir}: {name}={value} at the top"
            return _note("delivery", f"{text}; {name} is not set", remedy)
    if os.path.isdir(inbox) and not inbox.endswith("/"):
        text += "; without / at its end this folder gets files that are no messages of a Maildir"
        return _note("delivery", text, f"end it with /: DEFAULT={inbox}/")
    return Finding("delivery", text)


def _own_name() -> str:
    return _user_name(os.geteuid())


def _find_folder(path: str) -> str:
    return os.path.dirname(os.path.realpath(path))


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
