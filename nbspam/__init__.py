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
    from nbspam.decision import Unread, Verdict
    from nbspam.errors import NbspamError
    from nbspam.explain import Clue, Explanation
    from nbspam.filter import Filter
    from nbspam.mail import Message
    from nbspam.tasks.api import Report, evaluate, load, parse, tokenize, train
    from nbspam.tokens.bag import Tokens

__version__ = "0.2.0"
__all__ = [
    "Clue",
    "Explanation",
    "Filter",
    "Message",
    "NbspamError",
    "Report",
    "Tokens",
    "Unread",
    "Verdict",
    "evaluate",
    "load",
    "parse",
    "tokenize",
    "train",
]
_ROOMS = {
    "nbspam.errors": ("NbspamError",),
    "nbspam.decision": ("Unread", "Verdict"),
    "nbspam.filter": ("Filter",),
    "nbspam.mail": ("Message",),
    "nbspam.explain": ("Clue", "Explanation"),
    "nbspam.tasks.api": ("Report", "evaluate", "load", "parse", "tokenize", "train"),
    "nbspam.tokens.bag": ("Tokens",),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(room), name)
    raise AttributeError(f"module 'nbspam' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
