"""The table of docs/numeric-features.md, from the code: python -m experiments.feature_table."""

from __future__ import annotations

from pathlib import Path

from nbspam.tokens.numeric import FEATURES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "numeric-features.md"
BEGIN, END = "<!-- features-table -->", "<!-- /features-table -->"


def table() -> str:
    """The rows in the order in which values stand in a message's list."""
    rows = [f"| {n} | `{f[0]}` | {f[1]} | {f[2]} | {f[3]} |" for n, f in enumerate(FEATURES, start=1)]
    return "\n".join(["| | feature | unit | what is measured | missing |", "|---|---|---|---|---|", *rows])


def with_table(page: str, rows: str) -> str:
    """The page with its table replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
