"""README and manual do what they say: their blocks are run, their command lines and tables checked.

A console block under `<!-- run -->` is typed into a shell, in a folder that holds data/; the blocks of a page
share a model, which is trained on data/.  In the expected output a line `...` is any lines; NBSPAM_RECORD=1
writes what the program printed into the pages.  `<!-- first: COMMAND -->` before a block prepares it.
Recipes (`<!-- recipe: NAME -->`) are run by tests/deploy.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from difflib import get_close_matches
from pathlib import Path

import click
import pytest

from nbspam import errors
from nbspam.__main__ import INTERRUPTED
from nbspam.cli.classify import BOGOFILTER_ERROR, EXIT_CODES
from nbspam.cli.commands import COMMANDS, program
from tests.deploy.recipes import recipe
from tests.tiny_mail import type_line

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("docs/*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
RUN = re.compile(r"(?:<!-- first: ([^\n]*) -->\n)?<!-- run -->\n```console\n(.*?)```\n", re.DOTALL)
RUNS = {page: blocks for page, text in TEXTS.items() if (blocks := RUN.findall(text))}
# What ends a command in a shell, or is a comment of the page.
AFTER_COMMAND = re.compile(r"\s+(?:[|<>&]|2>|#)|;| {3,}")


def steps(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of a console block."""
    pieces = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


def as_pattern(expected: str) -> str:
    """A regular expression: `...` alone on a line is any lines."""
    lines = ["(?:.*\n)*" if line == "...\n" else re.escape(line) for line in expected.splitlines(True)]
    return "".join(lines)


def settle(shown: str, home: Path) -> str:
    """What was shown, as ana's home and on the day of the manual."""
    shown = re.sub(" +$", "", shown, flags=re.MULTILINE)  # rich fills lines
    shown = shown.replace(str(home), "/home/ana").replace(str(ROOT), "/home/ana")
    shown = re.sub(rf"{date.today()}([ T])\d\d:\d\d", r"2026-11-24\g<1>09:30", shown)
    return re.sub(r"(T09:30):\d\dZ", r"\1:00Z", shown.replace(str(date.today()), "2026-11-24"))


def check_shown(page: str, command: str, expected: str, shown: str) -> None:
    """Compare what a page shows with what the program writes; with NBSPAM_RECORD=1 write it into the page."""
    if not re.fullmatch(as_pattern(expected), shown) and os.environ.get("NBSPAM_RECORD"):
        new, rest = "", shown.splitlines(True)
        for line in expected.splitlines(True) if "...\n" in expected else []:
            if line != "...\n":
                (line,) = get_close_matches(line, rest, 1, 0)
                rest = rest[rest.index(line) + 1 :]
            new += line
        text = (ROOT / page).read_text(encoding="utf-8")
        old = f"$ {command}\n{expected}"
        assert text.count(old) == 1, old
        (ROOT / page).write_text(text.replace(old, f"$ {command}\n{new or shown}"), encoding="utf-8")
        return
    assert re.fullmatch(as_pattern(expected), shown), f"$ {command}\n{shown}"


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNS)
def test_console_blocks_print_as_shown(
    page: str, data_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "data", tmp_path / "data")
    model = tmp_path / ".local/share/nbspam/model.nbspam"
    for name, value in {"HOME": tmp_path, "LC_ALL": "C.UTF-8"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("NBSPAM_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    if "$ nbspam train" not in RUNS[page][0][1]:
        model.parent.mkdir(parents=True)
        shutil.copy(data_model, model)
    for first, block in RUNS[page]:
        assert type_line(first).returncode == 0
        for command, expected in steps(block):
            shown = settle(type_line(command).stdout.decode(), tmp_path)
            check_shown(page, command, expected, shown)


def test_no_sample_output_has_dots_in_place_of_figures() -> None:
    blocks = re.findall(r"-->\n```console\n(.*?)```\n", "".join(TEXTS.values()), re.DOTALL)
    outputs = [expected for block in blocks for _, expected in steps(block)]
    lines = "".join(outputs).splitlines()
    assert [line for line in lines if "..." in line and line != "..."] == []
    assert set(re.findall(r"```console\n.*?```\n", "".join(TEXTS.values()), re.DOTALL)) == {
        f"```console\n{block}```\n" for block in blocks
    }


@pytest.mark.slow
def test_every_page_installs_the_program_and_again_by_the_same_commands(wheel: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"<!-- install -->\n```sh\n(.*?)```\n", "".join(TEXTS.values()), re.DOTALL)
    assert len(blocks) == 2
    (commands,) = {*blocks}
    # The packages that nbspam needs are big, and `classify` does without them.
    assert commands.count("pip install .") == 1
    commands = commands.replace("pip install .", f"pip install -q --no-deps {wheel}")
    environment = {**os.environ, "HOME": str(tmp_path)}
    for _ in range(2):
        subprocess.run(["sh", "-ec", commands], env=environment, check=True, timeout=300)
    done = subprocess.run(
        [tmp_path / ".local/bin/nbspam", "classify", "-p"],
        input=b"\nhi\n",
        env=environment,
        capture_output=True,
    )
    assert b"[model-missing]" in done.stderr


def test_the_demo_installs_no_test_tools(tmp_path: Path) -> None:
    command = ["make", "--dry-run", "demo", f"VENV={tmp_path / 'venv'}"]
    planned = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {*re.findall(r"--editable '(.*)'", planned)} == {".[report]"}
    # Each slow step begins with a line that says what comes.
    assert re.search(r"echo .*\n.*-m venv .*\necho .*\n.*pip install ", planned)


def code_in(text: str) -> Iterator[str]:
    """The lines of code blocks, and code within sentences."""
    text = re.sub(r"\\\n *", "", text)
    yield from re.findall(r"^ {4}(.*)", text, re.MULTILINE)
    for block in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """(page, arguments) of each call of nbspam in the pages and units that has more than a command's name."""
    for unit in ROOT.glob("contrib/systemd/**/*.service"):
        for call in re.findall(r"^ExecStart=\S*nbspam (.*)", unit.read_text(encoding="utf-8"), re.MULTILINE):
            yield unit.name, shlex.split(call)
    for page, text in TEXTS.items():
        for line in code_in(text):
            for call in re.findall(r"(?:^|[ /|;\"])(?<!-[og] )nbspam ([a-z-]\S* .*)", line):
                yield page, shlex.split(AFTER_COMMAND.split(call)[0].strip('"'), comments=True)


def error_of(arguments: list[str]) -> str:
    """What click says against a command line; empty if it is right."""
    command: click.Command = program
    context = click.Context(program, **program.context_settings)  # click keeps its help option once made
    while isinstance(command, click.Group):
        name, *arguments = arguments
        found = command.get_command(context, name)
        if not found:
            return f"no command {name}"
        command = found
    try:
        command.make_context(command.name, arguments, parent=context)
    except click.ClickException as error:
        return error.format_message()
    return ""


def test_every_command_line_is_understood() -> None:
    lines = [
        (page, arguments)
        for page, arguments in command_lines()
        if not {"help", "--help", "NAME", "W"} & {*arguments}  # NAME and W stand for a value
    ]
    assert len(lines) > 40
    wrong = [(page, arguments, error_of(arguments)) for page, arguments in lines]
    # A sentence may name an option without its value.
    assert [line for line in wrong if line[2] and not line[2].endswith("requires an argument.")] == []


def test_the_table_of_commands_is_complete() -> None:
    table = TEXTS["docs/index.md"].partition("## Commands")[2]
    assert set(re.findall(r"`nbspam ([a-z]+)`", table)) == set(COMMANDS)


def test_the_table_of_exit_statuses_has_those_of_the_program_and_no_others() -> None:
    table = TEXTS["docs/troubleshooting.md"].partition("## Exit status")[2].partition("\n## ")[0]
    statuses = {value.status for value in vars(errors).values() if hasattr(value, "status")}
    statuses |= {*EXIT_CODES.values(), BOGOFILTER_ERROR, INTERRUPTED}
    listed = [*map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))]
    assert listed == sorted(statuses)
    helps = "".join(command.help or "" for command in list_commands(program))
    named = re.findall(r"(?:status:?|[;,.]|also|with --write also)\s(\d\d)\s", helps.replace("\n", " "))
    assert {*map(int, named)} - statuses == set()
    assert len(named) > 100


