"""Where mail comes from, and many messages as numbers.

Reading order: item (one message, one file), mbox, folders, source (parts to one stream), labelled (what users
name), executor, reading (messages to blocks), corpus (a source read once), vocabulary, vectorize.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.corpus.item import Item as Item
    from nbspam.corpus.labelled import open_labelled as open_labelled
    from nbspam.corpus.source import Source as Source
    from nbspam.corpus.source import open_unlabelled as open_unlabelled

_HOMES = {"Item": "item", "Source": "source", "open_labelled": "labelled", "open_unlabelled": "source"}


def __getattr__(name: str) -> object:
    """The names above on first use: a mail with a quoted `From ` line needs only nbspam.corpus.mbox."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
