"""The MIME tree: a body to its leaf parts, in one pass over the lines that begin with "--".

Nothing recurses.  Open multiparts are in a list and their delimiters in one dictionary, so each such line
costs one look-up however deep the mail is nested.  A delimiter is a whole line, as in mutt, Thunderbird and
Python, so one boundary may begin with another.  A delimiter of an outer multipart closes the inner ones.
No mail program shows the preamble and the epilogue, so they are left out.  If a multipart has no parts at
all, its boundary is guessed from the first likely "--" line; the text before that, or all of it, is a part.
"""

from nbspam.limits import MAX_NESTING, Allowance
from nbspam.mail.headers import find_header, read_block, unify_line_ends
from nbspam.mail.leaf import CARD_TYPES, IDENTITY, MESSAGES, SIGNED, begin_part, read_leaf
from nbspam.mail.message import Message, Part
from nbspam.mail.transfer import decode_transfer

Inside = list[tuple[int, int]]  # (number of a choice, which of its parts), from the outermost in
_FOR_FEW = "text/x-amp-html"  # few mail programs show this alternative
_FIRST = 1  # the part that programs show of related ones without `start` (RFC 2387, 3.2)
_SEARCH_COST = 1_000  # "--" lines that looking for the same line again counts as


class _Multipart:
    """An open multipart.

    delimiter    : its lines without the closing "--"; b"" as long as it has to be guessed
    default_type : of parts without a Content-Type
    start        : offset of its body
    depth        : multiparts and messages around it
    opened       : delimiters seen
    choice       : its number in Splitter.choices plus one; 0 if mail programs show all of its parts
    start_id     : Content-ID of the part that they show, "" if it does not say
    message_at   : which of its parts is an embedded message; of several the last
    """

    def __init__(self, delimiter: bytes, default_type: str, start: int, depth: int) -> None:
        self.delimiter = delimiter
        self.default_type = default_type
        self.start = start
        self.depth = depth
        self.opened = 0
        self.choice = 0
        self.start_id = ""
        self.message_at = 0


class _Scan:
    """One buffer (a body, or an embedded message that was encoded) and how far it is split.

    data       : the bytes; line ends are LF
    depth      : multiparts and messages around the buffer
    position   : offset of what comes next, -1 at the end
    blank      : offset of an empty line that was found before and is still ahead
    opening    : default type of the part that begins at `position`, "" if none begins there
    leaf       : the part whose body begins at `position`
    inside     : the choices around that leaf
    multiparts : the open ones, the innermost last
    active     : delimiter line -> (index of its multipart, True if it closes it)
    """

    def __init__(self, data: bytes, depth: int) -> None:
        self.data = data
        self.depth = depth
        self.position = 0
        self.blank = -1
        self.opening = ""
        self.leaf: Part | None = None
        self.inside: Inside = []
        self.multiparts: list[_Multipart] = []
        self.active: dict[bytes, tuple[int, bool]] = {}

    def find_choices(self) -> Inside:
        """The choices around the part that begins now, in the same message."""
        choices: Inside = []
        for outer in self.multiparts:
            if outer.choice:
                choices.append((outer.choice, outer.opened))
            if outer.message_at and outer.message_at == outer.opened:
                choices.clear()
        return choices

    def push(self, multipart: _Multipart) -> None:
        """Open a multipart."""
        self.multiparts.append(multipart)
        self.activate()

    def close(self, number: int) -> None:
        """Close the multiparts from this index on."""
        if len(self.multiparts) > number:
            del self.multiparts[number:]
            self.activate()

    def activate(self) -> None:
        """Look for the delimiters of the open multiparts from now on."""
        self.active = {}
        for number, multipart in enumerate(self.multiparts):
            if multipart.delimiter:
                self.active[multipart.delimiter + b"--"] = (number, True)
                self.active[multipart.delimiter] = (number, False)

    def find_delimiter(self, allowance: Allowance) -> tuple[int, int] | None:
        """(start, end) of the next line from `position` on that is in `active`."""
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
            if line in self.active:
                return start, stop
            if not self.multiparts[-1].delimiter and self._is_likely(line, stop, allowance):
                self.multiparts[-1].delimiter = line
                self.activate()
                return start, stop
            start = data.find(b"\n--", stop) + 1
            if not start:
                return None
        allowance.note("many-delimiters")
        return None

    def _is_likely(self, line: bytes, stop: int, allowance: Allowance) -> bool:
        """True if a "--" line that ends at `stop` is probably a delimiter.

        A field of a part follows it; or an empty line, and later the same line again: a signature has none.
        """
        if line.endswith(b"--"):  # a last delimiter, a rule, `-----BEGIN PGP MESSAGE-----`
            return False
        following = self.data[stop + 1 : stop + 9].lower()
        if following.startswith(b"\n"):
            allowance.delimiter_lines = max(allowance.delimiter_lines - _SEARCH_COST, 0)
            return self.data.find(b"\n" + line, stop) >= 0
        return following == b"content-"


