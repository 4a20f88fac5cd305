"""Entities that a page declares in its doctype, as drawings may: their values in their places.

Hides what XML lets a doctype hold, and that values may hold other entities: how deep and how long is bounded,
since ten in one another are a billion words.  Loaded when a page declares one.
"""

from __future__ import annotations

MAX_ENTITIES = 20  # that are read
MAX_DEPTH = 4  # times that entities in values are replaced by theirs
MAX_VALUE = 2_000  # characters of one
MAX_ADDED = 100_000  # characters in a page
MAX_BEGIN = 100  # characters in which it is looked for whether a page is one of XML
_BEFORE_ALL = "\ufeff \t\r\n"
_OF_XML = ("<?xml", "<!DOCTYPE svg")
_DECLARATION = "<!ENTITY"
_PREDEFINED = ("amp", "lt", "gt", "quot", "apos")


def with_entities(page: str) -> str:
    """A page of XML with the entities replaced that its doctype declares, and without their declarations."""
    if not page[:MAX_BEGIN].lstrip(_BEFORE_ALL).startswith(_OF_XML):
        return page
    before, bracket, behind = page.partition("[")
    head, doctype, name = before.rpartition("<!DOCTYPE")
    if not (bracket and doctype) or ">" in name or "<" in name or len(head) > MAX_VALUE:
        return page
    entities, end = _declared(behind)
    for _ in range(MAX_DEPTH):
        entities = {name: _replaced(value, entities, MAX_VALUE) for name, value in entities.items()}
    # An entity within quotes is no end of them.
    quoted = {
        name: value if "<" in value else value.replace('"', "&quot;").replace("'", "&#39;")
        for name, value in entities.items()
    }
    return before + _replaced(behind[end:], quoted, MAX_ADDED)


def _declared(text: str) -> tuple[dict[str, str], int]:
    """Names and values of the entities that a doctype declares, the first of each name, and where it ends."""
    found: dict[str, str] = {}
    end = 0
    for _ in range(MAX_ENTITIES):
        begin = text.find(_DECLARATION, end, _end_of_doctype(text, end))
        if begin < 0:
            break
        words = text[begin + len(_DECLARATION) : begin + MAX_VALUE].split(None, 1)
        if len(words) < 2 or words[1][0] not in "\"'":  # of another file, or for the doctype itself
            end = begin + len(_DECLARATION)
            continue
        start = text.index(words[1][:1], begin) + 1
        stop = text.find(words[1][0], start)
        stop = stop if stop >= 0 else len(text)
        if words[0] not in _PREDEFINED:
            found.setdefault(words[0], text[start : min(stop, start + MAX_VALUE)])
        end = stop + 1
    return found, _end_of_doctype(text, end)


def _end_of_doctype(text: str, start: int) -> int:
    """Where the bracket around the declarations is closed, and what follows it begins."""
    bracket = text.find("]", start)
    return bracket + 1 if bracket >= 0 else len(text)


def _replaced(text: str, entities: dict[str, str], room: int) -> str:
    """The text with its entities replaced, as long as there is room for them."""
    first, *pieces = text.split("&")
    parts = [first]
    for piece in pieces:
        name, ended, rest = piece.partition(";")
        value = entities.get(name) if ended else None
        if value is None or len(value) > room:
            parts += "&", piece
            continue
        room -= len(value)
        parts += value, rest
    return "".join(parts)
