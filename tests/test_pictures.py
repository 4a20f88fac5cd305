"""The pictures of the README say what the program says, and what the tables of README and manual say."""

import html
import re
from pathlib import Path

import pytest

from bench.pictures import explain_svg, report_svg

ROOT = Path(__file__).resolve().parents[1]


def text_of(picture: str) -> str:
    """What a picture says, on any day."""
    text = re.sub(r"<style>.*?</style>", "", picture, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return re.sub(r"20\d\d-\d\d-\d\d", "DATE", " ".join(text.split()))


def shown(name: str) -> str:
    return text_of((ROOT / "docs/pictures" / name).read_text("utf-8"))


def numbers_after(words: str, text: str, count: int) -> list[float]:
    """The numbers that follow the words."""
    rest = text.partition(words)[2]
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", rest)[:count]]


@pytest.mark.slow
def test_the_terminal_shows_what_explain_says(tmp_path: Path) -> None:
    assert text_of(explain_svg(tmp_path)) == shown("explain.svg"), "make pictures"


@pytest.mark.slow
def test_the_page_shows_what_eval_says(spamassassin: Path, tmp_path: Path) -> None:
    assert text_of(report_svg(spamassassin.parent, tmp_path)) == shown("report.svg")


def test_readme_manual_and_picture_have_the_same_figures() -> None:
    readme, manual = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/accuracy.md"))
    ranking, _, *ends = numbers_after("(1-ROCA)% ", shown("report.svg"), 4)  # after the 95 of 95 %
    lost, *_ = numbers_after("missed at 0.1 % ham lost", shown("report.svg"), 1)
    *in_readme, lost_in_readme = numbers_after("| **nbspam** |", readme, 4)
    assert numbers_after("sa/test.index` |", manual, 3) == [ranking, *ends]
    assert in_readme == [float(f"{value:.2g}") for value in (ranking, *ends)]
    assert lost_in_readme == round(lost, 1)
    assert f"it catches {100 - lost:.1f} % of the spam" in manual
