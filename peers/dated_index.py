"""An index of labelled mail in the order of dates that stand in file names.

    python -m peers.dated_index SOURCE INDEX

For Enron-Spam, whose names read `enron1-0006.2003-12-18.GP.spam.txt`.  Messages of one day are put in an
order that tells nothing: that of a hash of their names.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys

from nbspam.corpus.labelled import open_labelled

_DATE = re.compile(r"(?:^|\D)((?:19|20)\d\d-[01]\d-[0-3]\d)(?:\D|$)")


def sort_key(path: str) -> tuple[str, str]:
    """Date, then the hash of the name."""
    name = os.path.basename(path)
    found = _DATE.search(name)
    if found is None:
        raise SystemExit(f"{path}: there is no date in its name")
    return found[1], hashlib.sha256(os.fsencode(name)).hexdigest()


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m peers.dated_index SOURCE INDEX")
    source, index = open_labelled([sys.argv[1]]), sys.argv[2]
    items = sorted(source.items(), key=lambda item: sort_key(item.path))
    with open(index, "w", encoding="utf-8", errors="surrogateescape") as lines:
        lines.writelines(f"{item.label} {os.path.abspath(item.path)}\n" for item in items)


if __name__ == "__main__":
    main()
