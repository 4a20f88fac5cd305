"""The examples of every help text run, in a home with the files that they name."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from nbspam.cli.commands import program
from nbspam.filter import begin_model
from tests.tiny_mail import mail, run, type_line, write_folders

pytestmark = pytest.mark.slow

# They need a mail program, a server, a person, a history, another filter.
NEED_OTHERS = ("serve", "imap", "label", "undo", "import")


def list_examples(command: click.Command, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """(name, lines) of each command with examples in its help."""
    if isinstance(command, click.Group):
        for inner in command.list_commands(context := click.Context(command)):
            if inner not in NEED_OTHERS and (found := command.get_command(context, inner)):
                yield from list_examples(found, f"{name} {inner}".strip())
    _, heading, text = (command.help or "").partition("Example:\n")
    if heading:
        yield name, [line.strip() for line in text.partition("\n\n")[0].splitlines()]


EXAMPLES = dict(list_examples(program))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with mail in all forms, and models of it."""
    home = tmp_path_factory.mktemp("home")
    dates = [f"Date: Mon, {1 + n} Jan 2024 10:00:00 +0000\n".encode() for n in range(20)]
    ham = [date + mail(f"minutes of day {n}") for n, date in enumerate(dates)]
    spam = [date + mail(f"pills {n}") for n, date in enumerate(dates)]
    for folder in ("Maildir", "mail"):
        empty = (".NotJunk/cur", ".Reports/cur", ".Sent/cur")
        write_folders(home / folder, {"cur": ham, ".Junk/cur": spam, **dict.fromkeys(empty, ())})
        for place in (home / folder).glob("**/cur"):
            (place.parent / "new").mkdir()
            (place.parent / "tmp").mkdir()
    for folder in (home, home / "mail"):
        write_folders(folder, {"inbox": ham})
        (folder / "junk.mbox").write_bytes(
            b"".join(b"From a@b.c Mon Jan  1 10:00:00 2024\n" + one + b"\n" for one in spam)
        )
    write_folders(home / "trec/data", {"ham": ham, "spam": spam})
    (home / "trec/full").mkdir()
    names = [
        f"{path.parent.name} ../{path.relative_to(home / 'trec')}" for path in home.glob("trec/data/*/*")
    ]
    (home / "trec/full/index").write_text("\n".join(names) + "\n")
    (home / "message.eml").write_bytes(spam[0])
    for name in ("my", "home", "work", ".local/share/nbspam/model"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        run(
            "train",
            "-q",
            "--ham",
            home / "inbox",
            "--spam",
            home / "junk.mbox",
            "-m",
            home / f"{name}.nbspam",
        )
    begin_model(str(home / "users" / "alice.nbspam"), str(home / "my.nbspam"))
    run("vocab", "build", home / "trec/full/index", "-q", "-o", home / "vocab.tsv")
    run("model", "dump", "-m", home / "my.nbspam", "-o", home / "my.text")
    return home


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_a_help_text_run(
    name: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(template, home)
    if name == "train":
        for path in (*home.glob("*.nbspam"), home / ".local/share/nbspam/model.nbspam"):
            path.unlink()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("NBSPAM_MODEL", raising=False)
    monkeypatch.chdir(home)
    for line in EXAMPLES[name]:
        done = type_line(line)
        assert done.returncode == 0, f"$ {line}\n{done.stdout.decode()}"
