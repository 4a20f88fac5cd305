"""A verdict in words: how sure, and the strongest reasons.

A token tells by its beginning what it is of (docs/tokens.md).  Here is what people call that.
"""

import os
from collections.abc import Sequence
from functools import cache

from nbspam.cli import plain
from nbspam.decision import UNDECIDED
from nbspam.explain import Clue, Explanation, SameText
from nbspam.labels import ALLOWED, amount

MAX_REASONS = (2, 1)  # of the largest sum, and of the next
MAX_NAMED = 3  # things of one reason, such as words
MAX_CLUES = 30  # that reasons come from; later ones say little
MAX_THING = 40  # characters of a thing
MOST_PERCENT = 99.99  # nothing is certain
MOST_TEXT = 0.5  # of a signature: less is not called the same text
AUTHENTICATION = ("authentication-results", "received-spf")
FAILED = ("fail", "softfail", "permerror", "invalid")


@cache
def _read_phrases() -> dict[str, list[str]]:
    """By the kind of a token what people call a thing of it, and several things if that is something else."""
    with open(os.path.join(os.path.dirname(__file__), "phrases.txt"), encoding="utf-8") as file:
        lines = [line.partition(":") for line in file if line[0] not in "#\n"]
    return {kind: text.strip().split(" / ") for kind, _, text in lines}


def describe_verdict(explanation: Explanation) -> str:
    """`spam, 99 %: above all the header (the failed authentication), then the body (the words a and b)`."""
    verdict = explanation.verdict
    if verdict.sender:
        verb = "allow" if verdict.sender == ALLOWED else "deny"
        why = f"{verdict.label}, because you {verb} {plain(verdict.sender_name)}"
        if verdict.shares is None:
            return why
        share = max(verdict.shares)
        return f"{why}; the words say {verdict.classes[verdict.shares.index(share)]}, {percent(share)}"
    if verdict.shares is None:
        return verdict.label
    name = verdict.classes[verdict.number]
    reasons, others = describe_side(explanation, 1), describe_side(explanation, -1)
    if verdict.decided == UNDECIDED:
        sides = [f"for it {reasons}"] * bool(reasons) + [f"against it {others}"] * bool(others)
        how_sure = f"{verdict.label}, {name} {percent(verdict.shares[verdict.number])}"
        return f"{how_sure}: {'; '.join(sides)}" if sides else how_sure
    strongest = reasons if verdict.decided == verdict.number else others
    how_sure = f"{verdict.label}, {percent(verdict.shares[verdict.decided])}"
    likelier = max(verdict.shares)
    if verdict.shares[verdict.decided] < likelier:  # its costs decide
        best = verdict.classes[verdict.shares.index(likelier)]
        how_sure = f"{verdict.label}, although {best} is likelier, {percent(likelier)}"
    return f"{how_sure}: above all {strongest}" if strongest else how_sure


def describe_side(explanation: Explanation, sign: int) -> str:
    """The sums that speak most for a side, the largest first, each with its strongest clues for that side.

    sign : 1 for the class of the log-odds, -1 against it
    A text that was learned comes first if it decides.
    """
    first = "same-text" if explanation.same_text and explanation.same_text.decides else ""
    sums = [part for part in explanation.sums if sign * (part.log_odds or 0.0) > 0]
    sums.sort(key=lambda part: (part.kind == first, abs(part.log_odds or 0.0)), reverse=True)
    clues = [clue for clue in explanation.clues if sign * (clue.log_odds or 0.0) > 0]
    phrases, texts = _read_phrases(), []
    for part, most in zip(sums, MAX_REASONS, strict=False):
        same = [clue for clue in clues if part.kind != "unknown" and (clue.view or "features") == part.name]
        [name] = phrases.get(f"sum {part.kind} {part.name}") or phrases.get(f"sum {part.kind}", [part.name])
        reasons = list_reasons(same, most)
        texts.append(f"{name} ({reasons})" if reasons not in ("", name) else name)
    return ", then ".join(texts)


def describe_same_text(same_text: SameText, first_day: str) -> str:
    """`The same text as 3 spam messages, first learned 2026-11-27.`"""
    how_much = "The same text as" if same_text.share > MOST_TEXT else "Parts of the text of"
    count = amount(same_text.messages, f"{plain(same_text.label)} message")
    return f"{how_much} {count}, first learned {first_day}."


def percent(share: float) -> str:
    """A probability for people; none is printed as 100 %."""
    value = min(100 * share, MOST_PERCENT)
    return f"{value:.2f} %" if value > 99 else f"{value:.0f} %"


def list_reasons(clues: Sequence[Clue], most: int) -> str:
    """At most so many reasons of some clues in words, strongest first; clues of one kind are one reason."""
    reasons: dict[str, list[str]] = {}
    for clue in clues[:MAX_CLUES]:
        kind, thing = find_reason(clue)
        if kind not in reasons and len(reasons) == most:
            continue
        things = reasons.setdefault(kind, [])
        if any(thing in other for other in things):  # a.example in login.a.example
            continue
        reasons[kind] = [other for other in things if other not in thing]
        reasons[kind].append(thing)
    return ", ".join([_phrase(kind, things[:MAX_NAMED]) for kind, things in reasons.items()])


def find_reason(clue: Clue) -> tuple[str, str]:
    """What a clue is about, from its view and the beginning of its token: a kind, and the name of a thing.

    The kind is in phrases.txt, or it is a field or mark that is not there.
    """
    token = clue.token
    if clue.kind == "feature" or clue.view == "measures":
        return "measure", _describe_measure(token)
    if clue.view == "bigrams":
        return "words", token.replace("+", " ")
    if clue.view == "header":
        field, _, value = token.partition(":")
        if field not in AUTHENTICATION:
            value = value.strip("@#")
            return field, value[:1] + value[1:].replace("+", " ")  # a time zone, or two words
        if value in FAILED or value == "pass":
            return ("passed" if value == "pass" else "failed"), ""
        return "authentication", value
    mark, _, value = token.partition("=")
    if clue.view == "raw":
        return "raw", value
    if mark == "url" and value.startswith("/"):
        return "path", value[1:]
    if value and f"{mark}=" in _read_phrases():
        return f"{mark}=", value.strip("#").replace(">", " before ")
    return ("word", token) if clue.view == "body" else (token, "")


def _describe_measure(token: str) -> str:
    """`digit_share<0.001` is `digit share below 0.001`; `unnamed_origin>=0.5`, a yes, is `unnamed origin`."""
    for mark, words in ((">=", "at least"), ("<", "below"), ("=", "")):
        name, is_marked, value = token.partition(mark)
        if is_marked:
            name = name.replace("_", " ")
            if value in ("0.5", "1") and mark != "=":
                return name if mark == ">=" else f"no {name}"
            return f"{name} {words} {value}".replace("  ", " ")
    return token


def _phrase(kind: str, things: Sequence[str]) -> str:
    """A reason in words; a kind that is not in phrases.txt is named as it is in the table of clues."""
    names = [plain(thing)[:MAX_THING] for thing in things if thing]
    phrases = _read_phrases().get(kind)
    if phrases is None:
        return f"{plain(kind)[:MAX_THING]} {', '.join(names)}".rstrip()
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return f"{phrases[-1] if len(names) > 1 else phrases[0]} {listed}".strip()
