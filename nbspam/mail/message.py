"""A mail that was taken apart: Message and its leaf parts, and the Html and Document of a part.

Plain classes, because dataclasses cost 8 ms to import.
"""

from __future__ import annotations

Field = tuple[str, str]  # lower-case name, unfolded and decoded value


def normalise_filename(filename: str) -> str:
    """A file's name as Windows compares it: lower-case, without spaces and full stops at its end."""
    return filename.lower().rstrip(" .")


def pin(text: str) -> str:
    """The text with a noncharacter for each character newer than Unicode 14, so all Pythons agree on it.

    Needed before lower(), isalpha() and the like; words do without.
    """
    if text.isascii():
        return text
    from nbspam.mail.unicode_14 import replace_unknown  # most text is ASCII

    return replace_unknown(text)


class Part:
    """A leaf of the MIME tree, decoded.

    content_type     : "text/plain": lower-case, never empty
    parameters       : of the Content-Type, by lower-case name
    charset          : the Python codec that decoded it, "" if it is not text
    declared_charset : as written, lower-case, "" if none
    encoding         : content-transfer-encoding, lower-case, "" if none
    filename         : decoded (RFC 2231, RFC 2047 or plain), "" if none
    disposition      : "attachment", "inline", ""
    size_bytes       : of the decoded payload
    text             : decoded text; for HTML its source; "" if no mail program shows it as text
    is_html          : declared as HTML, or clearly begins as HTML, or a file that a browser opens as a page
    is_replaced      : a text that is not shown, because mail programs show another part instead
    embedded_headers : the fields of the embedded message that begins with this part
    embedded_names   : the file names of the embedded messages that begin with it
    payload_magic    : the first 16 bytes of the decoded payload
    document         : the contents of a file that is not text, if its kind is known
    """

    charset = ""
    declared_charset = ""
    encoding = ""
    filename = ""
    disposition = ""
    size_bytes = 0
    text = ""
    is_html = False
    is_replaced = False
    payload_magic = b""
    document: Document | None = None

    def __init__(self, content_type: str) -> None:
        self.content_type = content_type
        self.parameters: dict[str, str] = {}
        self.embedded_headers: list[Field] = []
        self.embedded_names: list[str] = []


class Html:
    """What is in an HTML text; see html.read_html."""

    visible = ""  # what a person sees
    hidden = ""  # text, not comments, that a person does not see
    title = ""
    tags = 0  # start tags
    comments = 0
    joined = 0  # words split by markup that shows nothing
    quoted = 0  # visible lines that are marked as quoted, but not by a `>`

    def __init__(self) -> None:
        self.links: list[tuple[str, str]] = []  # target, text of the link
        self.images: list[str] = []
        self.alts: list[str] = []  # what readers show for images that they do not load
        self.colours: set[str] = set()  # `#rrggbb`


MAX_NAMES = 100  # of files in an archive
MAX_ADDRESSES = 100  # of a document
MAX_DOCUMENT_TEXT = 5_000  # characters of a document, about


class Document:
    """What is in an archive, a PDF or an office document; see nbspam.mail.attachments."""

    def __init__(self) -> None:
        self.names: list[str] = []  # of the files in an archive, as written
        self.addresses: list[str] = []  # where it leads to
        self.says: list[str] = []  # its title, author, the program that made it
        self.marks: list[str] = []  # what it does or is, lower case, each once: "macros", "encrypted"
        self.text = ""  # what it shows

    def add_address(self, address: str) -> None:
        """Note an address, unless it is a place in the document itself."""
        if "://" in address and len(self.addresses) < MAX_ADDRESSES:
            self.addresses.append(address)

    def mark(self, name: str) -> None:
        """Note what it does or is."""
        if name not in self.marks:
            self.marks.append(name)


class Message:
    """A mail.

    data       : its bytes
    headers    : fields of the top header block in order, without an mbox "From " line
    header_sizes : bytes of each as it was sent, unfolded, with one line end
    parts      : leaves in order, including those of embedded messages
    structure  : content types of all parts in order, multiparts and embedded messages too
    defects    : stable slugs of its faults, each once
    body_bytes : size of the body as it is read: at most MAX_SCORED_BYTES, a line feed ends a line, empty
                 lines at the end are left out
    failures   : faults of this program met while reading it: "STAGE: ERROR" and a traceback each
    """

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.headers: list[Field] = []
        self.header_sizes: list[int] = []
        self.parts: list[Part] = []
        self.structure: list[str] = []
        self.defects: list[str] = []
        self.failures: list[str] = []
        self.body_bytes = 0

    def get(self, name: str) -> str | None:
        """The first value of a field, by lower-case name."""
        for field, value in self.headers:
            if field == name:
                return value
        return None
