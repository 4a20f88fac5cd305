"""The MIME tree: a body to its leaf parts, in one pass over the lines that begin with "--".

Hides the nesting.  Open multiparts stand in a list, their delimiters in one dictionary, so each
candidate line costs one look-up however deep the mail is nested; nothing recurses.  Delimiters are
compared as whole lines, as mutt, Thunderbird and Python do, so a boundary may begin another.  A
delimiter of an outer multipart closes the inner ones.  Preamble and epilogue are shown by no
reader and are left out, unless a multipart has no parts at all: then a boundary is guessed from
its first "--" line, or else it is text.
"""

from __future__ import annotations

from nbspam.mail.headers import read_block, with_line_feeds
from nbspam.mail.leaf import MESSAGES, Entity, read_leaf
from nbspam.mail.limits import MAX_NESTING
from nbspam.mail.message import SIGNED
from nbspam.mail.transfer import decode_transfer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Message


# Alternatives for few programs and readers: pages that are built while they are read, and pages for a watch.
_FOR_FEW = frozenset(("text/x-amp-html", "text/watch-html"))
_ENCODED = frozenset(("base64", "quoted-printable", "x-uuencode", "uuencode", "x-uue"))


class _Multipart:
    """An open multipart: delimiter b"" means it is still to be guessed."""

    __slots__ = (
        "choice",
        "default_type",
        "delimiter",
        "depth",
        "encoding",
        "message_at",
        "opened",
        "root",
        "start",
        "twins",
    )

    def __init__(self, delimiter: bytes, default_type: str, encoding: str, start: int, depth: int) -> None:
        self.choice = 0  # the number of this multipart if readers show one of its parts; 0: they show all
        self.delimiter = delimiter
        self.default_type = default_type
        self.encoding = encoding
        self.start = start
        self.depth = depth
        self.opened = 0  # delimiters seen
        self.message_at = 0  # which of its parts is a message of its own; of several the last
        self.root = ""  # Content-ID of the part that a multipart/related says readers begin with (RFC 2387)
        self.twins = 0  # multiparts directly inside it that use the same boundary


class _Scan:
    """One buffer on its way through the splitter; line ends are LF."""

    __slots__ = ("active", "blank", "data", "depth", "inside", "leaf", "multiparts", "opening", "position")

    def __init__(self, data: bytes, depth: int) -> None:
        self.data = data
        self.depth = depth
        self.position = 0
        self.blank = -1  # offset of an empty line, found before and still ahead
        self.opening = ""  # default type of the part that begins at position
        self.leaf: Entity | None = None
        self.inside: list[tuple[int, int]] = []  # of each choice that the leaf is in, which part of it
        self.multiparts: list[_Multipart] = []
        self.active: dict[bytes, tuple[int, bool]] = {}

    def choices_around(self) -> list[tuple[int, int]]:
        """Of each choice around what begins, in the same message, which of its parts it is in."""
        found: list[tuple[int, int]] = []
        for outer in self.multiparts:
            if outer.choice:
                found.append((outer.choice, outer.opened))
            if outer.message_at and outer.message_at == outer.opened:
                found.clear()
        return found

    def push(self, multipart: _Multipart) -> None:
        self.multiparts.append(multipart)
        self.activate()

    def activate(self) -> None:
        self.active = {}
        for number, multipart in enumerate(self.multiparts):
            if multipart.delimiter:
                self.active[multipart.delimiter + b"--"] = (number, True)
                self.active[multipart.delimiter] = (number, False)

    def next_delimiter(self, allowance: Allowance) -> tuple[int, int, int, bool] | None:
        """(start of line, start of next line, number of multipart, closing?) from position on."""
        if not self.multiparts:
            return None
        data = self.data
        start = self.position
        if not data.startswith(b"--", start):
            start = data.find(b"\n--", start) + 1
            if not start:
                return None
        while allowance.delimiter_lines:
            allowance.delimiter_lines -= 1
            stop = data.find(b"\n", start)
            if stop < 0:
                stop = len(data)
            line = data[start:stop].rstrip()
            hit = self.active.get(line)
            if hit is None and not self.multiparts[-1].delimiter and _is_likely(data, line, stop):
                self.multiparts[-1].delimiter = line
                self.activate()
                hit = self.active[line]
            if hit is not None:
                return start, min(stop + 1, len(data)), hit[0], hit[1]
            start = data.find(b"\n--", stop) + 1
            if not start:
                return None
        allowance.note("many-delimiters")
        return None


