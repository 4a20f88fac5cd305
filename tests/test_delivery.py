"""What a check-up says of ~/.procmailrc, ~/.mailfilter and ~/.forward: what is certain, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbspam.tasks.doctor.delivery import delivery
from nbspam.tasks.doctor.finding import FINE, NOTE, WRONG

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"<!-- recipe: (\w+) -->\n```(procmail|maildrop)\n(.*?)```\n", README, re.DOTALL)
FILES = {"procmail": ".procmailrc", "maildrop": ".mailfilter"}


def states(home: Path, name: str, text: str, model: str = "m") -> list[tuple[str, str]]:
    """(state, text) of the findings in one file, without the folder's name."""
    (home / name).write_text(text)
    found = [(one.state, one.text.replace(f"{home}/", "")) for one in delivery(str(home), model)]
    (home / name).unlink()
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    program = tmp_path / "bin" / "nbspam"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("name", "agent", "recipe"), RECIPES, ids=[name for name, _, _ in RECIPES])
def test_nothing_is_wrong_with_the_recipes_of_the_readme(
    home: Path, name: str, agent: str, recipe: str
) -> None:
    found = states(home, FILES[agent], recipe)
    assert {state for state, _ in found} <= {FINE}
    assert bool(found) == ("nbspam" in recipe)


FAULTS = [
    (":0 fw\n| nbspam classify\n", WRONG, ".procmailrc:2: without -p "),
    (":0\n| nbspam classify -p\n", WRONG, ".procmailrc:2: nbspam delivers nothing"),
    (":0\n| nbspam learn spam\n", WRONG, ".procmailrc:2: nbspam delivers nothing"),
    (":0 w:\n| nbspam unlearn -q\n", WRONG, ".procmailrc:2: nbspam delivers nothing"),
    (":0\n| nbspam explain\n", WRONG, ".procmailrc:2: nbspam delivers nothing"),
    (":0\n* ^X-Report: spam\n| nbspam learn spam\n", NOTE, ".procmailrc:3: mail that is learned here"),
    (":0 fw\n| nbspam learn spam\n", WRONG, ".procmailrc:2: what nbspam learn says takes the place"),
    (":0 c\n{ }\n:0\n| nbspam learn spam\n", WRONG, ".procmailrc:4: nbspam delivers nothing"),
    (":0 c\n{\n}\n:0 fw\n| nbspam classify\n", WRONG, ".procmailrc:5: without -p "),
    (":0 f\n| nbspam classify -p\n", NOTE, ".procmailrc:2: without the flag w "),
    (":0fb:lock\n* ^Subject: x\n|nbspam classify -p", NOTE, ".procmailrc:3: without the flag w "),
    (":0 HB\n* ? nbspam classify\n.Junk/\n", WRONG, ".procmailrc:2: without --exit-code "),
    (":0\n* ? nbspam classify --exit-code\n.Junk/\n", NOTE, ".procmailrc:2: without the flags HB "),
    (":0 B\n* ? nbspam classify --exit-code\nx\n", NOTE, ".procmailrc:2: without the flags HB only the body"),
    (":0 w\n| nbspam classify >>log\n", WRONG, ".procmailrc:2: nbspam delivers nothing"),
    (":0 f : lock\n| nbspam classify -p; true\n", NOTE, ".procmailrc:2: without the flag w "),
    (":0 fw\n| nbspam classify -pm /other\n", NOTE, ".procmailrc:2: uses another model, /other"),
    (":0 fw\n| nbspam classify -m/other -p\n", NOTE, ".procmailrc:2: uses another model, /other"),
    ("A=1\n# :0\n:0 fw\n| nbspam \\\n classify\n", WRONG, ".procmailrc:5: without -p "),
    (":0\n{\n  :0 fw\n  | nbspam classify\n}\n", WRONG, ".procmailrc:4: without -p "),
    (":0 fw\n| $HOME/none/nbspam classify -p\n", WRONG, ".procmailrc:2: no program that can be run is none/"),
    ("PATH=$HOME/none:$HOME/also\n:0 fw\n| nbspam classify -p\n", WRONG, ".procmailrc:3: no program "),
    (":0 fw\n| nbspam classify -p -m $HOME/other\n", NOTE, ".procmailrc:2: uses another model, other"),
    ("NBSPAM_MODEL=/other\n:0 fw\n| nbspam classify -p\n", NOTE, ".procmailrc:3: uses another model, /other"),
]


