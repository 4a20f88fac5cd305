"""What requests ask of a model: judge a message, learn it, forget it.

Hides how a model that others change, replace, damage or take away is met: each message is judged by the
model as it is then, and whatever is wrong with it is a passing trouble to the client.  Of users' models the
latest ones asked for stay open.  A ServedModels belongs to one thread, as the connections to its models do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nbspam.errors import NbspamError, TryAgainError, UsageError
from nbspam.filter import CLUES, Filter, Verdict, open_filter
from nbspam.labels import SPAM, checked_name
from nbspam.model.explain import clues as clues_of
from nbspam.serve.answer import Score, answer, header_as_spamc, message_id, report, symbols, told
from nbspam.serve.request import Request
from nbspam.serve.users import Models
from nbspam.store.learn import FORGOTTEN, LEARNED, MOVED, check_class, learn, unlearn
from nbspam.tasks.autolearn import check_autolearn, lesson
from nbspam.tasks.passthrough import marked, piped_message
from nbspam.tasks.start import copy_shared

MAX_OPEN = 16  # models, of 3 MB each by then; to open one takes a millisecond or two


class Unavailable(NbspamError):
    """What this server does not do (EX_UNAVAILABLE)."""

    status = 69


class Answered(NamedTuple):
    """The bytes for the client, and what a log says of the request.

    later : what is left to do when the client has its answer, or None
    """

    data: bytes
    outcome: str
    later: Callable[[], Answered] | None = None


class ServedModels:
    """Models and how their verdicts are given.

    loss      : as `--loss` spells it; None for the loss in the model, or 0-1
    spam_flag : whether PROCESS and HEADERS insert X-Spam-Flag and X-Spam-Status, too
    autolearn : whether it learns its own verdicts
    """

    def __init__(
        self,
        models: Models,
        loss: str | None = None,
        spam_flag: bool = False,
        allow_tell: bool = False,
        autolearn: bool = False,
    ) -> None:
        self._models = models
        self._loss = loss
        self._spam_flag = spam_flag
        self._allow_tell = allow_tell
        self._autolearn = autolearn
        self._open: dict[str, Filter] = {}  # by path, the latest one asked for at the end

    def check(self) -> None:
        """Raises what is wrong with the model, or with the one that users' models begin with."""
        classifier = self._current(self._models.judging(""))
        if self._autolearn:
            check_autolearn(classifier)
        self.forget()

    def forget(self) -> None:
        """Closes all models; the next message opens its own anew."""
        for classifier in self._open.values():
            classifier.model.close()
        self._open.clear()

    def _current(self, path: str) -> Filter:
        old = self._open.get(path)
        classifier = old.current() if old else open_filter(path, loss=self._loss)
        self._open.pop(path, None)
        self._open[path] = classifier
        while len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))
        classes = classifier.model.classes
        if SPAM not in classes:
            raise UsageError(
                path,
                f"its classes are {', '.join(classes)}, and clients ask whether a mail is spam",
                "serve a model that has the class spam",
                "serve-classes",
            )
        return classifier

    def _close(self, path: str) -> None:
        classifier = self._open.pop(path, None)
        if classifier:
            classifier.model.close()

    def judged(self, request: Request) -> Answered:
        """The answer to a request that wants a verdict; TryAgainError where the model gives none."""
        path = self._models.judging(request.user)
        try:
            classifier = self._current(path)
            message = piped_message(request.message)
            counted = classifier.count(message, f"id={message_id(message)}")
            verdict = classifier.judge_now(counted, "-")
            score = Score(verdict, classifier.loss)
            content = self._content(request, classifier, verdict, score)
        except NbspamError as error:
            self._close(path)
            raise _passing(error) from error
        except Exception:
            self._close(path)
            raise
        learned = self._lesson(request, classifier, verdict, message) if self._autolearn else None
        later = (lambda: Answered(b"", learned())) if learned else None
        return Answered(answer(request, score, content), f"{verdict.label} {score}", later)

    def _lesson(
        self, request: Request, classifier: Filter, verdict: Verdict, message: bytes
    ) -> Callable[[], str] | None:
        """What teaches the user's model its own verdict; who can have none teaches nobody's."""
        path = self._models.learning(request.user)
        return lesson(classifier, verdict, message, path) if path else None

    def _content(self, request: Request, classifier: Filter, verdict: Verdict, score: Score) -> bytes:
        """What comes behind the header of the answer."""
        if request.command in ("PROCESS", "HEADERS"):
            whole = request.command == "PROCESS"
            data = request.message if whole else header_as_spamc(request.message)
            return marked(data, verdict, verdict.clues, self._spam_flag)
        if request.command == "SYMBOLS":
            return symbols(verdict.clues)
        if request.command == "REPORT" or (request.command == "REPORT_IFSPAM" and score.is_spam):
            clues = clues_of(classifier, verdict, CLUES)
            return report(verdict, score, classifier.model.classes, clues)
        return b""

    def tell(self, request: Request) -> Answered:
        """Learns or forgets a message, and answers what that changed; remote databases there are none."""
        if not self._allow_tell:
            why = "TELL commands are not enabled, set the --allow-tell switch."
            raise Unavailable("TELL", why, "", "tell-disabled")
        label = checked_name(request.message_class, "Message-class") if request.set_local else ""
        try:
            result = self._change(request, label)
        except UsageError:  # no such class
            raise
        except NbspamError as error:
            raise _passing(error) from error
        return Answered(told(result in (LEARNED, MOVED), result == FORGOTTEN), f"{label} {result}".strip())

    def _change(self, request: Request, label: str) -> str:
        message = piped_message(request.message)
        if not (request.set_local or request.remove_local):
            return "nothing asked"
        path = self._models.learning(request.user)
        if not path:
            raise UsageError("User", f"{request.user or 'nobody'} can have no model", "", "serve-user")
        check_class(self._models.judging(request.user), label)
        copy_shared(path, self._models.start)
        return learn(path, label, message) if request.set_local else unlearn(path, message)


def _passing(error: NbspamError) -> TryAgainError:
    """The same trouble, to a client that should ask again."""
    return TryAgainError(error.where, error.why, error.remedy, error.slug)