def list_commands(command: click.Command) -> Iterator[click.Command]:
    """A command and all below it."""
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(context := click.Context(command)):
            yield from list_commands(command.get_command(context, name))


def test_every_recipe_is_run_by_a_test() -> None:
    named = {name for text in TEXTS.values() for name in re.findall(r"<!-- recipe: (.*?) -->", text)}
    tests = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    assert {name for name in named if not re.search(rf"""\(f?["']{name}["'][,)]""", tests)} == {
        "dovecot 2.3",  # named by the version of Dovecot that is installed
        "dovecot 2.4",
    }


def test_readme_is_short_and_has_the_recipe_of_the_manual() -> None:
    assert TEXTS["README.md"].count("\n") <= 160
    assert f"{recipe('procmailrc')}\n{recipe('filter')}" in TEXTS["README.md"]


@pytest.mark.slow
def test_manual_is_built_without_a_warning(tmp_path: Path) -> None:
    """Links, anchors, and the navigation, which must name every page."""
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", tmp_path / "site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    train, schema = ((tmp_path / f"site/{name}/index.html").read_text() for name in ("train", "model-file"))
    assert "CREATE TABLE token" in re.sub("<.*?>", "", schema)
    assert "ham\t0.0001" in re.sub("<.*?>", "", train)  # columns stay aligned
    [sheet] = (tmp_path / "site/assets/stylesheets").glob("main.*.css")
    hidden = re.findall(r"max-width:([\d.]+)em\)\{\.md-tabs\{display:none\}", sheet.read_text())
    assert [16 * float(width) < 1200 for width in hidden] == [True]  # at 1,200 pixels the tabs are seen


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "nbspam/README.md", "data/README.md"])
def test_every_link_to_a_file_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    missing = [t for t in targets if t and "://" not in t and not (ROOT / page).parent.joinpath(t).exists()]
    assert missing == []


def test_the_plan_names_existing_files_and_every_room() -> None:
    text = (ROOT / "nbspam" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_0-9/]+(?:\.py|\.sql|/))`", text))
    assert [name for name in sorted(named) if not (ROOT / "nbspam" / name).exists()] == []
    rooms = {path.parent.name + "/" for path in (ROOT / "nbspam").glob("*/__init__.py")}
    alone = {path.name for path in (ROOT / "nbspam").glob("*.py")} - {"__init__.py"}
    assert (rooms | alone) - named == set()
