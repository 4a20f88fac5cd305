"""An object of a PDF: what it says of itself and where its stream begins, as viewers take it apart.

Hides strings, remarks and nested dictionaries, in which anything may stand that looks like a key, or like
the beginning of a stream.
Source: ISO 32000-1, 7.2.3, 7.3.4.2, 7.3.7 and 7.3.8.
"""

from __future__ import annotations

import re

from nbspam.mail.packed import MAX_PIECE

_NESTED = 6  # parentheses of a string, one in the other


def _string(levels: int) -> bytes:
    inner = rb"|\(" + _string(levels - 1) + rb"\)" if levels else b""
    return rb"(?:[^()\\]++|\\." + inner + rb")*+"


_IN_STRING = _string(_NESTED)
STRING = rb"\(" + _IN_STRING + rb"\)?"  # it may lack its end
_REMARK = rb"%[^\r\n]*+"
_BETWEEN = rb"(?:[\s\0]++|" + _REMARK + rb")*+"  # two words
# Behind the word "stream" viewers skip what else is in its line.
_BEGIN = rb">>" + _BETWEEN + rb"stream\b[^\r\n]*+"
# What is no beginning of a stream is passed over.  Not one expression from the first byte on: Python before
# 3.11.5 does not look ahead in what is repeated without a way back.
_STREAM = re.compile(rb"(" + _BEGIN + rb")|" + STRING + rb"|" + _REMARK, re.DOTALL)
_UNREAD = re.compile(rb"(\()" + _IN_STRING + rb"\)?|" + _REMARK, re.DOTALL)
_GAP = re.compile(_BETWEEN)
_WORD = re.compile(rb"<<|>>|[\[\](]|/[^\s\0()<>\[\]{}/%]*+|<[^<>]*+>|[^\s\0()<>\[\]{}/%]++")
_DEEPER = dict.fromkeys((b"<<", b"["), 1) | dict.fromkeys((b">>", b"]"), -1)


def parted(content: bytes) -> tuple[bytes, bytes]:
    """What an object says of itself, with "( " for a string and a space for a remark; and its stream.

    content : bytes from behind "obj"; so much of each as is read
    """
    head, stream = content[:MAX_PIECE], b""
    if b"stream" in head:
        found = next((found for found in _STREAM.finditer(head) if found[1]), None)
        if found:
            stream = content[found.end() : found.end() + MAX_PIECE]
            head = head[: found.start() + 2]
    if b"(" in head or b"%" in head:
        head = _UNREAD.sub(rb"\1 ", head)
    return head, stream.lstrip()  # no stream that is packed begins with a space


def value_behind(says: bytes, key: bytes) -> bytes:
    """What stands behind a key of the outermost dictionary, where there are two behind the last; b"" if none.

    says : as `parted` gives it
    """
    depth, at, is_key = 0, len(says), True
    for found in _WORD.finditer(says):
        word = found[0]
        if depth == 1:  # a key is a name; a value that is one is no key
            is_name = word[:1] == b"/"
            if is_name and is_key and word == key:
                at = found.end()
            is_key = not (is_name and is_key)
        depth += _DEEPER.get(word, 0)
    return says[at:].lstrip()


def behind_gap(data: bytes) -> bytes:
    """The bytes from the first word on: white space and remarks before it do not count."""
    found = _GAP.match(data)
    return data[found.end() :] if found else data