@pytest.mark.parametrize(("text", "state", "said"), FAULTS, ids=[said for _, _, said in FAULTS])
def test_a_fault_of_a_recipe_is_told_with_its_line(home: Path, text: str, state: str, said: str) -> None:
    found = states(home, ".procmailrc", text)
    assert [one for one, _ in found] == [state]
    assert found[0][1].startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "PATH=$HOME/bin:/usr/bin\n:0 fw\n| nbspam classify -p\n",
        ":0 fW\n| ~/bin/nbspam classify --passthrough --spam-flag\n",
        ":0 fw\n| ${HOME}/bin/nbspam classify -p -m m\n",
        "PATH=$PATH:/nowhere\n:0 fw\n| nbspam classify -p\n",
        "PATH=`getconf PATH`\n:0 fw\n| nbspam classify -p\n",
        "BIN=`which nbspam`\n:0 fw\n| $UNKNOWN/nbspam classify -p\n",
        ":0 w\n| nbspam classify -p | dovecot-lda\n",
        ":0 c\n| nbspam learn spam\n",
        ":0 w f\n| nbspam classify -qp -mm; true\n",
        ":0 fw\n| nbspam classify --passthrough; exit 0\n",
        ":0 c\n| nbspam classify >>log\n",
        ":0 c\n{\n  :0\n  | nbspam learn spam\n}\n",
        ":0 c\n{\n  :0 fw\n  | nbspam classify\n}\n",
        ":0 fw\n| nbspam model info; cat\n",
        ":0 w\n| nbspam classify -p >>inbox\n",
        ":0 w\n| nbspam classify --exit-code && deliver\n",
    ],
)
def test_what_is_right_or_not_certain_is_no_fault(
    home: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert [state for state, _ in states(home, ".procmailrc", text)] == [FINE]


@pytest.mark.parametrize(
    "text",
    ["", ":0\n* ^Subject: nbspam\n.list/\n", "# | nbspam classify\n", ":0 fw\n| bogofilter -p\n", "\0\xff"],
)
def test_files_that_do_not_call_it_are_passed_by(home: Path, text: str) -> None:
    assert states(home, ".procmailrc", text) == []


def test_maildrop_and_forward_are_read(home: Path) -> None:
    assert states(home, ".mailfilter", 'xfilter "nbspam classify"\n')[0][0] == WRONG
    assert states(home, ".mailfilter", 'to "| nbspam classify -p"\n')[0][0] == WRONG
    assert states(home, ".mailfilter", 'PATH="$HOME/none"\nxfilter "nbspam classify -p"\n')[0][0] == WRONG
    assert states(home, ".mailfilter", 'to "| nbspam learn spam"\n')[0][0] == WRONG
    assert states(home, ".mailfilter", 'if (/x/)\n{\n  to "|nbspam learn spam"\n}\n')[0][0] == NOTE
    after = 'if (/x/)\n{\n  exception { }\n}\nto "|nbspam learn spam"\n'
    assert states(home, ".mailfilter", after)[0][0] == WRONG
    assert states(home, ".mailfilter", 'cc "| nbspam learn spam"\n')[0][0] == FINE
    assert states(home, ".mailfilter", 'xfilter "nbspam learn spam"\n')[0][0] == WRONG
    assert states(home, ".forward", '"|nbspam learn spam"\n')[0][0] == WRONG
    assert states(home, ".forward", '\\jane, "|nbspam learn spam"\n')[0][0] == FINE
    assert states(home, ".forward", '"|/nowhere/nbspam classify -p"\n')[0][0] == WRONG
    assert states(home, ".forward", '\\jane, "|/usr/bin/procmail"\n') == []


def test_files_that_cannot_be_read_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / ".procmailrc").mkdir()
    assert list(delivery(str(tmp_path), "m")) == []
    assert list(delivery(str(tmp_path / "missing"), "m")) == []
