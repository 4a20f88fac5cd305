"""Where labelled bytes come from: folders, Maildirs, mboxes and index files as streams of Items.

Hides what each mail store looks like on the disk; everything above sees Items in a fixed order.
The names are fetched on first use (PEP 562), so that `nbspam classify` of one file, which needs
only nbspam.corpus.item, does not pay for the rest.

    item        one message to be read          notes      what was skipped and left out
    mbox        where messages begin and end    compressed .gz, .xz, .bz2 as chunks
    files       one file -> its messages        folders    one folder -> its files
    tree        folder names -> classes         index      lines of LABEL PATH
    source      parts -> one stream             unread     parts without what nobody has opened
    moved       where a renamed message is now  labelled, unlabelled   what the user named -> parts
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.corpus.item import Item as Item
    from nbspam.corpus.labelled import open_labelled as open_labelled
    from nbspam.corpus.source import Source as Source
    from nbspam.corpus.unlabelled import open_unlabelled as open_unlabelled

_HOMES = {"Item": "item", "Source": "source", "open_labelled": "labelled", "open_unlabelled": "unlabelled"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # light: already loaded by the interpreter's own start

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
