"""What a fresh `nbspam classify` loads: the real, installed command, asked at its end for sys.modules.

Every mail of a procmail recipe is a fresh process, and what it imports is most of its time; so times are
not asserted here, modules are.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nbspam.cli import classify
from nbspam.corpus.item import PACKED_START

FORBIDDEN = frozenset(
    (
        *("click", "rich", "numpy", "scipy", "regex", "dask", "sqlite3", "datetime", "hashlib", "_hashlib"),
        *("re", "argparse", "optparse", "getopt", "typing", "dataclasses", "enum", "inspect", "ast"),
        *("email", "json", "html", "html.parser", "urllib", "urllib.parse", "base64", "quopri", "mailbox"),
        *("collections", "collections.abc", "functools", "contextlib", "traceback", "warnings", "logging"),
        *("tempfile", "shutil", "pathlib", "subprocess", "threading", "socket", "multiprocessing", "random"),
        *("importlib.metadata", "pkg_resources", "string", "struct", "unicodedata", "locale", "gettext"),
    )
)
# Our own rooms that one mail has no business in.
FORBIDDEN_ROOMS = ("engine", "models", "evaluation", "vectorize", "sources", "serve")

# Runs the installed script as it is, and says at its end what it has loaded beyond the interpreter's own.
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


@pytest.fixture(scope="module")
def model(installed: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lane") / "model.nbspam"
    subprocess.run([installed, "train", data, "-m", path, "--quiet"], check=True)
    return path


def run(
    installed: Path, tmp_path: Path, arguments: list[str | Path], mail: bytes
) -> tuple[int, bytes, set[str]]:
    """Exit status, stdout and the modules loaded."""
    watch = tmp_path / "watch.py"
    watch.write_text(_WATCH)
    command = [installed.parent / "python", "-I", watch, installed, *arguments]
    done = subprocess.run(command, input=mail, capture_output=True)
    said, marker, loaded = done.stderr.decode().rpartition("LOADED ")
    assert marker == "LOADED ", said
    assert said == ""
    return done.returncode, done.stdout, set(loaded.split())


@pytest.mark.parametrize(
    "options", [[], ["-p"], ["--exit-code"], ["-p", "--spam-flag"], ["-p", "--exit-code"]]
)
def test_one_plain_mail_loads_nothing_heavy(
    installed: Path, model: Path, tmp_path: Path, options: list[str]
) -> None:
    _, output, loaded = run(installed, tmp_path, ["classify", *options, "-m", model], MAIL)
    assert b"am" in output  # ham or spam
    assert "nbspam.filter" in loaded
    assert loaded & FORBIDDEN == set()
    assert {
        name for name in loaded if name.split(".")[1:2] and name.split(".")[1] in FORBIDDEN_ROOMS
    } == set()


def test_an_html_mail_loads_nothing_heavy(installed: Path, model: Path, tmp_path: Path) -> None:
    status, _, loaded = run(installed, tmp_path, ["classify", "-m", model], HTML)
    assert status == 0
    assert "nbspam.mail.html" in loaded
    assert loaded & FORBIDDEN == set()


def test_text_beyond_ascii_loads_the_character_table_and_no_more(
    installed: Path, model: Path, tmp_path: Path
) -> None:
    status, _, loaded = run(installed, tmp_path, ["classify", "-m", model], CYRILLIC)
    assert status == 0
    assert loaded & FORBIDDEN == {"unicodedata"}


def test_plain_mail_does_not_load_html_and_unicode(installed: Path, model: Path, tmp_path: Path) -> None:
    _, _, loaded = run(installed, tmp_path, ["classify", "-m", model], MAIL)
    assert {
        "nbspam.mail.html",
        "nbspam.tokens.unicode_words",
        "nbspam.tokens.numeric",
    } & loaded == set()


@pytest.mark.parametrize(
    ("quoted", "needed"),
    [(b"", set()), (b">From here\n", {"nbspam.corpus.mbox"})],
)
def test_a_mail_behind_a_from_line_loads_what_knows_mailboxes_only_for_its_quoting(
    installed: Path, model: Path, tmp_path: Path, quoted: bytes, needed: set[str]
) -> None:
    data = b"From a@b.example Mon Jun  3 10:00:00 2024\n" + MAIL + quoted + b"\n"
    _, output, loaded = run(installed, tmp_path, ["classify", "-p", "-m", model], data)
    assert {name for name in loaded if name.startswith("nbspam.corpus.")} == needed
    assert quoted or loaded & FORBIDDEN == set()
    first, rest = data.split(b"\n", 1)
    assert output.startswith(first + b"\nX-Nbspam: ")
    assert output.endswith(b'"\n' + rest)


def test_what_the_lane_takes_for_packed_is_all_that_is_told_by_its_first_bytes() -> None:
    for start in PACKED_START:
        assert start.startswith(classify._PACKED)
    for start in classify._PACKED:
        assert any(whole.startswith(start) for whole in PACKED_START)


def test_the_watch_sees_what_click_loads(installed: Path, tmp_path: Path) -> None:
    """The test above can fail: --help goes to click, and is seen.

    Only click is asked for: a Python whose site-packages hold .pth files may start with typing loaded.
    """
    _, _, loaded = run(installed, tmp_path, ["classify", "--help"], b"")
    assert {"click", "click.core"} <= loaded


def test_the_lane_and_click_give_the_same_verdict(installed: Path, model: Path, tmp_path: Path) -> None:
    _, by_lane, quick = run(installed, tmp_path, ["classify", "-m", model], MAIL)
    _, by_click, slow = run(installed, tmp_path, ["classify", f"-m{model}"], MAIL)
    assert ("click" in quick, "click" in slow) == (False, True)
    assert by_lane == by_click


def test_loading_sqlite_leaves_the_standard_modules_whole() -> None:
    code = (
        "import nbspam.store.connection, sys\n"
        "assert 'functools' not in sys.modules\n"
        "import functools, sqlite3\n"
        "assert functools.wraps and functools.lru_cache(None)(abs)(-1) == 1\n"
        "assert sqlite3.Error is nbspam.store.connection.sqlite3.Error\n"
        "ask = sqlite3.connect(':memory:').execute\n"
        "assert [ask('select 1').fetchone() for _ in range(3)] == [(1,)] * 3\n"
    )
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"], check=True
    )
