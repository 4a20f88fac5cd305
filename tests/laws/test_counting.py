"""Counting laws: whatever way mail is counted, the model holds the same integers.

Compared are whole dumps without the calibration, which learns in the order in which messages come.
"""

import random
import shutil
from pathlib import Path

import pytest

from nbspam.corpus import accumulator
from nbspam.corpus.item import Item
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.vocabulary import Vocabulary, build_vocabulary, limit_settings
from nbspam.errors import UsageError
from nbspam.learning.learn import learn_message, unlearn_message
from nbspam.model.scorer import Scorer
from nbspam.settings import Settings, parse_settings
from nbspam.store.check import check_model
from nbspam.store.merge import merge
from nbspam.store.reader import open_model
from nbspam.store.text import dump_model
from nbspam.store.updater import open_updater
from nbspam.tasks import train as train_module
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from nbspam.tasks.update import update
from nbspam.tokens import key_tokens
from nbspam.tokens.bag import VIEWS, Tokens, hash_token
from tests.tiny_mail import counts, mail, run, write_folders

Items = list[Item]
KINDS = {
    "views": Settings(),
    "multinomial": Settings("multinomial"),
    "bernoulli-and-gaussian": Settings("bernoulli", features="both"),
    "complement-and-aode": Settings("complement", features="both", numeric_model="aode"),
}


@pytest.fixture(scope="module")
def items(data: Path) -> Items:
    """A quarter of data/, each message once (exact duplicates count twice in bulk, once when learned)."""
    return list(open_labelled([str(data)]).items())[::4]


@pytest.fixture(scope="module")
def vocabulary(items: Items) -> Vocabulary:
    return build_vocabulary(items, ("ham", "spam"), size=500)[0]


def trained(
    items: Items, path: Path, settings: Settings | None = None, fixed: Vocabulary | None = None
) -> Path:
    """A model of these items."""
    plan = Plan(limit_settings(settings or Settings(), fixed), vocabulary=fixed)
    train_model(items, ("ham", "spam"), str(path), plan)
    assert check_model(str(path)) == []
    return path


