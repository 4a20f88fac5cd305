#!/usr/bin/env python3
"""Turn the text of a model of nbspam 0.2.0 (form 4) into the text that nbspam 0.3.0 loads (form 5).

    nbspam model dump -m old.nbspam > old.text         with 0.2.0
    python3 text4to5.py < old.text > new.text
    nbspam model load new.text -m new.nbspam           with 0.3.0

With the text of a base (form 4) as argument: what a user has learned in addition to it.  docs/users.md says
how that becomes an overlay again.
"""

import json
import re
import sys

MEANINGS = {r"\\": "\\", r"\t": "\t", r"\n": "\n", r"\r": "\r"}
TEXTS = {"name", "value", "text", "feature", "kind", "edges"}
COVARIANCE = "calibration_covariance"


def read_tables(lines):
    """Table -> its columns and rows, of a text of form 4."""
    first, *lines = [line.rstrip("\n").split("\t") for line in lines] or [[]]
    n_rows = sum(not name.startswith("#") for name, *_ in lines)
    if first != ["#nbspam-model", "4"] or lines[-1:] != [["#end", str(n_rows)]]:
        sys.exit("text4to5.py: this is not the whole text of a model of nbspam 0.2.0")
    tables = {}
    for name, *fields in lines[:-1]:
        if name.startswith("#"):
            tables[name[1:]] = fields, []
        else:
            columns, rows = tables[name]
            rows.append([parse(name, *pair) for pair in zip(columns, fields, strict=True)])
    for ended in ("prior_class", "autolearned"):  # the messages of the latter count as labelled
        tables.pop(ended, None)
    return tables


def parse(table, column, field):
    """The value of a field."""
    if field == r"\N":
        return None
    if column == "weight" or (table, column) == (COVARIANCE, "value"):
        return float(field)
    return re.sub(r"\\.", lambda escape: MEANINGS[escape[0]], field) if column in TEXTS else int(field)


def convert(tables, base):
    """Let the tables be those of form 5, without the counts of a base."""
    settings = tables["setting"][1]
    settings[:] = [["pruned", "1"] if name == "imported" else [name, value] for name, value in settings]
    lines = {}
    for line, _, value in tables[COVARIANCE][1]:  # cell by cell
        lines.setdefault(line, []).append(value)
    del tables[COVARIANCE]
    columns, rows = tables["calibration"]
    columns.append("covariance")
    for row in rows:
        row.append(" ".join(map(repr, lines.get(row[0], []))))
    tables["sender"] = ["who", "decision", "verified", "since"], []
    for table in ("class", "token", "learned") if base else ():  # two columns, and then counts
        rows, counted = tables[table][1], {tuple(row[:2]): row[2:] for row in base[table][1]}
        for row in rows:
            before = counted.get(tuple(row[:2]), [0] * len(row[2:]))
            row[2:] = [max(0, count - other) for count, other in zip(row[2:], before, strict=True)]
        rows[:] = [row for row in rows if table == "class" or any(row[2:])]


def main():
    base = None
    if sys.argv[1:]:
        with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
            base = read_tables(file)
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    tables = read_tables(sys.stdin)
    convert(tables, base)
    lines = [["#nbspam-model", 5]]
    for table, (columns, rows) in tables.items():
        lines += [["#" + table, *columns], *([table, *row] for row in rows)]
    lines.append(["#end", sum(len(rows) for _, rows in tables.values())])
    for line in lines:
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


main()
