"""Words in text files: names of header fields, charsets and folders, elements of HTML, and the like.

A line that begins with # is a comment; `[part]` begins a part, and white space is between words.  Python
reads a file when the module is imported that needs it, which the fast path does not with the compiled core.
The core has the same files in it: core/src/tables.rs.
"""

import os


def read_table(name: str) -> dict[str, list[str]]:
    """The words of each part of a table."""
    with open(os.path.join(os.path.dirname(__file__), name + ".txt"), encoding="utf-8") as file:
        text = "".join([line for line in file if not line.startswith("#")])
    parts = [part.partition("]") for part in text.split("[")[1:]]
    return {part: words.split() for part, _, words in parts}


def read_pairs(words: list[str]) -> dict[str, str]:
    """The words `key=value` of a part as a dictionary."""
    return dict([word.split("=", 1) for word in words])
