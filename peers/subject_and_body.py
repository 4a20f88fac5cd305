"""A copy of labelled mail with the subject and what the body needs only.

    python -m peers.subject_and_body SOURCE FOLDER

Where a corpus was put together from two places, its header fields give the class away.  What stays:
Subject, MIME-Version and the Content- fields of the header; the body byte for byte.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nbspam.corpus.labelled import open_labelled

KEPT = (b"subject:", b"mime-version:", b"content-")


def cut_down(data: bytes) -> bytes:
    """The message without the other header fields; continued lines go with their field."""
    lines = data.splitlines(keepends=True)
    kept: list[bytes] = []
    keeping = False
    for number, line in enumerate(lines):
        if not line.strip(b"\r\n"):
            return b"".join([*kept, *lines[number:]])
        if not line.startswith((b" ", b"\t")):
            keeping = line.lower().startswith(KEPT)
        if keeping:
            kept.append(line)
    return b"".join(kept) + b"\n"


def main() -> None:
    source, folder = open_labelled([sys.argv[1]]), Path(sys.argv[2])
    with (_made(folder) / "index").open("w") as index:
        for number, item in enumerate(source.items()):
            path = _made(folder / item.label) / f"{number:06}"
            path.write_bytes(cut_down(item.read()))
            index.write(f"{item.label} {item.label}/{path.name}\n")


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    main()
