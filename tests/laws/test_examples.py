"""Examples of what small functions make of a text, one a line: examples.txt.

A line is `SOURCE → RESULT`, below the [section] of its function; `# ` begins a remark, and escapes.py has the
escapes.  `python -m tests.laws.test_examples` writes the results anew; read the diff.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.cli.reasons import list_reasons
from nbspam.corpus.folder_names import decode_name, recognise
from nbspam.corpus.mbox import has_date
from nbspam.corpus.trees import clean_name
from nbspam.decision import Verdict, describe_loss, parse_loss, parse_matrix, zero_one_loss
from nbspam.errors import NbspamError
from nbspam.explain import Clue
from nbspam.labels import HAM_AND_SPAM
from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.cards import read_card
from nbspam.mail.charset import decode, look_up_codec
from nbspam.mail.dates import parse_date
from nbspam.mail.encoded_words import decode_words
from nbspam.mail.headers import find_blank_line, find_header, parse_parameters
from nbspam.mail.html.entities import decode_references
from nbspam.mail.html.reader import read_html
from nbspam.mail.leaf import read_document
from nbspam.mail.message import Part
from nbspam.mail.transfer import decode_base64
from nbspam.model.posterior import Scored
from nbspam.passthrough import format_fields, mark_message
from nbspam.tokens import read
from nbspam.tokens.measures import count_telephone_numbers, has_unnamed_origin
from nbspam.tokens.structure import cut_urls, normalise_ipv4, read_url
from nbspam.tokens.words import has_zero_width, split_words
from tests.laws.escapes import escape, read_lines, unescape
from tests.mail.test_attachments import docx_of, member
from tests.mail.test_pdf import page_of
from tests.test_senders import DMARC, OWN, judge
from tests.tokens.test_texts import ALTERNATIVE

EXAMPLES = Path(__file__).with_name("examples.txt")
ARROW = " → "


def read_page(source: str) -> list[str]:
    """What is seen, and what is hidden."""
    page = read_html(source)
    return [" ".join(page.visible.split()), *filter(None, ["".join(page.hidden.split())])]


def read_links(source: str) -> list[str]:
    """Addresses with the texts of the links, and those of images."""
    page = read_html(source)
    links = [f"{target} {text}".strip() for target, text in page.links]
    return links + [f"image {address}" for address in page.images]


def list_parameters(source: str) -> list[str]:
    return [f"{name}={value}" for name, value in parse_parameters(source, Allowance())[1].items()]


def read_message(source: bytes) -> list[str]:
    """The fields, the kinds of all parts, what is shown of each leaf, and the defects."""
    mail = parse(source)
    fields = [f"{name}={value}" for name, value in mail.headers if not name.startswith("content-")]
    kinds = [" > ".join(mail.structure)] if len(mail.structure) > 1 else []
    return [*fields, *kinds, *map(describe_part, mail.parts), *mail.defects]


def describe_part(part: Part) -> str:
    """Its kind, its name and its text; a file of which nothing is shown has a size."""
    kind = part.content_type + " as HTML" * part.is_html + " (another part is shown)" * part.is_replaced
    names = [*filter(None, [part.filename]), *(f"message {name}" for name in part.embedded_names)]
    shown = f'"{part.text.rstrip()}"' if part.text or not part.size_bytes else f"{part.size_bytes} bytes"
    return " ".join([kind, *names, shown])


def read_charset(source: bytes) -> list[str]:
    """Of LABEL: BYTES, or of LABEL<CODEC: TEXT to encode: the text, and by which codec it is read."""
    label, _, payload = source.partition(b": ")
    declared, _, codec = label.decode().partition("<")
    if codec:
        payload = payload.decode().encode(codec)
    return [*decode(payload, declared, Allowance())]


def read_base64(source: bytes) -> list[str]:
    allowance = Allowance()
    return [decode_base64(source, allowance).decode(), *allowance.defects]


def find_origin(source: str) -> float | None:
    """Of hops, with | between them."""
    hops = "".join(f"Received: {hop}\n" for hop in source.split("|"))
    value = has_unnamed_origin(parse(hops.encode() + b"\nx"))
    return None if value is None else float(value)


def read_file_name(source: str) -> list[str]:
    """What the name of an attached file says."""
    field = f'Content-Disposition: attachment; filename="{source}"\nContent-Type: application/octet-stream'
    return [
        token for token in read(f"{field}\n\nMZ".encode()).structure if token.startswith(("ending=", "file="))
    ]


def find_ends(source: bytes) -> list[int]:
    """Where the header begins, and where the body."""
    start = find_header(source)
    return [start, find_blank_line(source, start)[1]]


def tell_reasons(source: str) -> str:
    """Of clues VIEW:TOKEN."""
    clues = (clue.split(":", 1) for clue in source.split())
    return list_reasons([Clue(token, view, 1.0, (), (), 1, None, "token") for view, token in clues], 3)


def mark(source: bytes) -> str:
    """With our header field as |."""
    verdict = Verdict("", Scored([0.0, 0.0], []), HAM_AND_SPAM, zero_one_loss(2))
    return mark_message(source, verdict).replace(format_fields(verdict).encode(), b"|").decode()


def list_names(source: str) -> list[str]:
    """Of an archive, after CODEC: and with | between them."""
    codec, _, names = source.partition(": ")
    return read_document(b"".join(member(name.encode(codec)) for name in names.split("|")), Allowance()).names


def read_shown(payload: bytes) -> str:
    return " ".join(read_document(payload, Allowance()).text.split())


def read_alternative(source: str) -> list[str]:
    """The words of plain text | HTML, and what is said of the two."""
    text, html = source.encode().split(b" | ")
    found = read(ALTERNATIVE % (text, html))
    return [" ".join(found.body), *(token for token in found.structure if token == "alternative=#differs")]


def read_event(line: str) -> str:
    event = f"BEGIN:VCALENDAR\n{line}<style>\nSUMMARY:Apple <day\nURL:http://lake.example/\nEND:VCALENDAR"
    return " ".join(read(f"Content-Type: text/calendar\n\n{event}".encode()).body)


OF_TEXT: dict[str, Callable[[str], object]] = {
    "page": read_page,
    "links": read_links,
    "words of a page": lambda source: split_words(read_html(source).visible, 99),
    "words of a page split by nothing": lambda source: read_html(source).joined,
    "plain text and HTML": read_alternative,
    "value of a calendar": read_event,
    "references": decode_references,
    "references in an attribute": lambda source: decode_references(source, True),
    "encoded words": lambda source: decode_words(source, Allowance()),
    "parameters": list_parameters,
    "date": parse_date,
    "codec": look_up_codec,
    "card": lambda source: read_card(f"BEGIN:VCARD\n{source}\nEND:VCARD", Allowance())[0],
    "words": lambda source: split_words(source, 99),
    "words split by invisible characters": has_zero_width,
    "addresses": lambda source: cut_urls(source)[1],
    "tokens of an address": lambda source: read_url(source)[0],
    "host in numbers": normalise_ipv4,
    "telephone numbers": count_telephone_numbers,
    "unnamed origin": find_origin,
    "folder": lambda source: recognise(decode_name(source)),
    "folder of a program": lambda source: recognise(clean_name(source)),
    "date of a From line": lambda source: has_date(source.encode()),
    "results of the own server": lambda source: judge(
        f"Authentication-Results: {OWN} 1;\r\n\t{source}", "From: Ann <ann@example.org>"
    ),
    "header lines of a sender": lambda source: judge(*source.split("\n")),
    "verified From": lambda source: judge(DMARC, f"From: {source}"),
    "file name": read_file_name,
    "reasons": tell_reasons,
    "drawn in a PDF": lambda source: read_shown(page_of(source)),
    "names in an archive": list_names,
    "costs": lambda source: describe_loss(parse_loss(source), HAM_AND_SPAM),
    "costs in a matrix": lambda source: describe_loss(parse_matrix(source, HAM_AND_SPAM), HAM_AND_SPAM),
    "body of a docx": lambda source: read_shown(docx_of(source)),
}
OF_BYTES: dict[str, Callable[[bytes], object]] = {
    "header": find_ends,
    "passthrough": mark,
    "message": read_message,
    "charset": read_charset,
    "base64": read_base64,
}


def show(value: object) -> str:
    if isinstance(value, list):
        return " ¦ ".join(map(show, value))
    return escape(f"{value:.12g}" if isinstance(value, float) else str(value)) or '""'


def result(section: str, source: str) -> str:
    data = unescape(source)
    try:
        return show(OF_BYTES[section](data) if section in OF_BYTES else OF_TEXT[section](data.decode()))
    except NbspamError as error:
        return escape(f"[{error.slug}] {error.why}")


def examples(section: str) -> list[str]:
    return [line for line in read_lines(EXAMPLES)[section] if not line.startswith("# ")]


def sources(section: str) -> list[str]:
    return [line.partition(ARROW)[0] for line in examples(section)]


@pytest.mark.parametrize("section", [*OF_TEXT, *OF_BYTES])
def test_examples_are_as_written_down(section: str) -> None:
    lines = examples(section)
    assert lines
    assert [f"{source}{ARROW}{result(section, source)}" for source in sources(section)] == lines


def record() -> None:
    section, lines = "", []
    for line in EXAMPLES.read_text("utf-8").splitlines():
        section = line[1:-1] if line[1:-1] in OF_TEXT | OF_BYTES else section
        source = line.partition(ARROW)[0]
        lines.append(f"{source}{ARROW}{result(section, source)}" if ARROW in line else line)
    EXAMPLES.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    record()
