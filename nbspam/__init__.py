"""A spam filter for mail: naive Bayes that learns from mail you have sorted.

    import nbspam
    from pathlib import Path

    spam_filter = nbspam.train("~/Maildir")            # or ham="...", spam="...", or classes={...}
    spam_filter.save("model.nbspam")
    spam_filter = nbspam.load("model.nbspam")
    verdict = spam_filter.classify(Path("message.eml"))    # or bytes, or an email.message.Message
    print(verdict.label, verdict.probability)
    verdicts = spam_filter.classify_many(Path("inbox").iterdir())
    spam_filter.explain(Path("message.eml")).clues[:10]
    spam_filter.learn(Path("message.eml"), "spam")
    report = nbspam.evaluate("~/Maildir", folds=10)
    print(report.hm_percent, report.hm_percent_interval)   # wanted mail that was called spam

help(nbspam.train), help(nbspam.Filter) and help(nbspam.Report) say more; the manual is docs/api.md.  What can
go wrong is an nbspam.NbspamError.
"""

# Names are loaded when they are used: every fresh `nbspam classify` imports this file.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.decision import Unread as Unread
    from nbspam.decision import Verdict as Verdict
    from nbspam.errors import NbspamError as NbspamError
    from nbspam.explain import Clue as Clue
    from nbspam.explain import Explanation as Explanation
    from nbspam.filter import Filter as Filter
    from nbspam.mail import Message as Message
    from nbspam.tasks.api import Report as Report
    from nbspam.tasks.api import evaluate as evaluate
    from nbspam.tasks.api import load as load
    from nbspam.tasks.api import parse as parse
    from nbspam.tasks.api import tokenize as tokenize
    from nbspam.tasks.api import train as train
    from nbspam.tokens.bag import Tokens as Tokens

__version__ = "0.3.0"
_ROOMS = {
    "nbspam.errors": ("NbspamError",),
    "nbspam.decision": ("Unread", "Verdict"),
    "nbspam.filter": ("Filter",),
    "nbspam.mail": ("Message",),
    "nbspam.explain": ("Clue", "Explanation"),
    "nbspam.tasks.api": ("Report", "evaluate", "load", "parse", "tokenize", "train"),
    "nbspam.tokens.bag": ("Tokens",),
}
__all__ = [name for names in _ROOMS.values() for name in names]


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(room), name)
    raise AttributeError(f"module 'nbspam' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
