"""The filters of the users: each request is answered by the model of its user, as the model is then.

Other programs may change, replace, damage or remove a model at any time.  With a model for each user, a model
is opened only where no other user can do so (nbspam.places).
"""

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nbspam.decision import Verdict
from nbspam.errors import TryAgainError, UsageError
from nbspam.filter import Filter, begin_model, choose_model, open_filter
from nbspam.labels import SPAM, parse_class_name
from nbspam.learning.autolearn import check_autolearn, choose_lesson
from nbspam.learning.learn import FORGOTTEN, LEARNED, MOVED, check_classes, learn_messages
from nbspam.passthrough import compute_spamassassin_score, mark_message, unwrap_message
from nbspam.places import find_weakness
from nbspam.serve import codec
from nbspam.serve.codec import ClientError, Request
from nbspam.store.connection import BESIDE, file_identity
from nbspam.store.reader import Bases
from nbspam.store.updater import Origin

USER = "%u"  # in the path of a model: the name of the user
MAX_OPEN = 16  # models, of about 3 MB each; to open one takes a millisecond or two
EX_UNAVAILABLE = 69
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+=-]{0,127}")  # a mail address, too


class TooSlow(BaseException):
    """A message takes long to judge.  It is no Exception: the stages of the reader pass over those."""


class Reply(NamedTuple):
    """An answer.

    data   : the bytes for the client
    fields : of the line in the log
    lesson : learns the verdict; call it when the client has its answer
    """

    data: bytes
    fields: Mapping[str, Any]
    lesson: Callable[[], bool] | None = None


