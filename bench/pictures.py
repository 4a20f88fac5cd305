"""The pictures of the README, as SVG: what `explain` shows in a terminal, and the page of `eval --report`.

python -m bench.pictures CORPORA        (make pictures)

CORPORA is the folder with the unpacked mail of SpamAssassin, `sa`.  Their texts are text, which
tests/test_pictures.py compares with what the program says.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/pictures"
COLUMNS = 84
EXPLAINED = "data/spam/0002.eml"
PROGRAM = [sys.executable, "-m", "nbspam"]
PAGE_WIDTH, PAGE_HEIGHT = 1200, 660


def explain_svg(folder: Path) -> str:
    """What `explain` says of a message of data/ that the model has not learned.  folder : for the model"""
    model = str(folder / "model.nbspam")
    environment = os.environ | {"NBSPAM_MODEL": model, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    for command in (["train", "-q", "data"], ["unlearn", "-q", EXPLAINED]):
        subprocess.run([*PROGRAM, *command], cwd=ROOT, env=environment, check=True)
    command = ["explain", "--top", "8", EXPLAINED]
    shown = in_terminal([*PROGRAM, *command], environment)
    return terminal_svg(" ".join(["nbspam", *command]), shown)


def in_terminal(command: list[str], environment: dict[str, str]) -> str:
    """What a program writes to a terminal, with its colours."""
    terminal, screen = pty.openpty()
    with subprocess.Popen(command, stdout=screen, cwd=ROOT, env=environment):
        os.close(screen)
        shown = b""
        try:
            while some := os.read(terminal, 4096):
                shown += some
        except OSError:  # Linux says so at the end
            pass
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")


def terminal_svg(command: str, shown: str) -> str:
    """A terminal as SVG, with the fonts of the reader's machine."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold"), command))
    console.print(Text.from_ansi(shown), end="")
    picture = console.export_svg(title="nbspam", unique_id="nbspam")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL).replace(
        "Fira Code, monospace", "monospace"
    )
    return "\n".join(line.rstrip() for line in picture.splitlines() if line.strip()) + "\n"


def report_svg(corpora: Path, folder: Path) -> str:
    """The top of the page on the mail of SpamAssassin.  folder : for the model and the page"""
    model, page = folder / "sa.nbspam", folder / "page.html"
    for command in (
        ["train", "-q", "sa/train.index", "-m", str(model)],
        ["eval", "-q", "-m", str(model), "sa/test.index", "--report", str(page)],
    ):
        subprocess.run([*PROGRAM, *command], cwd=corpora, check=True, stdout=subprocess.DEVNULL)
    return page_svg(page.read_text("utf-8").replace(f"{folder}/", ""))


def page_svg(page: str) -> str:
    """The top of a page as SVG: its heading, its cards and its words, in the colours of day or night."""
    [style] = re.findall(r"<style>\n(.*?)</style>", page, re.DOTALL)
    style = re.sub(r"@media screen and \(max-width.*?\n\}\n", "", style, flags=re.DOTALL)
    [top] = re.findall(r"<body>\n(.*?</section>)", page, re.DOTALL)
    size = f'width="{PAGE_WIDTH}" height="{PAGE_HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {PAGE_WIDTH} {PAGE_HEIGHT}">\n'
        f"<style>\n{style}body {{ height: 100%; }}\n</style>\n"
        f'<foreignObject {size}>\n<body xmlns="http://www.w3.org/1999/xhtml">\n{top}\n</main>\n</body>\n'
        "</foreignObject>\n</svg>\n"
    )


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m bench.pictures CORPORA")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        (FOLDER / "explain.svg").write_text(explain_svg(Path(name)), "utf-8")
        (FOLDER / "report.svg").write_text(report_svg(Path(sys.argv[1]).resolve(), Path(name)), "utf-8")


if __name__ == "__main__":
    main()
