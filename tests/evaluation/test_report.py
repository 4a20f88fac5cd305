"""The report: what it says, that nothing of a mail gets loose in it, and that a browser shows it whole."""

import base64
import functools
import html.parser
import importlib
import math
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from nbspam.decision import Loss
from nbspam.errors import UsageError
from nbspam.evaluation.figures import summarise
from nbspam.evaluation.outcomes import find_worst_mistakes
from nbspam.evaluation.report import clean, report_html
from tests.judged_mail import judged
from tests.programs import needs

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202egnp.exe\x00 {{ 7*7 }} https://tracker.example/x.png"


def sample(n_messages=400, method="replay", classes=("ham", "spam"), hostile=False):
    random = np.random.default_rng(7)
    rows = []
    for n in range(n_messages):
        truth = n % len(classes)
        weight = np.exp(random.normal(0, 1.6, len(classes)) + 3 * np.eye(len(classes))[truth])
        p = tuple(float(one) for one in weight / weight.sum())
        log_odds = math.log(p[-1] / (1 - p[-1])) if classes[-1] == "spam" else None
        rows.append((truth, int(np.argmax(p)) if max(p) > 0.6 else -1, log_odds, p))
    evaluation = judged(
        rows,
        classes,
        method,
        names=[f"inbox/{n} {HOSTILE}" if hostile else f"inbox/{n}" for n in range(n_messages)],
        times=np.arange(float(n_messages)),
        digest="d" * 64,
        settings={"filter": "test model", "feedback": HOSTILE if hostile else "immediate"},
        trained=390,
    )
    clues = ((HOSTILE if hostile else "subject:hello", 1.5), ("body:word", -0.5))
    return replace(evaluation, clues=dict.fromkeys(evaluation.names[find_worst_mistakes(evaluation)], clues))


@functools.cache
def hostile_page():
    return page_of(sample(hostile=True))


@functools.cache
def plain_page():
    return page_of(sample())


def page_of(evaluation, loss=None):
    evaluation = replace(evaluation, loss=loss)
    return report_html(evaluation, summarise(evaluation), heads={}, day="2026-11-28")


