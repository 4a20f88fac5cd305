"""Write a man page of nbspam and of each command, made from their help texts.

python docs/man_pages.py FOLDER        (make man)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from nbspam import __version__
from nbspam.cli.commands import program


def pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """(name, roff) of the pages of a command and of the commands in it; the name is `nbspam-model-info`."""
    inner = command.list_commands(context) if isinstance(command, click.Group) else []
    yield context.command_path.replace(" ", "-"), page(command, context, inner)
    for one in inner:
        found = command.get_command(context, one) if isinstance(command, click.Group) else None
        if found:
            yield from pages(found, click.Context(found, parent=context, info_name=one))


def page(command: click.Command, context: click.Context, inner: list[str]) -> str:
    """The page of one command as roff."""
    help_text = cleandoc(command.help or "")
    name = context.command_path
    title = name.replace(" ", "-")
    above = title.rpartition("-")[0]
    sections = {"NAME": f"{roff(title)} \\- {roff(help_text.partition('.')[0])}"}
    sections["SYNOPSIS"] = f".B {roff(name)}\n{roff(' '.join(command.collect_usage_pieces(context)))}"
    for text in [help_text, *(command.epilog or "").split("\n\n")]:
        for paragraph in text.split("\n\n"):
            heading, body = section(paragraph.strip("\n"))
            sections[heading] = f"{sections[heading]}\n.PP\n{body}" if heading in sections else body
    given = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    records = [one.get_help_record(context) for one in given]
    sections["OPTIONS"] = "\n".join(
        f".TP\n.B {roff(names)}\n{roff(text)}" for names, text in filter(None, records)
    )
    related = [above, *(f"{title}-{one}" for one in inner)]
    sections["SEE ALSO"] = ",\n".join(f".BR {roff(one)} (1)" for one in related if one)
    written = [f".SH {heading}\n{text}\n" for heading, text in sections.items() if text]
    return f'.TH {roff(title.upper())} 1 "" "nbspam {__version__}" "nbspam"\n' + "".join(written)


def section(paragraph: str) -> tuple[str, str]:
    """The heading and the roff of a paragraph of a help text; the lines after \\b stay as they are."""
    first, *rest = paragraph.split("\n")
    if first == "\b":
        is_example = rest[0] == "Example:"
        lines = "\n".join(map(roff, rest[is_example:]))
        return "EXAMPLES" if is_example else "DESCRIPTION", f".nf\n{lines}\n.fi"
    text = " ".join(paragraph.split())
    if text.startswith("Exit status: "):
        return "EXIT STATUS", roff(text.removeprefix("Exit status: "))
    return "DESCRIPTION", roff(text)


def roff(line: str) -> str:
    """A line of text as roff shows it: no character begins a request."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(program, info_name="nbspam", help_option_names=["-h", "--help"])
    for name, text in pages(program, context):
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
