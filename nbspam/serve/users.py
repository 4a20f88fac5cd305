"""The filters of the users: each request is answered by the model of its user, as the model is then.

Other programs may change, replace, damage or remove a model at any time.  Whatever is wrong with it is a
temporary failure for the client.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

from nbspam.decision import CLUES, Verdict
from nbspam.errors import NbspamError, TryAgainError, UsageError
from nbspam.explain import list_clues
from nbspam.filter import Filter, open_filter
from nbspam.labels import SPAM, parse_class_name
from nbspam.learning.autolearn import check_autolearn, choose_lesson
from nbspam.learning.learn import FORGOTTEN, LEARNED, MOVED, check_classes, learn_messages
from nbspam.passthrough import compute_spamassassin_score, mark_message, unwrap_message
from nbspam.serve import codec
from nbspam.serve.codec import ClientError, Request
from nbspam.store.connection import BESIDE, file_identity
from nbspam.store.reader import Bases
from nbspam.store.updater import Origin
from nbspam.tasks.start import begin_model, choose_model

USER = "%u"  # in the path of a model: the name of the user
MAX_OPEN = 16  # models, of about 3 MB each; to open one takes a millisecond or two
EX_UNAVAILABLE = 69
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+=-]{0,127}")  # a mail address, too


class Reply(NamedTuple):
    """An answer.

    data   : the bytes for the client
    line   : of the log, with the names of the fields that it shows
    lesson : learns the verdict; call it when the client has its answer
    """

    data: bytes
    line: str
    fields: Mapping[str, Any]
    lesson: Callable[[], bool] | None = None


@dataclass
class UserFilters:
    """The filters that are open; they belong to one thread.

    path       : of the model, with USER in it if each user has one
    start      : the model that judges for users without one, and that theirs begin with; or empty
    loss       : as for nbspam.filter.open_filter
    also       : the format of further header fields, see nbspam.passthrough.mark_message
    allow_tell : let clients change the model
    autolearn  : learn the verdicts
    """

    path: str
    start: str = ""
    _: KW_ONLY
    loss: str | None = None
    also: str = ""
    allow_tell: bool = False
    autolearn: bool = False
    _open: dict[str, Filter] = field(default_factory=dict, init=False)  # by path, the latest last
    _bases: Bases | None = field(default=None, init=False)
    _real_path: str = field(default="", init=False)  # of the files of `path`, if no user has made a link

    def __post_init__(self) -> None:
        if USER in self.path and not self.start:
            why = "each user has a model, but at first it does not exist"
            remedy = "name the model that judges until then: `start=MODEL`"
            raise UsageError(self.path, why, remedy, "serve-start")
        if USER in self.path:
            top = os.path.dirname(self.path.partition(USER)[0])  # the administrator's; links in it are his
            self._real_path = os.path.join(os.path.realpath(top), os.path.relpath(self.path, top or "."))
            self._bases = Bases(os.path.dirname(os.path.realpath(self.start)))

    def check(self) -> str:
        """Raise what is wrong with the model, or with the one that users begin with; its costs in words."""
        spam_filter = self._open_filter(self._choose_path(""))
        if self.autolearn:
            check_autolearn(spam_filter.settings)
        self.close()
        return spam_filter.costs

    def close(self) -> None:
        """Close all models; the next request opens its own again."""
        for path in list(self._open):
            self._close(path)
        if self._bases:
            self._bases.close()

    def close_oldest(self) -> None:
        """Close what has not been used for long, after an answer: no client waits for that."""
        while len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))

    def _close(self, path: str) -> None:
        spam_filter = self._open.pop(path, None)
        if spam_filter:
            spam_filter.close()

    def _choose_path(self, user: str) -> str:
        own = self.find_own_path(user)
        return choose_model(own, self.start) if own else self.start

    def find_own_path(self, user: str) -> str:
        """The model that learns from a user; empty if the name cannot be a file name.

        Clients choose the name, and users what lies in their folders.  It must not lead to another folder, to
        the model that all begin with, or to a file that SQLite takes for the journal of another user's model,
        also not by a link.
        """
        if USER not in self.path:
            return self.path
        path = self.path.replace(USER, user)
        if not _NAME.fullmatch(user) or path.endswith(BESIDE):
            return ""
        if os.path.realpath(path) != self._real_path.replace(USER, user):
            return ""
        is_shared = file_identity(path) == file_identity(self.start) is not None
        return "" if is_shared else path

    def _open_filter(self, path: str) -> Filter:
        """The filter of the model that is at the path now."""
        find_base = self._bases.find if self._bases else None
        current = open_filter(path, None, self.loss, self._open.pop(path, None), find_base)
        self._open[path] = current
        if SPAM not in current.classes:
            why = f"its classes are {', '.join(current.classes)}, but clients ask whether a message is spam"
            raise UsageError(path, why, "serve a model that has the class spam", "serve-classes")
        return current

    def judge(self, request: Request) -> Reply:
        """The reply to a request for a verdict; TryAgainError if the model gives none."""
        path = self._choose_path(request.user)
        try:
            spam_filter = self._open_filter(path)
            message = unwrap_message(request.message)
            verdict = spam_filter.classify(message, f"id={codec.find_message_id(message)}")
            data = codec.write_answer(request, verdict, self._write_content(request, spam_filter, verdict))
            own = self.find_own_path(request.user) if self.autolearn else ""
            learns = None
            if own and not verdict.is_prior_alone:
                learns = choose_lesson(verdict.probabilities, message, own, path, _name_source(request))
        except Exception as error:
            self._close(path)
            if isinstance(error, NbspamError):
                raise _make_temporary(error) from error
            raise
        score, threshold = compute_spamassassin_score(verdict)
        fields = {"verdict": verdict.label, "score": score, "threshold": threshold}
        return Reply(data, "%(verdict)s %(score).3f / %(threshold).3f", fields, learns)

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
                clues = list_clues(spam_filter.scorer, verdict, CLUES)
                return codec.write_report(verdict, spam_filter.classes, clues)
        return b""

    def tell(self, request: Request) -> Reply:
        """Learn or forget a message.  Run it in a process of its own: it may wait for other writers."""
        if not self.allow_tell:
            why = "TELL commands are not enabled, set the --allow-tell switch."  # the words of spamd
            raise ClientError(why, EX_UNAVAILABLE)
        if not (request.learn_as or request.forget):
            return Reply(codec.write_tell_answer(False, False), "%(result)s", {"result": "nothing asked"})
        label = parse_class_name(request.learn_as, "Message-class") if request.learn_as else None
        try:
            result = self._learn(request, label)
        except UsageError:  # no such class, or no such user
            raise
        except NbspamError as error:
            raise _make_temporary(error) from error
        did_set = result in (LEARNED, MOVED)
        fields = {"class": label, "result": result}
        line = "%(class)s %(result)s" if label else "%(result)s"
        return Reply(codec.write_tell_answer(did_set, result == FORGOTTEN), line, fields)

    def _learn(self, request: Request, label: str | None) -> str:
        """Learn the message as this class, or unlearn it; the result."""
        path = self.find_own_path(request.user)
        if not path:
            raise UsageError("User", f"{request.user or 'nobody'} can have no model", "", "serve-user")
        check_classes(self._choose_path(request.user), label)
        begin_model(path, self.start)
        messages = [("", unwrap_message(request.message))]
        return learn_messages(path, label, messages, Origin(_name_source(request)))[0]


def _name_source(request: Request) -> str:
    """Where a message comes from, for the ledger."""
    return " ".join(["serve", *request.user.split()])  # a tab would begin a folder


def _make_temporary(error: NbspamError) -> TryAgainError:
    """The same failure, for a client that should ask again."""
    return TryAgainError(error.where, error.why, error.remedy, error.slug)