class Elements(html.parser.HTMLParser):
    """Every element's name and attributes, and the text outside of style sheets."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_the_page_says_in_words_what_was_found():
    text = Elements(page_of(sample(), Loss([[0, 1], [10, 0], [0.2, 0.2]]))).text
    for said in (
        *("of 200 wanted messages", "of 200 spam messages", "in the order of their dates", "expected cost"),
        *("learned the class of 390 of 400", "d" * 64),
    ):
        assert said in text


def drawings(page):
    """The drawings of a page, by their captions."""
    images = [attributes for tag, attributes in Elements(page).found if tag == "img"]
    return {one["alt"]: base64.b64decode(one["src"].partition(",")[2]).decode() for one in images}


def test_the_heading_has_date_model_and_mail():
    text = Elements(plain_page()).text
    assert re.search(
        r"Date: 2026-11-28\s+Model: test model\s+Mail: inbox, 400 messages: 200 ham, 200 spam", text
    )


@pytest.mark.parametrize("n_ham", [999, 1000])
def test_one_in_a_thousand_is_said_of_a_thousand(n_ham):
    text = Elements(page_of(judged([(0, 0, -2.0)] * n_ham + [(1, 1, 2.0)] * 9))).text
    assert ("one wanted message in a thousand" in text) == (n_ham == 1000)
    assert ("loses no wanted message" in text) == (n_ham == 999)


def test_the_clues_of_a_mistake_add_up_to_the_share_that_is_said():
    evaluation = sample()
    text = Elements(page_of(evaluation)).text
    for row in find_worst_mistakes(evaluation):
        assert f"These 2 clues are +1.0 of {evaluation.log_odds[row]:+.1f} nats." in text


def test_drawings_show_the_cut_off_and_follow_the_colours_of_the_page():
    costs = Loss([[0, 1], [10, 0]])
    with_costs, without = drawings(page_of(sample(), costs)), drawings(plain_page())
    assert len(with_costs) == 4
    [histogram] = [drawing for caption, drawing in with_costs.items() if "hatched" in caption]
    assert "cut-off" in histogram
    assert "cut-off" not in "".join(without.values())
    for drawing in with_costs.values():
        assert "prefers-color-scheme: dark" in drawing
        assert "var(--ink)" in drawing
        assert not re.findall("style=[^>]*#(?!000000|ffffff)[0-9a-f]{6}", drawing)


def test_rows_that_say_nothing_are_left_out():
    plain, unsure, topics = (
        Elements(page_of(judged([(0, 0, -1.0, (0.7, 0.3)), (1, decided, 1.0, (0.3, 0.7))] * 9, classes))).text
        for decided, classes in [(1, ("ham", "spam")), (-1, ("ham", "spam")), (1, ("home", "work"))]
    )
    assert ["macro" in text for text in (plain, unsure, topics)] == [False, False, True]
    assert ["left undecided" in text for text in (plain, unsure, topics)] == [False, True, False]


def test_the_page_asks_nothing_of_the_network_and_runs_nothing():
    page = hostile_page()
    for tag, attributes in Elements(page).found:
        assert tag not in {"script", "link", "iframe", "object", "embed", "base", "form", "a"}
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("src", "data:").startswith("data:")
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_text_out_of_mail_is_escaped_and_cleaned():
    page = hostile_page()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page
    assert not [char for char in page if not char.isprintable() and char != "\n"]


@pytest.mark.parametrize(
    ("classes", "method", "drawings"),
    [
        (("home", "work", "lists"), "folds", 1),
        (("_a$b$", "工作", "<b>", "spam"), "holdout", 3),
        (tuple(f"c{number}" for number in range(20)), "model", 1),
    ],
)
def test_more_classes_are_reported_too(classes, method, drawings):
    page = Elements(page_of(sample(400, method, classes)))
    assert sum(tag == "img" for tag, _ in page.found) == drawings
    assert all(clean(name) in page.text for name in classes[:3])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "rows",
    [
        [(n % 2, n % 2, None, (1.0 - n % 2, float(n % 2))) for n in range(30)],
        [(0, 0, -1.0 * n) for n in range(30)],
        [(0, 0, 0.0, (0.5, 0.5)), (1, 0, 0.0, (0.5, 0.5))],
    ],
    ids=["perfect and infinite", "ham alone, scores alone", "two messages of one score"],
)
def test_odd_evaluations_still_make_a_page(rows):
    page = Elements(page_of(judged(rows, method="replay")))
    assert "How it was made" in page.text
    assert "nan" not in page.text.split()


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_a_library_the_error_names_the_extra(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)  # importing it now fails as if it were not installed
    for name in ("nbspam.evaluation.report", "nbspam.evaluation.plots"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(UsageError) as caught:
        importlib.import_module("nbspam.evaluation.report")
    assert caught.value.remedy == "install the extra report"


# --- in a real browser

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars --disable-sync "
    "--disable-background-networking --disable-component-update --disable-extensions "
    "--enable-logging=stderr --v=0 --window-size=1200,4200 --virtual-time-budget=5000"
)
# Put into a copy of the page: tells what the browser made of it.
PROBE = """<script>addEventListener('load', () => {
const images = [...document.images];
const asked = performance.getEntriesByType('resource').map(entry => entry.name);
document.body.dataset.shown = images.filter(one => one.naturalWidth > 0).length + ' of ' + images.length;
document.body.dataset.asked = asked.filter(name => !name.startsWith('data:')).join(' ') || 'nothing';
document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth ? 'too wide' : 'fits';
});</script>"""


def browse(tmp_path, *arguments):
    """Run the browser on a new profile; returns (stdout, what it complained about)."""
    command = ["chromium", *FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}", *arguments]
    environment = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=True)
    console = [line for line in done.stderr.splitlines() if re.search(r"CONSOLE|Refused|net::ERR", line)]
    return done.stdout, console


@pytest.mark.debian
@needs("chromium")
def test_a_browser_loads_every_drawing_and_asks_for_nothing_else(tmp_path):
    page = hostile_page()
    policy = re.search(r"<meta http-equiv=.Content-Security-Policy.*?>", page)[0]
    # Without the policy, which would hide that something was asked for.
    (tmp_path / "probe.html").write_text(page.replace(policy, "").replace("</body>", PROBE + "</body>"))
    dom, console = browse(tmp_path, "--dump-dom", (tmp_path / "probe.html").as_uri())
    assert console == []
    assert 'data-shown="4 of 4"' in dom
    assert 'data-asked="nothing"' in dom
    assert 'data-wide="fits"' in dom
    assert dom.count("<script") == 1  # the probe's own