def test_any_order_gives_the_same_counts(items: Items, tmp_path: Path) -> None:
    shuffled = random.Random(1).sample(items, len(items))
    assert counts(trained(items, tmp_path / "a")) == counts(trained(shuffled, tmp_path / "b"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["learn", "update", "merge"])
@pytest.mark.parametrize("kind", ["views", "multinomial", "fixed vocabulary"])
def test_training_in_parts_is_one_training(
    items: Items, vocabulary: Vocabulary, tmp_path: Path, kind: str, way: str
) -> None:
    how = KINDS.get(kind), None if kind in KINDS else vocabulary
    whole = trained(items, tmp_path / "whole", *how)
    first, second = (trained(items[n::2], tmp_path / f"part{n}", *how) for n in range(2))
    if way == "learn":
        for item in items[1::2]:
            assert learn_message(str(first), item.label, item.read()) == "learned"
    elif way == "update":
        update(items[1::2], ("ham", "spam"), str(first))
    else:
        merge([str(first), str(second)], str(tmp_path / "merged"))
        first = tmp_path / "merged"
    assert counts(first) == counts(whole)
    assert check_model(str(first)) == []


@pytest.mark.parametrize("kind", list(KINDS))
def test_adding_and_removing_others_restores_every_count(items: Items, tmp_path: Path, kind: str) -> None:
    model = trained(items[::2], tmp_path / "m", KINDS[kind])
    before = counts(model)
    others = items[1::12]
    for item in others:
        learn_message(str(model), item.label, item.read())
    assert counts(model) != before
    for item in reversed(others):
        assert unlearn_message(str(model), item.read()) == "forgotten"
    assert counts(model) == before
    assert check_model(str(model)) == []


@pytest.mark.parametrize("kind", ["bernoulli-and-gaussian", "complement-and-aode"])
def test_bulk_and_one_by_one_agree_on_numeric_features(items: Items, tmp_path: Path, kind: str) -> None:
    bulk = trained(items[::2], tmp_path / "bulk", KINDS[kind])
    single = Path(shutil.copy(bulk, tmp_path / "single"))
    others = items[1::8]
    update(others, ("ham", "spam"), str(bulk))
    for item in others:
        learn_message(str(single), item.label, item.read())
    assert counts(bulk) == counts(single)


def test_merging_adds_counts_in_any_order_and_keeps_the_calibration_of_the_first(
    items: Items, tmp_path: Path
) -> None:
    parts = [str(trained(items[n::2], tmp_path / f"part{n}")) for n in range(2)]
    merge(parts, str(tmp_path / "ab"))
    merge(parts[::-1], str(tmp_path / "ba"))
    assert counts(tmp_path / "ab") == counts(tmp_path / "ba")
    for name, part in zip(("ab", "ba"), parts, strict=True):
        assert open_model(str(tmp_path / name)).calibration() == open_model(part).calibration()


@pytest.mark.parametrize(
    ("label", "ham", "spam"),
    [
        ("spam", ["two"], ["one", "three"]),
        ("ham", ["one", "one", "two"], ["three"]),
        ("", ["two"], ["three"]),
    ],
)
def test_a_message_of_several_countings_moves_whole_and_is_forgotten_one_by_one(
    tmp_path: Path, label: str, ham: list[str], spam: list[str]
) -> None:
    def model(name: str, texts: dict[str, list[str]]) -> Path:
        folder = write_folders(tmp_path / f"{name}.mail", {k: map(mail, some) for k, some in texts.items()})
        return trained(list(open_labelled([str(folder)]).items()), tmp_path / name)

    path = model("before", {"ham": ["one", "one", "two"], "spam": ["one", "three"]})
    if label:
        assert learn_message(str(path), label, mail("one")) == "moved"
        assert learn_message(str(path), label, mail("one")) == "already learned"
    else:
        done = [unlearn_message(str(path), mail("one")) for _ in range(4)]
        assert done == ["forgotten", "forgotten", "forgotten", "was never learned"]
    assert counts(path) == counts(model("after", {"ham": ham, "spam": spam}))
    assert check_model(str(path)) == []


def test_what_was_never_counted_is_not_taken_out_of_the_counts(tmp_path: Path) -> None:
    """A message is known by its digest; a model that counted other tokens of it stays as it is."""
    folder = write_folders(tmp_path / "mail", {"ham": [mail("one")], "spam": [mail("two")]})
    path = trained(list(open_labelled([str(folder)]).items()), tmp_path / "m")
    before = counts(path)
    known = (hash_token("one"), VIEWS.index("body"), "one", 1)
    for rows in ([(hash_token("never"), 1, "never", 1)], [(hash_token("two"), 1, "two", 1)], [known], []):
        with pytest.raises(UsageError, match="cannot be removed"), open_updater(str(path)) as updater:
            updater.count(0, 1, rows, -1)
    assert counts(path) == before
    assert check_model(str(path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kept", [40, 6_000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_model_is_the_same_however_often_what_was_read_is_merged(
    kind: str, kept: int, items: Items, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = trained(items, tmp_path / "once", KINDS[kind])
    monkeypatch.setattr(accumulator, "KEPT_MESSAGES", kept)
    monkeypatch.setattr(accumulator, "MAX_PENDING_PAIRS", 3_000)
    often = trained(items, tmp_path / "often", KINDS[kind])
    assert counts(often) == counts(at_once)
    monkeypatch.setattr(train_module, "SPARE_MEGABYTES", 0)  # so all counts go through temporary files
    monkeypatch.setattr(train_module, "THREAD_MEGABYTES", train_module.JOB_MEGABYTES)
    least = train_module.PARENT_MEGABYTES + train_module.JOB_MEGABYTES
    train_model(items, ("ham", "spam"), str(tmp_path / "small"), Plan(KINDS[kind], max_memory=least))
    assert [*dump_model(str(tmp_path / "small"))] == [*dump_model(str(often))]
    if kept > len(items):  # the calibration learned from all of them
        one, other = (open_model(str(path)).calibration() for path in (at_once, often))
        assert one == pytest.approx(other, abs=1e-9)


def test_unknown_tokens_dilute_the_evidence_of_their_view(items: Items, tmp_path: Path) -> None:
    """By 1 - u^2 in the body, u the share never met; a model that is not diluted says the same of both."""
    path = str(trained(items, tmp_path / "model"))
    words = ["free", "money", "offer", "click"]
    model = open_model(path)
    known = [word for word in words if hash_token(word) in model.counts(list(map(hash_token, words)))]
    assert len(known) >= 2
    plain = key_tokens(Tokens([], known, []))
    diluted = key_tokens(Tokens([], known + [f"never met {n}" for n in range(len(known))], []))
    scorer = Scorer(model, parse_settings(model.settings))
    before, after = scorer.score(plain), scorer.score(diluted)
    assert after.common == [0.0, 0.5, 0.0, 0.0, 0.0]
    for old, new in zip(before.evidence, after.evidence, strict=True):
        assert new == pytest.approx([0.75 * value for value in old], abs=1e-12)
    assert after.scores[1] == pytest.approx(sum(part.values[1] for part in after.parts))
    free = model.settings | {"diluted": "0"}
    assert Scorer(model, parse_settings(free)).score(diluted).evidence == before.evidence


@pytest.mark.parametrize("more", [[], ["--textbook"]])
def test_a_model_of_some_views_counts_and_reads_no_others(
    items: Items, tmp_path: Path, more: list[str]
) -> None:
    """Training, updating and learning agree on what is read."""
    for name, some in (("whole", items), ("half", items[::2]), ("rest", items[1::2])):
        lines = [f"{item.label} {item.path}\n" for item in some]
        (tmp_path / f"{name}.index").write_text("".join(lines))
    options = ["--views", "structure,body", *more]
    run("train", tmp_path / "whole.index", "-m", tmp_path / "whole", *options)
    run("train", tmp_path / "half.index", "-m", tmp_path / "parts", *options)
    single = shutil.copy(tmp_path / "parts", tmp_path / "single")
    run("train", "--update", tmp_path / "rest.index", "-m", tmp_path / "parts")
    for item in items[1::2]:
        learn_message(str(single), item.label, item.read())
    expected = counts(tmp_path / "whole")
    assert counts(tmp_path / "parts") == counts(single) == expected
    assert open_model(str(single)).settings["views"] == "body,structure"
    assert not any("subject:" in row for row in expected)
    assert check_model(str(single)) == []