class Splitter:
    """Takes one body apart and fills a Message.

    choices  : of each multipart of which mail programs show one part: which one, 0 for the last
    inside   : of each part of the message, the choices around it
    embedded : fields of an embedded message that wait for its first part
    names    : file names of embedded messages that wait for it, too
    """

    def __init__(self, message: Message, allowance: Allowance) -> None:
        self.message = message
        self.allowance = allowance
        self.scans: list[_Scan] = []
        self.choices: list[int] = []
        self.inside: list[Inside] = []
        self.embedded: list[tuple[str, str]] = []
        self.names: list[str] = []

    def run(self, part: Part, body: bytes) -> None:
        """Split the body of a mail whose header fields are known."""
        self.scans = [_Scan(body, 0)]
        self._enter(self.scans[0], part, 0)
        while self.scans:
            scan = self.scans[-1]
            if scan.opening:
                self._open(scan)
            elif scan.position < 0:
                self.scans.pop()
            else:
                self._advance(scan)
        if self.embedded or not self.message.parts:  # there were parts, but nothing in them
            self._finish_leaf(_Scan(b"", 0), Part("text/plain"), 0, 0)
        if self.choices:
            self._mark_replaced()

    def _mark_replaced(self) -> None:
        """Mark the texts that mail programs do not show because they show another part instead.

        Of alternatives they show the last with HTML, else the last text; of related parts the one that
        `start` names, else the first.  An attached file (RFC 2183, 2.2) is not one of them and stays; nor is
        an invitation.
        """
        texts: list[tuple[Part, Inside]] = [
            (part, inside)
            for part, inside in zip(self.message.parts, self.inside, strict=True)
            if inside
            and part.text
            and part.disposition != "attachment"
            and part.content_type not in CARD_TYPES
        ]
        shown: dict[int, tuple[bool, int]] = {}  # of each choice: is it HTML, and which part
        for part, inside in texts:
            if part.content_type != "text/plain" and (not part.is_html or part.content_type == _FOR_FEW):
                continue
            for number, child in inside:
                root = self.choices[number - 1]
                is_better = child == root if root else (part.is_html, child) > shown.get(number, (False, 0))
                if number not in shown or is_better:
                    shown[number] = part.is_html, child
        for part, inside in texts:
            part.is_replaced = any(number in shown and child != shown[number][1] for number, child in inside)

    def _open(self, scan: _Scan) -> None:
        """Read the header block of the part that begins at the scan's position."""
        default_type, scan.opening = scan.opening, ""
        start = scan.position
        if self.allowance.parts <= 0:
            self.message.structure.append(default_type)
            scan.leaf = Part(default_type)
            return
        stop, body = self._find_block_end(scan, start)
        if start == stop == body:
            scan.position = start  # nothing between two delimiters
            return
        block = read_block(scan.data, start, stop, body, self.allowance)
        outer = scan.multiparts[-1]
        if outer.start_id and outer.start_id == block.content.get("content-id", "").strip("<> \t"):
            self.choices[outer.choice - 1] = outer.opened
            outer.start_id = ""  # of two parts with this Content-ID the first is shown
        self._enter(scan, begin_part(block.content, default_type, self.allowance), block.body)

    def _find_block_end(self, scan: _Scan, start: int) -> tuple[int, int]:
        """(end of the header lines, start of the body) of the part at `start`; a delimiter ends both."""
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
            line = scan.find_delimiter(self.allowance)
            if line is not None and line[0] < stop:
                return line[0], line[0]
        return stop, body

    def _enter(self, scan: _Scan, part: Part, start: int) -> None:
        """Begin a part whose fields are known: a multipart, an embedded message or a leaf."""
        depth = scan.multiparts[-1].depth + 1 if scan.multiparts else scan.depth
        while True:
            self.message.structure.append(part.content_type)
            self.allowance.parts -= 1
            scan.position = start
            scan.leaf = part
            scan.inside = scan.find_choices()
            is_multipart = part.content_type.startswith("multipart/")
            if not is_multipart and (part.content_type not in MESSAGES or part.encoding not in IDENTITY):
                return
            is_deep = depth >= MAX_NESTING or self.allowance.header_bytes <= 0
            if is_deep or self.allowance.parts <= 0:
                self.allowance.note("nested-too-deep" if is_deep else "too-many-parts")
                part.content_type = "text/plain"
                return
            if is_multipart:
                self._enter_multipart(scan, part, start, depth)
                return
            depth += 1
            if scan.multiparts:
                scan.multiparts[-1].message_at = scan.multiparts[-1].opened
            part, start = self._read_embedded(scan, start, part.filename)

    def _read_embedded(self, scan: _Scan, start: int, filename: str) -> tuple[Part, int]:
        """(what its fields say, offset of its body) of the embedded message that begins at `start`."""
        if filename:
            self.names.append(filename)
        start = find_header(scan.data, start)
        stop, body = self._find_block_end(scan, start)
        block = read_block(scan.data, start, stop, body, self.allowance)
        self.embedded.extend(block.fields)
        return begin_part(block.content, "text/plain", self.allowance), block.body

    def _enter_multipart(self, scan: _Scan, part: Part, start: int, depth: int) -> None:
        boundary = part.parameters.get("boundary", "").rstrip()
        delimiter = b"--" + boundary.encode("latin-1", "replace") if boundary else b""
        scan.leaf = None if boundary else Part("text/plain")  # what is before a guessed boundary
        if not boundary:
            self.allowance.note("no-boundary")
        is_twin = bool(boundary) and any(outer.delimiter == delimiter for outer in scan.multiparts)
        if is_twin:
            self.allowance.note("duplicate-boundary")
        default_type = "message/rfc822" if part.content_type == "multipart/digest" else "text/plain"
        multipart = _Multipart(delimiter, default_type, start, depth)
        if part.content_type in ("multipart/related", "multipart/alternative") and not is_twin:
            is_related = part.content_type == "multipart/related"
            self.choices.append(_FIRST if is_related else 0)
            multipart.choice = len(self.choices)
            multipart.start_id = part.parameters.get("start", "").strip("<> \t") if is_related else ""
        scan.push(multipart)

    def _advance(self, scan: _Scan) -> None:
        """Go on to the next delimiter and finish the part that ends there."""
        line = scan.find_delimiter(self.allowance)
        begin = scan.position
        stop = line[0] if line else len(scan.data)
        innermost = scan.multiparts[-1] if scan.multiparts else None
        is_unopened = innermost is not None and not innermost.opened
        if line is not None:
            self._cross(scan, *line)
        else:
            scan.position = -1
            if innermost is not None and innermost.delimiter:
                self.allowance.note("no-close-delimiter")
        is_before_first = innermost is not None and is_unopened and bool(innermost.opened)
        if scan.leaf is not None:
            leaf, scan.leaf = scan.leaf, None
            if not is_before_first or scan.data[begin:stop].strip():
                self._finish_leaf(scan, leaf, begin, stop)
        elif innermost is not None and is_unopened and not is_before_first:
            self._finish_empty(scan, innermost, stop)

    def _cross(self, scan: _Scan, start: int, end: int) -> None:
        """Step over the delimiter at data[start:end]: close multiparts, or note the part that it opens."""
        number, is_closing = scan.active[scan.data[start:end].rstrip()]
        scan.position = min(end + 1, len(scan.data))
        multipart = scan.multiparts[number]
        scan.close(number + 1)
        if is_closing:
            scan.close(number)
            if not scan.multiparts:
                scan.position = -1
        else:
            multipart.opened += 1
            scan.opening = multipart.default_type
            if self.allowance.parts <= 0:
                self.allowance.note("too-many-parts")
                scan.opening = "text/plain"
                scan.multiparts.clear()  # the rest is one text: nothing ends it

    def _finish_leaf(self, scan: _Scan, part: Part, start: int, stop: int) -> None:
        data = scan.data
        if stop < len(data) and stop > start:
            stop -= 1  # the line end before a delimiter belongs to it
        payload = data[start:stop] if start or stop < len(data) else data
        if part.encoding not in IDENTITY and part.content_type in MESSAGES | SIGNED:
            message = decode_transfer(payload, part.encoding, self.allowance)
            if part.content_type in SIGNED:
                from nbspam.mail.attachments.signed import read_signed  # rare

                message = read_signed(message)
            if message or part.content_type in MESSAGES:
                self._embed(scan, message, part.filename)
                return
        parts = read_leaf(part, payload, self.allowance)
        if self.embedded:
            parts[0].embedded_headers = self.embedded
            self.embedded = []
        parts[0].embedded_names, self.names = self.names, []
        self.message.structure.extend([part.content_type for part in parts[1:]])
        self.message.parts.extend(parts)
        self.inside.extend([scan.inside] * len(parts))

    def _embed(self, scan: _Scan, payload: bytes, filename: str) -> None:
        """Go on with an embedded message that was encoded."""
        child = _Scan(unify_line_ends(payload), scan.depth + len(scan.multiparts) + 1)
        part, start = self._read_embedded(child, 0, filename)
        self.scans.append(child)
        if child.depth < MAX_NESTING and self.allowance.parts > 0:
            self._enter(child, part, start)
        else:
            self.allowance.note("nested-too-deep")
            child.position, child.leaf = start, Part("text/plain")

    def _finish_empty(self, scan: _Scan, multipart: _Multipart, stop: int) -> None:
        """Split a multipart without parts by a guessed boundary; what is before that is text."""
        region = scan.data[multipart.start : stop]
        self.allowance.note("no-parts")
        delimiter = multipart.delimiter if multipart.delimiter in region else b""
        child = _Scan(region, multipart.depth)
        child.leaf = Part("text/plain")
        if self.allowance.boundary_guesses:
            self.allowance.boundary_guesses -= 1
            child.push(_Multipart(delimiter, multipart.default_type, 0, multipart.depth))
        self.scans.append(child)
