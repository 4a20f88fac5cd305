"""The blocks of a style sheet: what holds for the declarations in each.

Hides how blocks stand in blocks (CSS Nesting), @-rules, and the order of layers (CSS Cascade 5).  Loaded when
a mail has a sheet.
"""

from __future__ import annotations

from nbspam.mail.html.css import split_outside
from nbspam.mail.html.media import applies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.html.scope import Scope

MAX_BLOCKS = 10  # blocks in blocks
MAX_NESTED = 1_000  # characters of selectors in a block and around it
MAX_SCOPES = 1_000  # that are read
UNLAYERED = (float("inf"),)  # stands behind all layers
_NOTHING = "@"  # an @-rule that no browser knows: nothing in it holds


class Block:
    """What holds in a block, by itself and those that it is in.

    held      : whether its rules hold on a reader's screen
    selectors : of the rule that it is, or is in
    layer     : names
    rank      : of the layer: the least is that of the first one; what is in a layer stands before it
    scopes    : where its rules hold
    """

    __slots__ = ("held", "layer", "rank", "scopes", "selectors")

    def __init__(self, held: bool, selectors: str, around: Block | None = None) -> None:
        self.held = held
        self.selectors = selectors
        self.layer: tuple[str, ...] = around.layer if around else ()
        self.rank: tuple[float, ...] = around.rank if around else UNLAYERED
        self.scopes: tuple[Scope, ...] = around.scopes if around else ()


class Blocks:
    """The blocks of all sheets of a page."""

    __slots__ = ("_folded", "_layers", "_scopes")

    def __init__(self, folded: bool) -> None:
        self._folded = folded
        self._layers: dict[tuple[str, ...], int] = {}  # in the order in which they are named
        self._scopes = MAX_SCOPES

    def rules(self, css: str) -> Iterator[tuple[Block, str]]:
        """The blocks of rules that hold, each with declarations in it, of a sheet without comments."""
        for block, body in self._all(css):
            if block.held and block.selectors and ":" in body:
                yield block, body

    def _all(self, css: str) -> Iterator[tuple[Block, str]]:
        blocks = [Block(True, "")]  # that are open; the sheet itself
        for chunk in css.split("}"):
            *heads, body = chunk.split("{")
            if not heads:
                if len(blocks) > 1:
                    yield blocks.pop(), body
                continue
            for head in heads[:-1]:
                if not blocks[-1].held:
                    blocks.append(blocks[-1])  # nothing in it holds, however deep
                    continue
                own, selectors = self._parted(head, blocks[-1])
                yield blocks[-1], own
                blocks.append(self._block(selectors, blocks))
            own, selectors = self._parted(heads[-1], blocks[-1])
            yield blocks[-1], own
            if ":" in body or "@" in selectors:
                yield self._block(selectors, blocks), body

    def _parted(self, head: str, around: Block) -> tuple[str, str]:
        """What stands before a block: declarations of the rule that it is in, and its selectors.

        In no rule a semicolon ends an @-statement; any other one, as in `};`, is a part of the next selector,
        which means nothing with it.
        """
        if ";" not in head:
            return "", head
        if around.selectors:
            own, _, selectors = head.rpartition(";")
            return own, selectors
        *statements, selectors = split_outside(head, ";")
        for statement in statements:
            at_rule, _, names = statement.strip().partition(" ")
            if not at_rule.startswith("@"):
                return "", _NOTHING
            for name in names.split(",") if at_rule.lower() == "@layer" else ():
                self._in_layer(around, name.strip())
        return "", selectors

    def _block(self, head: str, around: list[Block]) -> Block:
        """A block in others: in a rule its selectors begin with those of the rule."""
        head, outside = " ".join(head.split()), around[-1]
        if head.startswith("@"):
            return self._at_block(head, outside, len(around))
        outer, scopes = outside.selectors, outside.scopes
        if len(around) > MAX_BLOCKS + (not outer):
            return Block(False, "")
        if scopes and not outer:
            outer = scopes[-1].named if ":scope" in head else scopes[-1].root
            head = head.replace(":scope", "&")
        if not outer:
            return Block(outside.held, head, outside)
        if len(head) + len(outer) > MAX_NESTED:
            return Block(False, "")
        outer = f":is({outer})" if "," in outer else outer
        if "&" in head:
            return Block(outside.held, head.replace("&", outer), outside)
        inner = ",".join([f"{outer} {one}" for one in split_outside(head, ",")])
        return Block(outside.held, inner, outside)

    def _at_block(self, head: str, outside: Block, depth: int) -> Block:
        if not outside.held or depth > MAX_BLOCKS:
            return Block(False, "")
        kind, _, prelude = head.replace("(", " (", 1).partition(" ")
        if kind.lower() == "@layer":
            return self._in_layer(outside, prelude.strip())
        if kind.lower() == "@scope":
            return self._in_scope(outside, prelude)
        return Block(applies(head.lower()), outside.selectors, outside)

    def _in_layer(self, outside: Block, name: str) -> Block:
        """A layer in a block; one without name is a new one."""
        layers = self._layers
        block = Block(True, outside.selectors, outside)
        names = *outside.layer, *(name or f" {len(layers)}").split(".", MAX_BLOCKS)
        block.layer = names[:MAX_BLOCKS]
        places = [layers.setdefault(block.layer[:end], len(layers)) for end in range(1, len(block.layer) + 1)]
        block.rank = *places, *UNLAYERED
        return block

    def _in_scope(self, outside: Block, prelude: str) -> Block:
        """A scope in a block; none without root, which would be the element around the sheet."""
        self._scopes -= 1
        if self._scopes < 0 or len(prelude) > MAX_NESTED:
            return Block(False, "")
        from nbspam.mail.html.scope import read_scope  # rare

        scope = read_scope(prelude, self._folded)
        block = Block(scope is not None, outside.selectors, outside)
        block.scopes = (*outside.scopes, scope) if scope else ()
        return block
