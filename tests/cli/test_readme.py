"""The README does what it says: its console blocks are run, its tables compared with the program.

A console block under `<!-- run -->` is typed into a shell, in a folder that holds data/; the blocks
share one model.  In the expected output `...` stands for anything; a line `...` for any lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nbspam.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNS = re.findall(r"<!-- run -->\n```console\n(.*?)```\n", README, re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of a console block."""
    pieces = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


def as_pattern(expected: str) -> str:
    """A regular expression: `...` alone on a line is any lines, else anything on the line."""
    lines = [
        "(?:.*\n)*" if line == "...\n" else ".*".join(map(re.escape, line.split("...")))
        for line in expected.splitlines(keepends=True)
    ]
    return "".join(lines)


def test_the_readme_has_console_blocks_to_run() -> None:
    assert len(RUNS) >= 5


def test_the_readme_installs_the_program_and_again(tmp_path: Path) -> None:
    section = README.partition("## Install\n")[2].partition("\n## ")[0]
    commands = "".join(line[4:] + "\n" for line in section.splitlines() if line.startswith("    "))
    assert commands.count("pip install .") == 1
    # The packages that nbspam needs are big, and `classify` does without them.
    commands = commands.replace("pip install .", f"pip install -q --no-deps {ROOT}")
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


def test_console_blocks_print_what_the_readme_shows(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "data", tmp_path / "data")
    environment = {
        "PATH": f"{installed.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "NBSPAM_MODEL": str(tmp_path / "model.nbspam"),
        "LC_ALL": "C.UTF-8",
    }
    for command, expected in [step for block in RUNS for step in steps(block)]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        shown = done.stdout.decode()
        assert re.fullmatch(as_pattern(expected), shown), f"$ {command}\n{shown}"


def test_the_table_of_commands_is_complete() -> None:
    table = README.partition("## Commands")[2].partition("\n## ")[0]
    assert set(re.findall(r"`nbspam ([a-z]+)`", table)) == set(COMMANDS)


def test_every_status_of_an_error_is_in_the_table() -> None:
    from nbspam import errors

    table = README.partition("## Exit status")[2].partition("\n## ")[0]
    statuses = {value.status for value in vars(errors).values() if isinstance(value, type)}
    assert statuses - {int(status) for status in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == set()


@pytest.mark.parametrize("page", ["README.md", "nbspam/README.md", "docs/corpora.md", "data/README.md"])
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
