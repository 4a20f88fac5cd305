"""Measures and numeric features: their values, their bins, and that no mail makes them fail."""

import math
import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbspam.corpus.labelled import open_labelled
from nbspam.tokens import read
from nbspam.tokens.bag import BIN_EDGES, MEASURE_NAMES, VIEWS, list_bins
from nbspam.tokens.numeric import NAMES


def test_every_measure_is_a_numeric_feature_and_has_its_value(data: Path) -> None:
    """By another way to the bin than that of the tokens: the features of the numeric models."""
    assert set(MEASURE_NAMES) <= set(NAMES)
    for item in list(open_labelled([str(data / "index")]).items())[::10]:
        tokens = read(item.read(), ("measures", "numeric"))
        values = tokens.numeric
        for name, token in zip(MEASURE_NAMES, tokens.measures, strict=True):
            value = values[NAMES.index(name)]
            place = -1 if value is None else int(np.searchsorted(BIN_EDGES[name], value, side="right"))
            assert token == list_bins(name)[place]


@given(st.binary(max_size=300), st.text(max_size=300))
def test_no_mail_can_bring_a_word_that_is_a_measure(head: bytes, text: str) -> None:
    every = {token for name in MEASURE_NAMES for token in list_bins(name)}
    forged = " ".join(sorted(every)).encode()
    page = b"<a href='http://size>=64/'><size>=64 digit_share<0.001>" + forged
    fields = b"Subject: " + forged + b"\nsize>: 64\nsize: >=64\nContent-Type: text/html; size>=64=1\n\n"
    for data in (head + b"\n\n" + text.encode("utf-8", "replace") + forged, fields + page):
        tokens = read(data, ("measures",))
        assert not every & {token for view in tokens.views()[: len(VIEWS)] for token in view}
        assert len(tokens.measures) == len(MEASURE_NAMES)


def test_manual_has_every_feature_in_order() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "numeric-features.md"
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(str(number), name) for number, name in enumerate(NAMES, 1)]
    assert len(set(NAMES)) == len(NAMES)


@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"Content-Type: text/html\n\n<a href=", b"Date: ", b"From: @\n\n"]),
)
def test_features_of_any_bytes_are_finite(tail: bytes, head: bytes) -> None:
    for name, value in zip(NAMES, read(head + tail, ("numeric",)).numeric, strict=True):
        assert value is None or math.isfinite(value), name
        if "share" in name and value is not None and name != "visible_html_share":
            assert 0 <= value <= 1, name
