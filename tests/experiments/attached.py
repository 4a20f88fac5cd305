"""What the text of attached documents is worth, and as what it should be read.

    make experiment-attached

Every second message of SpamAssassin's train.index trains.  Of the others, messages are judged with all of
their text in a document, beside a line that says so, and ham with the document of another beside its text.
No message of the corpus has a document, so these are made.  Nothing here looks at a message of test.index.
"""

from __future__ import annotations

import io
import random
import tempfile
import textwrap
import zipfile
import zlib
from base64 import encodebytes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from nbspam import tokens
from nbspam.labels import HAM, SPAM
from nbspam.mail.message import Document, Part
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.tokens.words import words
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.training import train
from tests.experiments.hostile import Spam, taken_apart
from tests.experiments.lab import corpus_folder

LINE = 90  # characters of a line of a page
PAGE = 60  # lines of a page


def pdf_of(text: str) -> bytes:
    """A page for every sixty lines, packed, in a font that every viewer has; other letters become "?"."""
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, LINE) or [""]]
    pages = [lines[at : at + PAGE] for at in range(0, max(len(lines), 1), PAGE)]
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for page, shown in enumerate(pages):
        drawn = (
            "BT /F1 10 Tf 12 TL 50 780 Td " + " ".join(f"({_escaped(line)}) Tj T*" for line in shown) + " ET"
        )
        packed = zlib.compress(drawn.encode("cp1252", "replace"))
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {fonts} /Contents {5 + 2 * page} 0 R >>".encode())
        objects.append(
            b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed)
        )
    numbered = [b"%d 0 obj\n%s\nendobj\n" % (number, each) for number, each in enumerate(objects, 1)]
    return b"%PDF-1.4\n" + b"".join(numbered) + b"trailer << /Root 1 0 R >>\n%%EOF\n"


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def docx_of(text: str) -> bytes:
    """A paragraph for every line, each in two runs."""
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    run = "<w:r><w:t xml:space='preserve'>%s</w:t></w:r>"
    paragraphs = "".join(f"<w:p>{run % line[:7]}{run % line[7:]}</w:p>" for line in shown.splitlines())
    document = f"<w:document><w:body>{paragraphs}</w:body></w:document>"
    return archive({"[Content_Types].xml": "<Types/>", "word/document.xml": document})


def archive(files: Mapping[str, bytes | str], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return made.getvalue()


COVER = "Please see the attached file.\n"
KINDS: dict[str, tuple[str, Callable[[str], bytes]]] = {  # ending of the name, maker
    "pdf": ("application/pdf", pdf_of),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", docx_of),
}
Reading = Callable[[Document], list[str]]  # tokens of the structure; it may change the text that is read


def kept(_: Document) -> list[str]:
    """As words of the text."""
    return []


def first(limit: int) -> Reading:
    """Only so many characters."""

    def shortened(document: Document) -> list[str]:
        document.text = document.text[:limit]
        return []

    return shortened


def as_own_words(document: Document) -> list[str]:
    """Words of a document apart from those of texts."""
    found = ["document=" + word for word in words(document.text, 1_000)]
    document.text = ""
    return found


READINGS: dict[str, Reading] = {
    "kept: as words of the text": kept,
    "the first 1,000 characters": first(1_000),
    "as words of their own": as_own_words,
    "not read": first(0),
}


@contextmanager
def read_as(reading: Reading) -> Iterator[None]:
    """Documents are read otherwise for a while: their own tokens are made before their text is read."""
    part_tokens = tokens.part_tokens

    def with_reading(part: Part) -> list[str]:
        return [*part_tokens(part), *(reading(part.document) if part.document else [])]

    with mock.patch.object(tokens, "part_tokens", with_reading):
        yield


def attached(mail: Spam, shown: str, text: str, kind: str) -> bytes:
    """A mail with a document beside what it shows."""
    content_type, make = KINDS[kind]
    file = "Content-Transfer-Encoding: base64\n\n" + encodebytes(make(text)).decode()
    body = (
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        f"Content-Type: text/plain; charset=utf-8\n\n{shown}\n--b\nContent-Type: {content_type}\n"
        f"Content-Disposition: attachment; filename=scan.{kind}\n{file}--b--\n"
    )
    return mail.header + body.encode("utf-8", "replace")


def labelled(mails: Iterable[tuple[str, bytes]], folder: Path) -> list[Item]:
    """Messages with their labels, kept in this folder, as those of an index are."""
    lines = []
    for number, (label, data) in enumerate(mails):
        (folder / f"{number}").write_bytes(data)
        lines.append(f"{label} {number}\n")
    (folder / "index").write_text("".join(lines))
    return list(open_labelled([str(folder / "index")]).items())


def with_documents(items: list[Item]) -> Iterator[tuple[str, bytes]]:
    """The same messages with their labels, a third of them with their text in a document."""
    for number, item in enumerate(items):
        data, apart = item.read(), taken_apart(item.read())
        if number % 3 == 0:
            data = attached(apart, COVER, apart.text, list(KINDS)[number // 3 % 3])
        yield item.label, data


def judged(items: list[Item]) -> dict[str, list[bytes]]:
    """What is judged, by what it is."""
    draw = random.Random(6)
    spam = [taken_apart(item.read()) for item in items if item.label == SPAM]
    ham = [taken_apart(item.read()) for item in items if item.label == HAM]
    mails = {f"spam in {kind}": [attached(one, COVER, one.text, kind) for one in spam] for kind in KINDS}
    mails["ham in pdf"] = [attached(one, COVER, one.text, "pdf") for one in ham]
    mails["ham beside a ham in pdf"] = [attached(one, one.text, draw.choice(ham).text, "pdf") for one in ham]
    return mails


def wrong(model: str, mails: dict[str, list[bytes]]) -> list[int]:
    """Spam that is not called so, ham that is."""
    classifier = open_classifier(model)
    found = []
    for name, messages in mails.items():
        is_spam = name.startswith("spam")
        labels = [classifier.judge(classifier.counted(data), "").label for data in messages]
        found.append(sum((label == SPAM) != is_spam for label in labels))
    return found


def main() -> None:
    """Prints the table."""
    folder = corpus_folder("spamassassin", "sa")
    items = list(open_labelled([str(folder / "train.index")]).items())
    past, mails = items[::2], judged(items[1::2])
    numbers = ", ".join(f"{len(messages)} {name}" for name, messages in mails.items())
    print(f"SpamAssassin train.index, every second message trains; judged: {numbers}\n")
    print("| |", " | ".join(mails), "|")
    print("|---|" + "---:|" * len(mails))
    with tempfile.TemporaryDirectory() as scratch:
        trained = {
            "no documents": past,
            "a third in documents": labelled(with_documents(past), Path(scratch)),
        }
        for told, messages in trained.items():
            for name, reading in READINGS.items():
                with read_as(reading):
                    model = f"{scratch}/model-{told}-{name}"
                    train(messages, (HAM, SPAM), model, Settings())
                    print(f"| {told}; {name} |", " | ".join(map(str, wrong(model, mails))), "|", flush=True)


if __name__ == "__main__":
    main()
