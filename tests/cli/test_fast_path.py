"""What a fresh `nbspam classify` loads: the installed command, asked at its end for sys.modules.

Every delivery of a mail is a fresh process, and what it imports is most of its time.
"""

import os
import subprocess
from pathlib import Path

import pytest

FORBIDDEN = frozenset(
    (
        *("click", "rich", "numpy", "scipy", "regex", "dask", "sqlite3", "datetime", "hashlib", "_hashlib"),
        *("re", "argparse", "optparse", "getopt", "typing", "dataclasses", "enum", "inspect", "ast"),
        *("email", "json", "html", "html.parser", "urllib", "urllib.parse", "base64", "quopri", "mailbox"),
        *("contextlib", "traceback", "warnings", "logging", "tempfile", "shutil", "pathlib", "subprocess"),
        *("threading", "socket", "multiprocessing", "random"),
        *("importlib.metadata", "pkg_resources", "string", "struct", "unicodedata", "locale", "gettext"),
    )
)
PATTERNS = {"re", "enum"}  # of the Python reader
FORBIDDEN_ROOMS = ("nbspam.evaluation", "nbspam.corpus", "nbspam.serve")
MOST_MODULES = 30  # of our own, for one plain mail; the number goes down only
MOST_WITH_CORE = 19

# Runs the installed script, and names at its end the modules that it has loaded.
_WATCH = """\
import os, sys
at_start = set(sys.modules)
leave = os._exit
def told(status):
    sys.stdout.flush()
    sys.stderr.write("LOADED " + " ".join(sorted(set(sys.modules) - at_start)))
    sys.stderr.flush()
    leave(status)
os._exit = told
script = sys.argv.pop(1)
with open(script) as file:
    code = file.read()
exec(compile(code, script, "exec"))
"""
MAIL = b"From: a@host.example\nSubject: minutes\nDate: Mon, 3 Jun 2024 10:00:00 +0200\n\nPlain words.\n"
HTML = MAIL.replace(
    b"\n\n", b"\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>See <a href=http://x.example/>here</a> "
)
CYRILLIC = MAIL.replace(b"\n\n", b"\nContent-Type: text/plain; charset=utf-8\n\n") + "Привет, мир\n".encode()
FROM_LINE = b"From a@b.example Mon Jun  3 10:00:00 2024\n"


def loaded(
    installed: Path, tmp_path: Path, *arguments: str | Path, mail: bytes, reader: str = "no"
) -> tuple[bytes, set[str]]:
    """stdout and the modules loaded.  reader : of NBSPAM_CORE"""
    watch = tmp_path / "watch.py"
    watch.write_text(_WATCH)
    command = [installed.parent / "python", "-I", watch, installed, *arguments]
    environment = os.environ | {"NBSPAM_CORE": reader}
    done = subprocess.run(command, input=mail, capture_output=True, env=environment)
    said, marker, names = done.stderr.decode().rpartition("LOADED ")
    assert (marker, said) == ("LOADED ", "")
    return done.stdout, set(names.split())


def own(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "nbspam"}


@pytest.mark.parametrize(
    "options", [[], ["-p"], ["--exit-code"], ["-p", "--spam-flag", "--exit-style", "bogofilter"]]
)
def test_a_plain_mail_loads_few_modules_and_nothing_heavy(
    installed: Path, data_model: Path, tmp_path: Path, options: list[str]
) -> None:
    output, names = loaded(installed, tmp_path, "classify", *options, "-m", data_model, mail=MAIL)
    assert b"am" in output  # ham or spam
    assert "nbspam.filter" in names
    assert names & FORBIDDEN == PATTERNS
    assert [name for name in names if name.startswith(FORBIDDEN_ROOMS)] == []
    assert {"nbspam.mail.html", "nbspam.tokens.unicode_words", "nbspam.tokens.numeric"} & names == set()
    assert len(own(names)) <= MOST_MODULES, sorted(own(names))


def test_the_compiled_core_needs_still_fewer(installed: Path, data_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("nbspam_core", reason="no compiled core is installed: make core")
    for mail in (MAIL, HTML, FROM_LINE + MAIL):
        output, names = loaded(installed, tmp_path, "classify", "-m", data_model, mail=mail, reader="require")
        assert b"am" in output
        assert names & FORBIDDEN == set()
        assert [name for name in names if name.startswith("nbspam.mail")] == []
        assert len(own(names)) <= MOST_WITH_CORE, sorted(own(names))


@pytest.mark.parametrize(
    ("mail", "needed", "heavy"),
    [
        (HTML, {"nbspam.mail.html"}, set()),
        (CYRILLIC, set(), {"unicodedata"}),
        (FROM_LINE + MAIL + b"\n", set(), set()),
    ],
    ids=["html", "cyrillic", "from-line"],
)
def test_other_mail_loads_what_it_needs(
    installed: Path, data_model: Path, tmp_path: Path, mail: bytes, needed: set[str], heavy: set[str]
) -> None:
    output, names = loaded(installed, tmp_path, "classify", "-p", "-m", data_model, mail=mail)
    assert needed <= names
    assert names & FORBIDDEN == heavy | PATTERNS
    assert b"X-Nbspam: " in output


def test_learning_a_mail_loads_no_click_and_nothing_heavy(
    installed: Path, model: Path, tmp_path: Path
) -> None:
    output, names = loaded(installed, tmp_path, "learn", "spam", "-q", "-m", model, mail=MAIL)
    assert output == b"learned\t-\n"
    assert names & FORBIDDEN <= {"struct", "contextlib"} | PATTERNS
    assert [name for name in names if name.startswith(("nbspam.evaluation", "nbspam.serve"))] == []
