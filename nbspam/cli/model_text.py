"""The facts and formulas of a model as text.

Hides the layout.  Class names, words and paths come from outside, so all goes through `plain`.
"""

from __future__ import annotations

from collections.abc import Iterable

from nbspam.cli.texts import counts_text, plain
from nbspam.tasks.inspect_model import Info


def info_text(info: Info) -> str:
    """The facts of a model in some lines."""
    settings = info["settings"]
    messages = counts_text(*_columns(info["messages"]))
    views = ", ".join(f"{view['words']:,} {name}" for name, view in info["views"].items() if view["words"])
    known = "learned here" if settings.get("imported") else "different"
    averaged = settings["averaged"] == "1"
    rows = [
        ("model", f"{info['path']}  ({info['size_bytes'] / 1e6:.1f} MB, format {info['format']})"),
        (
            "messages",
            f"{sum(info['messages'].values()):,}: {messages}; {info['different_messages']:,} {known}",
        ),
        *_autolearned(info["autolearned"]),
        ("tokens", f"{views or 'none'}; vocabulary {info['vocabulary']}"),
        (
            "event model",
            settings["event_model"] + (", views averaged and calibrated" if averaged else ", one sum"),
        ),
        ("features", settings["features"]),
        ("lambda", settings["alpha"]),
        ("prior", settings["prior"]),
    ]
    if info["cutoffs"]:
        above = info["cutoffs"]["spam_above"]
        rows.append(("spam", "never" if above is None else f"log-odds > {above:g}"))
    if settings.get("prior_weight"):
        rows.append(("prior model", f"counts as {settings['prior_weight']} messages"))
    if settings.get("imported"):
        rows.append(("imported", f"from {settings['imported']}, whose messages are not known one by one"))
    floored = [one["name"] for one in info["features"] if one["variance_floor"]]
    if floored:
        rows.append(("variance floor", f"needed by {len(floored)} features: {', '.join(floored)}"))
    return _aligned(rows)


def _autolearned(counts: dict[str, int]) -> list[tuple[str, str]]:
    if not any(counts.values()):
        return []
    total = sum(counts.values())
    return [("autolearned", f"{total:,} of them, on the filter's own word: {counts_text(*_columns(counts))}")]


def _columns(counts: dict[str, int]) -> tuple[list[str], list[int]]:
    return list(counts), list(counts.values())


def formulas_text(info: Info) -> str:
    """The formulas section by section."""
    blocks = [section["title"] + "\n" + _aligned(section["lines"], "  ") for section in info["formulas"]]
    word = info["word"]
    if word:
        shares = ", ".join(
            f"{name} {low:.3f} to {high:.3f}" for name, (low, high) in word["share_interval"].items()
        )
        held = sum(word["documents"].values())
        blocks[-1] += f"  of the {held:,} messages with it, the share of each class (95 %): {shares}\n"
    return "\n".join(blocks)


def _aligned(rows: Iterable[Iterable[str]], indent: str = "") -> str:
    pairs = [tuple(map(plain, row)) for row in rows]
    width = max(len(name) for name, _ in pairs)
    return "".join(f"{indent}{name:<{width}}  {value}\n" for name, value in pairs)
