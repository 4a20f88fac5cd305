"""Examples of what small functions make of a text, one a line: examples.txt.

A line is `SOURCE → RESULT`, below the [section] of its function; `# ` begins a remark, and escapes.py has the
escapes.  `python -m tests.laws.test_examples` writes the results anew; read the diff.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.cards import read_card
from nbspam.mail.charset import decode, look_up_codec
from nbspam.mail.dates import parse_date
from nbspam.mail.encoded_words import decode_words
from nbspam.mail.headers import parse_parameters
from nbspam.mail.html.entities import decode_references
from nbspam.mail.html.reader import read_html
from nbspam.mail.transfer import decode_base64
from nbspam.tokens.addresses import normalise_ipv4
from nbspam.tokens.measures import count_telephone_numbers, has_unnamed_origin
from nbspam.tokens.structure import cut_urls, read_url
from nbspam.tokens.words import has_zero_width, split_words
from tests.laws.escapes import escape, unescape

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
    """The fields, the texts, and the defects."""
    mail = parse(source)
    fields = (f"{name}={value}" for name, value in mail.headers)
    return [*fields, *(f'"{part.text.rstrip()}"' for part in mail.parts), *mail.defects]


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


OF_TEXT: dict[str, Callable[[str], object]] = {
    "page": read_page,
    "links": read_links,
    "words of a page": lambda source: split_words(read_html(source).visible, 99),
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
}
OF_BYTES: dict[str, Callable[[bytes], object]] = {
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
    return show(OF_BYTES[section](data) if section in OF_BYTES else OF_TEXT[section](data.decode()))


def examples(section: str) -> list[str]:
    text = EXAMPLES.read_text("utf-8").partition(f"[{section}]\n")[2].partition("\n\n")[0]
    return [line for line in text.splitlines() if not line.startswith("# ")]


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
        section = line[1:-1] if re.fullmatch(r"\[[a-z0-9 ]+\]", line) else section
        source = line.partition(ARROW)[0]
        lines.append(f"{source}{ARROW}{result(section, source)}" if ARROW in line else line)
    EXAMPLES.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    record()
