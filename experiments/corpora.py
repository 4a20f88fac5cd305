"""The corpora that experiments read; NBSPAM_CORPORA names the folder of their archives."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import unpacked


def corpus_folder(archive: str, top: str) -> Path:
    """The unpacked corpus; ends the program if its archive is missing."""
    folder = unpacked(archive, top)
    if folder is None:
        raise SystemExit(f"{archive}.tar.xz: set NBSPAM_CORPORA to the folder of the archives")
    return folder