@dataclass
class UserFilters:
    """The filters that are open; they belong to one process.

    path       : of the model, with USER in it if each user has one
    start      : the model that judges for users without one, and that theirs begin with; or empty
    loss       : as for nbspam.filter.open_filter
    also       : the format of further header fields, see nbspam.passthrough.mark_message
    allow_tell : let clients change the model
    autolearn  : learn the verdicts
    """

    path: str
    start: str = ""
    loss: str | None = None
    also: str = ""
    allow_tell: bool = False
    autolearn: bool = False
    has_users: bool = field(default=False, init=False)
    _open: dict[str, Filter] = field(default_factory=dict, init=False)  # by path, the latest last

    def __post_init__(self) -> None:
        self.has_users = USER in self.path
        if self.has_users and not self.start:
            why = "each user has a model, but at first it does not exist"
            remedy = "name the model that judges until then: `start=MODEL`"
            raise UsageError(self.path, why, remedy, "serve-start")
        self._bases = Bases(os.path.dirname(os.path.realpath(self.start))) if self.has_users else None

    def check(self) -> Filter:
        """Raise what is wrong with the model, or with the one that users begin with; the open filter."""
        spam_filter = self._open_filter(self.start if self.has_users else choose_model(self.path, self.start))
        if self.autolearn:
            check_autolearn(spam_filter.settings)
        return spam_filter

    def close(self) -> None:
        """Close all models; the next request opens its own again."""
        while self._open:
            self._open.popitem()[1].close()
        if self._bases:
            self._bases.close()

    def find_own_path(self, user: str) -> str:
        """The model that learns from a user; empty if the name cannot be a file name.

        Clients choose the name.  It must not lead to another folder, to the model that all begin with, or to
        a file that SQLite takes for the journal of another user's model.
        Raises TryAgainError where others could change the model.
        """
        if not self.has_users:
            return self.path
        path = self.path.replace(USER, user)
        if not _NAME.fullmatch(user) or path.endswith(BESIDE):
            return ""
        check_place(path)
        return "" if file_identity(path) == file_identity(self.start) is not None else path

    def _open_filter(self, path: str) -> Filter:
        """The filter of the model that is at the path now."""
        before, find_base = self._open.pop(path, None), self._bases.find if self._bases else None
        spam_filter = open_filter(path, None, self.loss, before, find_base, busy_seconds=0.0)
        self._open[path] = spam_filter
        if self.has_users and spam_filter is not before:  # also a model that was exchanged meanwhile
            check_place(path, is_shared=path == self.start)
        while len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        if SPAM not in spam_filter.classes:
            names = ", ".join(spam_filter.classes)
            why = f"its classes are {names}, but clients ask whether a message is spam"
            raise UsageError(path, why, "serve a model that has the class spam", "serve-classes")
        return spam_filter

    def judge(self, request: Request, cpu_seconds: float = 0.0) -> Reply:
        """The reply to a request for a verdict; raises what is wrong with the model.

        cpu_seconds : TooSlow if judging the message takes longer; 0 for no bound
        """
        own = self.find_own_path(request.user)
        path = choose_model(own, self.start) if own else self.start
        try:
            spam_filter, message = self._open_filter(path), unwrap_message(request.message)
            with bound_cpu(cpu_seconds):
                verdict = spam_filter.classify(message, f"id={codec.find_message_id(message)}")
            data = codec.write_answer(request, verdict, self._write_content(request, spam_filter, verdict))
        except BaseException:  # TooSlow, too
            if path in self._open:
                self._open.pop(path).close()
            raise
        lesson = None
        if self.autolearn and own and verdict.may_teach:
            lesson = choose_lesson(verdict.probabilities, message, own, path, _name_source(request))
        score, threshold = compute_spamassassin_score(verdict)
        return Reply(data, {"verdict": verdict.label, "score": score, "threshold": threshold}, lesson)

    def _write_content(self, request: Request, spam_filter: Filter, verdict: Verdict) -> bytes:
        """What follows the header of the answer."""
        match request.command:
            case "PROCESS":
                return mark_message(request.message, verdict, self.also)
            case "HEADERS":
                return mark_message(codec.cut_header(request.message), verdict, self.also)
            case "SYMBOLS":
                return codec.write_symbols(verdict.clues)
            case "REPORT" | "REPORT_IFSPAM" if verdict.label == SPAM or request.command == "REPORT":
                return codec.write_report(verdict, spam_filter.classes[verdict.number])
        return b""

    def tell(self, request: Request) -> Reply:
        """Learn or forget a message.  Run it in a process of its own: it may wait for other writers."""
        own = self.find_own_path(request.user)
        if not self.allow_tell:
            why = "TELL commands are not enabled, set the --allow-tell switch."  # the words of spamd
            raise ClientError(why, EX_UNAVAILABLE)
        if not (request.learn_as or request.forget):
            return Reply(codec.write_tell_answer(False, False), {"result": "nothing asked"})
        if not request.message:
            raise ClientError("an empty message", os.EX_DATAERR)
        if not own:
            raise UsageError("User", f"{request.user or 'nobody'} can have no model", "", "serve-user")
        label = parse_class_name(request.learn_as, "Message-class") if request.learn_as else None
        check_classes(choose_model(own, self.start), label)
        begin_model(own, self.start)
        messages = [("", unwrap_message(request.message))]
        result = learn_messages(own, label, messages, Origin(_name_source(request)))[0]
        answer = codec.write_tell_answer(result in (LEARNED, MOVED), result == FORGOTTEN)
        return Reply(answer, {"class": label or "-", "result": result})


def check_place(path: str, is_shared: bool = False) -> None:
    """TryAgainError if others than root and this user can change a model; is_shared as for find_weakness."""
    if weakness := find_weakness(path, is_shared):
        remedy = "keep the models of users where nobody else can write: docs/users.md"
        raise TryAgainError(path, f"is not opened, because {weakness}", remedy, "weak-place")


@contextlib.contextmanager
def bound_cpu(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the main thread after so many seconds of CPU, and again if that is lost; 0: never."""

    def stop(*_: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _name_source(request: Request) -> str:
    """Where a message comes from, for the ledger."""
    return " ".join(["serve", *request.user.split()])  # a tab would begin a folder