def _is_likely(data: bytes, line: bytes, stop: int) -> bool:
    """Whether a "--" line that ends at `stop` is the delimiter of a multipart: a field follows."""
    if not line.strip(b"-"):
        return False
    following = data[stop + 1 : stop + 100]
    return following.lower().startswith(b"content-") or following.startswith(b"\n")


def _bare_id(value: str) -> str:
    """A Content-ID without its brackets."""
    return value.strip().removeprefix("<").removesuffix(">")


class Splitter:
    """Takes one body apart and fills a Message."""

    __slots__ = ("allowance", "choices", "embedded", "inside", "message", "scans")

    def __init__(self, message: Message, allowance: Allowance) -> None:
        self.message = message
        self.allowance = allowance
        self.scans: list[_Scan] = []
        # Of each multipart met of which readers show one part: whether it is the first.  None: who wrote it
        # names another, which some readers show and some do not, so that all count.
        self.choices: list[bool | None] = []
        self.inside: list[list[tuple[int, int]]] = []  # of each part of the message, as of its leaf
        self.embedded: list[tuple[str, str]] = []  # fields waiting for the part that begins a message

    def run(self, entity: Entity, body: bytes) -> None:
        """Split the body of a mail whose header fields are known."""
        scan = _Scan(body, 0)
        self.scans.append(scan)
        self._enter(scan, entity, 0)
        while self.scans:
            scan = self.scans[-1]
            if scan.opening:
                self._open(scan)
            elif scan.position < 0:
                self.scans.pop()
            else:
                self._advance(scan)
        if self.embedded or not self.message.parts:  # parts there were, but nothing in them
            self._finish_leaf(_Scan(b"", 0), Entity({}, "text/plain", self.allowance), 0, 0)
        if self.choices:
            self._mark_replaced()

    def _mark_replaced(self) -> None:
        """Of alternatives readers show the last with HTML, else the last text; of related parts the first.

        A file that is attached is none of them, wherever it stands (RFC 2183, 2.2), and is read beside them.
        """
        shown: dict[int, tuple[bool, int]] = {}  # of each choice: whether it is HTML, and which part
        texts = [
            (part, inside)
            for part, inside in zip(self.message.parts, self.inside, strict=True)
            if part.text and (part.is_html or part.content_type == "text/plain")
            if part.content_type not in _FOR_FEW and part.disposition != "attachment"
        ]
        for part, inside in texts:
            for number, child in inside:
                first = self.choices[number - 1]
                if first is None:
                    continue
                if number not in shown or (not first and (part.is_html, child) > shown[number]):
                    shown[number] = part.is_html, child
        for part, inside in zip(self.message.parts, self.inside, strict=True):
            part.is_replaced = (
                bool(part.text)
                and part.disposition != "attachment"
                and any(number in shown and child != shown[number][1] for number, child in inside)
            )

    def _open(self, scan: _Scan) -> None:
        """Read the header block of the part that begins at the scan's position."""
        default_type, scan.opening = scan.opening, ""
        start = scan.position
        if self.allowance.parts <= 0:
            self.message.structure.append(default_type)
            scan.leaf = Entity({}, default_type, self.allowance)
            return
        stop, body = self._block_end(scan, start)
        if start == stop == body:
            scan.position = start  # two delimiters, one behind the other: nothing between them
            return
        block = read_block(scan.data, start, stop, body, self.allowance)
        outer = scan.multiparts[-1]
        if outer.root and outer.opened > 1 and outer.root == _bare_id(block.content.get("content-id", "")):
            self.choices[outer.choice - 1] = None
        self._enter(scan, Entity(block.content, default_type, self.allowance), block.body)

    def _block_end(self, scan: _Scan, start: int) -> tuple[int, int]:
        data = scan.data
        if data.startswith(b"\n", start):
            return start, start + 1
        if scan.blank < start:
            scan.blank = data.find(b"\n\n", start)
            if scan.blank < 0:
                scan.blank = len(data)
        stop, body = min(scan.blank + 1, len(data)), min(scan.blank + 2, len(data))
        if data.startswith(b"--", start) or data.find(b"\n--", start, stop) >= 0:
            scan.position = start
            hit = scan.next_delimiter(self.allowance)
            if hit is not None and hit[0] < stop:
                return hit[0], hit[0]
        return stop, body

    def _enter(self, scan: _Scan, entity: Entity, start: int) -> None:
        """Go into a part whose fields are known: a multipart, an embedded message or a leaf."""
        depth = scan.multiparts[-1].depth + 1 if scan.multiparts else scan.depth
        while True:
            self.message.structure.append(entity.content_type)
            self.allowance.parts -= 1
            scan.position = start
            scan.leaf = entity
            scan.inside = scan.choices_around()
            multipart = entity.content_type.startswith("multipart/")
            if not multipart and (entity.content_type not in MESSAGES or entity.encoding in _ENCODED):
                return
            if depth >= MAX_NESTING or self.allowance.parts <= 0:
                self.allowance.note("nested-too-deep" if depth >= MAX_NESTING else "too-many-parts")
                entity.content_type = "text/plain"
                return
            if multipart:
                self._enter_multipart(scan, entity, start, depth)
                return
            depth += 1
            if scan.multiparts:
                scan.multiparts[-1].message_at = scan.multiparts[-1].opened
            only_header = entity.content_type == "text/rfc822-headers"
            entity, start = self._read_embedded(scan, start)
            if only_header:  # of a message that is not here: what it says of its body means nothing
                entity = Entity({}, "text/plain", self.allowance)

    def _read_embedded(self, scan: _Scan, start: int) -> tuple[Entity, int]:
        """(what it says, offset of its body) of the embedded message that begins at `start`."""
        stop, body = self._block_end(scan, start)
        block = read_block(scan.data, start, stop, body, self.allowance)
        self.embedded.extend(block.fields)
        return Entity(block.content, "text/plain", self.allowance), block.body

    def _enter_multipart(self, scan: _Scan, entity: Entity, start: int, depth: int) -> None:
        scan.leaf = None
        boundary = entity.parameters.get("boundary", "").rstrip()
        delimiter = b"--" + boundary.encode("latin-1", "replace") if boundary else b""
        if not boundary:
            self.allowance.note("no-boundary")
        is_twin = bool(delimiter) and any(outer.delimiter == delimiter for outer in scan.multiparts)
        if is_twin:
            self.allowance.note("duplicate-boundary")
            if scan.multiparts[-1].delimiter == delimiter:
                scan.multiparts[-1].twins += 1
                return
        default_type = "message/rfc822" if entity.content_type == "multipart/digest" else "text/plain"
        multipart = _Multipart(delimiter, default_type, entity.encoding, start, depth)
        is_related = entity.content_type == "multipart/related"
        if (is_related or entity.content_type == "multipart/alternative") and not is_twin:
            self.choices.append(is_related)
            multipart.choice = len(self.choices)
            multipart.root = _bare_id(entity.parameters.get("start", "")) if is_related else ""
        scan.push(multipart)

    def _advance(self, scan: _Scan) -> None:
        """Go on to the next delimiter; finish what ends there."""
        hit = scan.next_delimiter(self.allowance)
        begin = scan.position
        stop = hit[0] if hit else len(scan.data)
        ended = scan.multiparts[-1] if scan.multiparts and not scan.multiparts[-1].opened else None
        if hit is None:
            scan.position = -1
            if scan.multiparts:
                self.allowance.note("no-close-delimiter")
        else:
            self._cross(scan, hit)
        if scan.leaf is not None:
            leaf, scan.leaf = scan.leaf, None
            self._finish_leaf(scan, leaf, begin, stop)
        elif ended is not None and not ended.opened:
            self._finish_empty(scan, ended, stop)

    def _cross(self, scan: _Scan, hit: tuple[int, int, int, bool]) -> None:
        """Step over a delimiter: close what it closes, and note what it opens."""
        _, scan.position, number, closing = hit
        multipart = scan.multiparts[number]
        if len(scan.multiparts) > number + 1:
            del scan.multiparts[number + 1 :]
            scan.activate()
        if closing and multipart.twins:
            multipart.twins -= 1
        elif closing:
            scan.multiparts.pop()
            scan.activate()
            if not scan.multiparts:
                scan.position = -1
        elif self.allowance.parts <= 0:
            self.allowance.note("too-many-parts")
            multipart.opened += 1
            scan.opening = "text/plain"
            scan.multiparts.clear()  # what is left is one text: nothing ends it
        else:
            multipart.opened += 1
            scan.opening = multipart.default_type

    def _finish_leaf(self, scan: _Scan, entity: Entity, start: int, stop: int) -> None:
        data = scan.data
        if stop < len(data) and stop > start:
            stop -= 1  # the line end before a delimiter belongs to it
        payload = data[start:stop] if start or stop < len(data) else data
        if entity.content_type in MESSAGES and entity.encoding in _ENCODED:
            self._embed(scan, decode_transfer(payload, entity.encoding, self.allowance))
            return
        if entity.content_type in SIGNED:
            from nbspam.mail.signed import signed_content  # rare

            encoded = entity.encoding in _ENCODED
            content = signed_content(
                decode_transfer(payload, entity.encoding, self.allowance) if encoded else payload
            )
            if content:
                self._embed(scan, content)
                return
        if entity.content_type.startswith("application/"):
            from nbspam.mail.saved import saved_page  # no plain mail has one

            content = saved_page(entity, payload, self.allowance)
            if content:
                self._embed(scan, content)
                return
        parts = read_leaf(entity, payload, self.allowance)
        if self.embedded:
            parts[0].embedded_headers = self.embedded
            self.embedded = []
        self.message.structure.extend(part.content_type for part in parts[1:])
        self.message.parts.extend(parts)
        self.inside.extend([scan.inside] * len(parts))

    def _embed(self, scan: _Scan, payload: bytes) -> None:
        """Go on with an embedded message that was encoded."""
        child = _Scan(with_line_feeds(payload), scan.depth + len(scan.multiparts) + 1)
        entity, start = self._read_embedded(child, 0)
        self.scans.append(child)
        if child.depth < MAX_NESTING and self.allowance.parts > 0:
            self._enter(child, entity, start)
        else:
            self.allowance.note("nested-too-deep")
            child.position, child.leaf = start, Entity({}, "text/plain", self.allowance)

    def _finish_empty(self, scan: _Scan, multipart: _Multipart, stop: int) -> None:
        """A multipart without a delimiter: split it by a guess, else take it for text."""
        region = scan.data[multipart.start : stop]
        self.allowance.note("no-parts")
        regions = [region]
        if multipart.encoding in _ENCODED:  # not allowed for a multipart, so only if nothing else helps
            regions.append(with_line_feeds(decode_transfer(region, multipart.encoding, self.allowance)))
        for region in regions:
            delimiter = multipart.delimiter if multipart.delimiter in region else b""
            child = _Scan(region, multipart.depth)
            child.push(_Multipart(delimiter, multipart.default_type, "", 0, multipart.depth))
            if self.allowance.boundary_guesses and child.next_delimiter(self.allowance):
                self.allowance.boundary_guesses -= 1
                self.scans.append(child)
                return
        self._finish_leaf(_Scan(region, 0), Entity({}, "text/plain", self.allowance), 0, len(region))
