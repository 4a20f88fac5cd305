"""The pictures of the README: what `explain` shows in a terminal, and the page of `eval --report`.

python docs/pictures.py CORPORA        (make pictures)

CORPORA is the folder with the unpacked mail of SpamAssassin, `sa`.  It needs chromium.
"""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/pictures"
COLUMNS = 84
PROGRAM = [sys.executable, "-m", "nbspam"]


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


def svg(command: str, shown: str) -> str:
    """A terminal as SVG, with the fonts of the reader's machine."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold"), command))
    console.print(Text.from_ansi(shown), end="")
    picture = console.export_svg(title="nbspam", unique_id="nbspam")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL).replace(
        "Fira Code, monospace", "monospace"
    )
    return "\n".join(line.rstrip() for line in picture.splitlines() if line.strip()) + "\n"


def screenshot(page: Path, picture: Path, width: int, height: int) -> None:
    """The top of a page as PNG."""
    chromium = shutil.which("chromium") or sys.exit("chromium is not installed: as root, make debian")
    size = f"--window-size={width},{height}"
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", size, f"--screenshot={picture}"]
    subprocess.run([chromium, *options, page.as_uri()], check=True, capture_output=True)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python docs/pictures.py CORPORA")
    public = Path(sys.argv[1]).resolve() / "sa"
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        model, page = Path(name, "model.nbspam"), Path(name, "report.html")
        environment = os.environ | {
            "NBSPAM_MODEL": str(model),
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm-256color",
        }
        subprocess.run([*PROGRAM, "train", "-q", "data"], cwd=ROOT, env=environment, check=True)
        shown = in_terminal([*PROGRAM, "explain", "--top", "8", "data/spam/0002.eml"], environment)
        (FOLDER / "explain.svg").write_text(svg("nbspam explain --top 8 data/spam/0002.eml", shown))
        for command in (
            ["train", "-q", "--replace", str(public / "train.index")],
            ["eval", "-q", "-m", model.name, str(public / "test.index"), "--report", str(page)],
        ):
            subprocess.run(
                [*PROGRAM, *command], cwd=name, env=environment, check=True, stdout=subprocess.DEVNULL
            )
        screenshot(page, FOLDER / "report.png", 1200, 560)


if __name__ == "__main__":
    main()
