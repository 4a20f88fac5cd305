"""What a model file says twice: totals and histograms, which follow from the token rows.

Hides the queries that sum the rows.  One definition serves twice: after rows were changed in bulk it
writes the sums anew, and `model check` compares them with what is stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from nbspam.tokens.bag import N_VIEWS, NO_TEXTBOOK_VIEWS, VIEW_NAMES


def prior_columns(connection: sqlite3.Connection) -> list[str]:
    """The names of the columns that hold the counts of a prior model; none in most models."""
    names = [row[1] for row in connection.execute("PRAGMA table_info(token)")]
    return [name for name in names if name.startswith("prior_")]


def number_of_classes(connection: sqlite3.Connection) -> int:
    """K."""
    return int(connection.execute("SELECT count(*) FROM class").fetchone()[0])


def view_rows(connection: sqlite3.Connection) -> list[tuple[int, str, int]]:
    """The rows that belong into `view`."""
    words = dict(connection.execute("SELECT view, count(*) FROM token GROUP BY view"))
    return [(number, name, words.get(number, 0)) for number, name in enumerate(VIEW_NAMES)]


def total_rows(connection: sqlite3.Connection, prefix: str = "") -> Iterator[tuple[int, int, int, int]]:
    """The rows that belong into `view_total`, or with the prefix `prior_` into `prior_total`."""
    for k in range(number_of_classes(connection)):
        query = (
            f"SELECT view, sum({prefix}documents_{k}), sum({prefix}occurrences_{k}) FROM token GROUP BY view"
        )
        found = {view: (documents, occurrences) for view, documents, occurrences in connection.execute(query)}
        for view in range(N_VIEWS):
            yield (view, k, *found.get(view, (0, 0)))


def histogram_rows(connection: sqlite3.Connection) -> Iterator[tuple[str, int, int, int]]:
    """The rows that belong into `histogram`."""
    n_classes = number_of_classes(connection)
    for k in range(n_classes):
        others = " + ".join(f"occurrences_{i}" for i in range(n_classes) if i != k) or "0"
        for kind, counted in (("documents", f"documents_{k}"), ("complement", others)):
            # The event models of words, for which the histograms are, know no others.
            some = f"FROM token WHERE view NOT IN {NO_TEXTBOOK_VIEWS} GROUP BY n"
            query = f"SELECT {counted} AS n, count(*) {some}"
            for count, words in connection.execute(query):
                yield kind, k, count, words


def recount(connection: sqlite3.Connection) -> None:
    """Writes the totals and histograms anew from the token rows."""
    for table in ("view", "view_total", "histogram", "prior_total"):
        connection.execute(f"DELETE FROM {table}")
    connection.executemany("INSERT INTO view VALUES (?, ?, ?)", view_rows(connection))
    connection.executemany("INSERT INTO view_total VALUES (?, ?, ?, ?)", list(total_rows(connection)))
    connection.executemany("INSERT INTO histogram VALUES (?, ?, ?, ?)", list(histogram_rows(connection)))
    if prior_columns(connection):
        rows = list(total_rows(connection, "prior_"))
        connection.executemany("INSERT INTO prior_total VALUES (?, ?, ?, ?)", rows)
