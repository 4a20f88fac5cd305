"""What selectors ask of attributes: read_test makes it of text, agrees asks the value.

Hides where the case of letters counts: not in values that HTML itself reads without regard to it.
"""

from __future__ import annotations

from nbspam.mail.html.css import QUOTE
from nbspam.mail.html.elements import word_set

SIGNS = dict.fromkeys(map(ord, "-_"))  # that a name may have beside letters and digits
# Attributes whose values mean the same in both cases (HTML, 4.16.2).
_WITHOUT_CASE = word_set(
    "accept align alink bgcolor charset checked clear color compact dir disabled face frame hreflang "
    "http-equiv lang language link media method noshade nowrap rel rev rules scope shape target text type "
    "valign vlink"
)
_FOLDED = "i"  # before an operator: case does not count


def identifier(word: str) -> str:
    """A word, if it may be a name; else ValueError."""
    if not word.translate(SIGNS).isalnum() or word[0].isdigit():
        raise ValueError(word)
    return word


def read_test(text: str) -> tuple[str, str, str]:
    """What stands in square brackets: name, operator and value; ValueError if it is no selector."""
    name, equals, value = text.rstrip("]").partition("=")
    operator = equals
    if equals and name[-1:] in "~|^$*" and name:
        name, operator = name[:-1], name[-1] + equals
    name = identifier(name.strip().lower())
    if not equals:
        return name, "", ""
    if QUOTE in value:
        value, _, flag = value.strip().lstrip(QUOTE).partition(QUOTE)
    else:
        value, _, flag = value.strip().partition(" ")
        identifier(value)
    flag = flag.strip().lower()
    if flag not in ("", "i", "s"):
        raise ValueError(text)
    is_folded = flag == "i" or (not flag and name in _WITHOUT_CASE)
    return name, _FOLDED * is_folded + operator, value.lower() if is_folded else value


def agrees(value: str | None, operator: str, wanted: str) -> bool:
    """Whether an attribute is as a selector wants it."""
    if value is None or not operator:
        return value is not None
    if operator[0] == _FOLDED:
        value, operator = value.lower(), operator[1:]
    if operator == "~=":
        return wanted in value.split()
    if operator == "|=":
        return value == wanted or value.startswith(wanted + "-")
    if operator == "=":
        return value == wanted
    if not wanted:
        return False
    return {"^=": value.startswith, "$=": value.endswith, "*=": value.__contains__}[operator](wanted)
