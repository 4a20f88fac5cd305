"""The same mail gives the same tokens on every Python, and with later tables of Unicode.

Each other Python of the machine runs this file as a program, which prints a digest of what it reads.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

from nbspam.mail.message import pin
from nbspam.mail.unicode_14 import is_known
from nbspam.tokens import characters, read
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC, RAW, SIGNATURE

ROOT = Path(__file__).resolve().parents[2]
CODE_POINTS = [*range(0xD800), *range(0xE000, 0x110000)]


def digest_characters() -> str:
    """All that is asked of a character, for all of them."""
    every = "".join(map(chr, CODE_POINTS))
    pinned = pin(every)
    digest = hashlib.sha256("".join(map(characters.convert, every)).encode())
    digest.update(pinned.lower().encode())
    for ask in (str.isalpha, str.isalnum, str.isupper, str.isdigit):
        digest.update(bytes(map(ask, pinned)))
    return digest.hexdigest()


def digest_golden_messages() -> str:
    digest = hashlib.sha256()
    for path in sorted((ROOT / "tests" / "golden").glob("*.eml")):
        tokens = read(path.read_bytes(), (BIGRAMS, RAW, MEASURES, SIGNATURE, NUMERIC, DATE))
        views = tokens.views()
        digest.update(repr((views, tokens.numeric, tokens.date, tokens.failures)).encode())
    return digest.hexdigest()


def find_pythons() -> dict[str, str]:
    """Version -> program, of each Python since 3.11 in the PATH or of pyenv, except the one that runs."""
    names = [f"python3{minor}" for minor in ("", ".11", ".12", ".13", ".14")]
    programs = [program for name in names if (program := shutil.which(name))]
    programs += map(str, (Path.home() / ".pyenv" / "versions").glob("3.*/bin/python"))
    found: dict[str, str] = {}
    for program in [*programs, "/usr/bin/python3"]:
        command = [program, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        version = asked.stdout.strip()
        if asked.returncode == 0 and tuple(map(int, version.split("."))) >= (3, 11):
            found.setdefault(version, program)
    found.pop("{}.{}.{}".format(*sys.version_info), None)
    return found


if __name__ == "__main__":
    print(digest_characters(), digest_golden_messages())
else:
    import pytest

    @pytest.mark.slow
    def test_every_python_reads_the_same() -> None:
        pythons = find_pythons()
        if not pythons:
            pytest.skip("this machine has no other Python since 3.11")
        ours = f"{digest_characters()} {digest_golden_messages()}"
        for version, program in pythons.items():
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            command = [program, __file__]
            other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            assert other.stdout.strip() == ours, version

    def test_later_tables_of_unicode_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
        reason = "not installed: unicodedata2, the tables of a later Unicode; pip installs it"
        later = pytest.importorskip("unicodedata2", reason=reason)
        ours = [characters.convert(chr(code)) for code in CODE_POINTS]
        monkeypatch.setattr(characters, "unicodedata", later)
        assert [characters.convert(chr(code)) for code in CODE_POINTS] == ours

    @pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")
    def test_the_table_has_the_characters_of_unicode_14() -> None:
        assert all(is_known(chr(code)) == (unicodedata.category(chr(code)) != "Cn") for code in CODE_POINTS)
