"""The Python API: docs/api.md is run block by block; what it promises beyond its examples."""

import copy
import email
import email.policy
import gc
import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import nbspam
from nbspam import errors
from nbspam.corpus.reading import SHARD_MESSAGES
from nbspam.explain import Clue, Explanation
from nbspam.model.chosen_settings import Scoring
from tests.tiny_mail import counts, mail, run, write_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
# What rooms of the program use of these classes, and no one else needs.
INNER = {
    "asked",
    "count",
    "decide",
    "follow",
    "is_prior_alone",
    "judge",
    "loss",
    "may_teach",
    "model",
    "owner",
}
INNER |= {"follow_senders", "is_spammier", "scorer", "settings"}
HAM = mail("minutes of the meeting")
SPAM = mail("cheap pills")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "mail", {"ham": [HAM, mail("lunch")], "spam": [SPAM, mail("a prize")]})


def test_every_block_of_the_manual_runs(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    blocks = re.findall(r"```python\n(.*?)```\n", PAGE, re.DOTALL)
    assert len(blocks) >= 8
    script = tmp_path / "manual.py"
    script.write_text("".join(blocks), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in re.findall(r"^    nbspam (.*)", PAGE, re.MULTILINE):
        python = [sys.executable, "-m", "nbspam", *command.split()]
        subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, check=True)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "roc.png").stat().st_size > 1_000


def test_every_keyword_attribute_and_error_is_in_the_manual() -> None:
    names = {*Scoring.__annotations__, *vars(errors.NbspamError("", "")), *Explanation._fields, *Clue._fields}
    for function in (nbspam.train, nbspam.load, nbspam.evaluate):
        names |= signature(function).parameters.keys() - {"path", "source", "scoring"}
    for kind in (nbspam.Filter, nbspam.Verdict, nbspam.Unread):
        names |= {name for name in vars(kind) if name[0] != "_"} - INNER
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    names |= {kind.__name__ for kind in kinds if issubclass(kind, errors.NbspamError)}
    assert not {name for name in names if not re.search(rf"[`.(]{name}\b", PAGE)}


def test_import_loads_no_room() -> None:
    code = "import nbspam, sys; print([name for name in sys.modules if name.startswith('nbspam.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"[]\n"


def test_every_public_name_is_there_after_all_rooms_are_imported() -> None:
    import nbspam.evaluation.folds

    assert all(hasattr(nbspam, name) for name in nbspam.__all__)
    assert callable(nbspam.evaluate)
    with pytest.raises(AttributeError):
        nbspam.classify  # type: ignore[attr-defined]  # noqa: B018


def test_train_makes_the_model_of_the_command_line(folder: Path, tmp_path: Path) -> None:
    run("train", folder, "-m", tmp_path / "m", "-q", "--event-model", "multinomial", "--alpha", "0.5")
    made = nbspam.train(
        ham=[folder / "ham"], spam=folder / "spam", event_model="multinomial", alpha=0.5, jobs=1
    )
    made.save(tmp_path / "saved")
    assert counts(tmp_path / "saved") == counts(tmp_path / "m")
    line = run("classify", "-m", tmp_path / "m", stdin=SPAM)
    assert line == f"spam\t{made.classify(SPAM).probability:.6f}\t-\n"


def test_the_model_of_a_filter_that_was_not_saved_goes_with_it(folder: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    path = Path(made.model.path)
    assert path.exists()
    made.close()
    del made
    gc.collect()
    assert not path.exists()


def test_save_keeps_what_is_there_unless_it_may_replace_a_model(folder: Path, tmp_path: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    for content in ("no model", None):
        target = tmp_path / f"target-{content}"
        target.write_text(content) if content else made.save(target)
        before = target.read_bytes()
        with pytest.raises(nbspam.NbspamError):
            made.save(target, replace=content is not None)
        assert target.read_bytes() == before
    made.learn(mail("more pills"), "spam")
    made.save(target, replace=True)
    assert nbspam.load(target).model.messages == [2, 3]


def test_a_message_is_bytes_a_path_or_a_message_of_the_standard_library(folder: Path, tmp_path: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    path = tmp_path / "message.eml"
    path.write_bytes(SPAM)
    verdict = made.classify(SPAM)
    for message in (path, bytearray(SPAM), email.message_from_bytes(SPAM)):
        assert made.classify(message).log_odds == verdict.log_odds
        assert made.explain(message).sums == made.explain(SPAM).sums
        assert made.learn(message, "spam") == "already learned"
        assert nbspam.parse(message).headers == nbspam.parse(SPAM).headers
        assert nbspam.tokenize(message).body == nbspam.tokenize(nbspam.parse(SPAM)).body
    assert made.unlearn(path) == "forgotten"
    assert made.classify(email.message_from_string("Subject: für\n\nüber")).label  # no ASCII
    raw = b"From: \xd0\xc2 <a@example.org>\n\nhello"  # the standard library reads it, and cannot write it
    parsed = email.message_from_bytes(raw, policy=email.policy.default)
    assert made.classify(parsed).log_odds == made.classify(raw).log_odds


@pytest.mark.parametrize("message", ["message.eml", "cheap pills", None, 5])
def test_text_is_no_message_and_the_error_says_what_to_do(folder: Path, message: Any) -> None:
    made = nbspam.train(folder, jobs=1)
    learn = partial(made.learn, label="spam")
    for call in (made.classify, made.explain, learn, made.unlearn, nbspam.parse, nbspam.tokenize):
        with pytest.raises(TypeError, match=r"Path.*encode\(\)"):
            call(message)
    with pytest.raises(TypeError):
        [*made.classify_many([message])]
    with pytest.raises(TypeError, match="a label is a str, not None"):
        made.learn(HAM, None)  # type: ignore[arg-type]
    with pytest.raises(nbspam.NbspamError, match=r"missing\.eml"):
        made.classify(Path("missing.eml"))


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (nbspam.train, {"alhpa": 5}),
        (nbspam.train, {"seed": 1}),
        (nbspam.evaluate, {"fold": 3}),
        (nbspam.evaluate, {"model": "model.nbspam"}),
        (nbspam.load, {"alhpa": None}),
        (nbspam.load, {"bins": 5}),
    ],
)
def test_a_keyword_that_has_no_effect_is_a_type_error(
    function: Any, keywords: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbspam"
    nbspam.train(folder, jobs=1).save(path)
    with pytest.raises(TypeError, match=f"'{next(iter(keywords))}'.*event_model"):
        function(path if function is nbspam.load else folder, **keywords)


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_messages_get_the_verdicts_of_each(data: Path, jobs: int) -> None:
    made = nbspam.train(data, jobs=jobs, loss="FP=20,FN=1,unsure=0.1")
    paths = sorted(data.glob("*/*.eml"))
    assert len(paths) > SHARD_MESSAGES
    found = made.classify_many(iter(paths), jobs=jobs)
    expected = [made.classify(path) for path in paths]
    assert [(v.label, v.log_odds, v.risks) for v in found] == [
        (v.label, v.log_odds, v.risks) for v in expected
    ]


def test_messages_in_memory_train_and_evaluate_as_their_files(data: Path) -> None:
    files = {name: sorted((data / name).glob("*.eml")) for name in ("ham", "spam")}
    held = {name: [path.read_bytes() for path in paths] for name, paths in files.items()}
    of_files, made = nbspam.train(data, jobs=1), nbspam.train(**held, jobs=1)
    mixed = nbspam.train(ham=held["ham"], spam=[*files["spam"][:50], *held["spam"][50:]], jobs=2)
    for one in (made, mixed):
        assert counts(Path(one.model.path)) == counts(Path(of_files.model.path))
    asked = files["ham"][:20]
    assert [made.classify(path).log_odds for path in asked] == [
        of_files.classify(path).log_odds for path in asked
    ]
    report = nbspam.evaluate(**held, folds=3, jobs=1)
    assert report.figures == nbspam.evaluate(data, folds=3, jobs=1).figures
    assert nbspam.train(ham=email.message_from_bytes(HAM), spam=SPAM, jobs=1).model.messages == [1, 1]


def test_messages_without_a_class_are_an_error() -> None:
    for keywords in ({"source": [HAM, SPAM]}, {"ham": [HAM], "spam": []}, {"ham": []}):
        with pytest.raises(nbspam.NbspamError):
            nbspam.train(**keywords)
    with pytest.raises(TypeError, match=r"encode\(\)"):
        nbspam.train(ham=[5], spam=[SPAM])  # type: ignore[list-item]


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_bad_path_is_an_entry_with_its_error(folder: Path, jobs: int) -> None:
    made = nbspam.train(folder, jobs=1)
    unwritable = email.message.Message()
    unwritable.set_payload("\ud800")
    messages = [SPAM, Path("missing.eml"), Path("a\0b"), unwritable, *[HAM] * SHARD_MESSAGES]
    entries = [*made.classify_many(messages, jobs=jobs)]
    assert len(entries) == len(messages)
    assert [place for place, entry in enumerate(entries) if entry.error] == [1, 2, 3]
    bad = entries[1]
    assert isinstance(bad, nbspam.Unread)
    assert (bad.label, bad.probability, bad.log_odds, bad.name) == ("", None, None, "missing.eml")
    assert (bad.sender, [*bad.clues]) == ("", [])
    assert (bad.error.slug, type(bad.error).status) == ("no-input", 66)
    assert entries[-1].log_odds == made.classify(HAM).log_odds


def test_a_filter_says_what_it_is(folder: Path, tmp_path: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    assert repr(made) == "<Filter that is not saved: 4 messages, 2 ham, 2 spam>"
    made.save(tmp_path / "m")
    with nbspam.load(tmp_path / "m") as opened:
        opened.learn(mail("more pills"), "spam")
        assert repr(opened) == f"<Filter of {str(tmp_path / 'm')!r}: 5 messages, 2 ham, 3 spam>"
    assert repr(opened) == "<Filter: closed>"


def test_a_filter_is_pickled_and_copied_by_its_path(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = nbspam.train(folder, jobs=1)
    made.save("m")
    opened = nbspam.load("m", event_model="multinomial", alpha=0.5, loss="FP=3,FN=1,unsure=0.1")
    for one in (made, opened):
        pickled = pickle.dumps(one)
        monkeypatch.chdir("/")  # of another process
        again = pickle.loads(pickled)
        monkeypatch.chdir(tmp_path)
        for each in (again, copy.copy(one), copy.deepcopy(one)):
            verdict, expected = each.classify(SPAM), one.classify(SPAM)
            assert (verdict.log_odds, verdict.risks) == (expected.log_odds, expected.risks)
            assert each.model.path == str(tmp_path / "m")


def test_what_no_file_has_is_not_copied(folder: Path, tmp_path: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    for change in (
        lambda: None,
        partial(made.learn, mail("more pills"), "spam"),
        partial(made.unlearn, SPAM),
    ):
        change()
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(nbspam.NbspamError, match="no file") as raised:
                way(made)
            assert raised.value.slug == "filter-unsaved"
        made.save(tmp_path / "m", replace=True)
        assert copy.copy(made).model.messages == made.model.messages


def test_the_use_of_a_closed_filter_is_an_error_of_nbspam(folder: Path, tmp_path: Path) -> None:
    with nbspam.train(folder, jobs=1) as made:
        place = Path(made.model.path)
    assert not place.exists()
    made.close()
    uses = (made.classify, made.explain, partial(made.learn, label="ham"), made.unlearn)
    others = (partial(made.save, tmp_path / "m"), made.refresh, partial(pickle.dumps, made))
    many = (lambda: [*made.classify_many([SPAM])], lambda: made.classes, lambda: made.costs)
    for use in (*[partial(each, SPAM) for each in uses], *others, *many):
        with pytest.raises(nbspam.NbspamError) as raised:
            use()
        assert raised.value.slug == "filter-closed"


def test_a_filter_follows_a_model_that_is_trained_anew(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    nbspam.train(folder, jobs=1).save(path)
    for use in ("classify", "explain", "learn"):
        opened = nbspam.load(path, loss="FP=3,FN=1")
        nbspam.train(ham=[HAM, mail(f"lunch {use}")], spam=[SPAM] * 3, jobs=1).save(path, replace=True)
        getattr(opened, use)(SPAM, *["spam"] * (use == "learn"))
        fresh = nbspam.load(path, loss="FP=3,FN=1")
        assert (repr(opened), opened.loss) == (repr(fresh), fresh.loss)
        assert opened.classify(SPAM).log_odds == fresh.classify(SPAM).log_odds


def test_the_use_of_a_filter_in_another_thread_is_an_error_and_changes_nothing(folder: Path) -> None:
    made = nbspam.train(folder, jobs=1)
    made.save(Path(folder, "..", "m"), replace=True)
    with ThreadPoolExecutor(1) as thread:
        uses = (made.classify, made.explain, partial(made.learn, label="ham"), made.unlearn)
        for use in (*[partial(each, SPAM) for each in uses], made.refresh, made.close):
            with pytest.raises(nbspam.NbspamError, match="another thread") as raised:
                thread.submit(use).result()
            assert raised.value.slug == "other-thread"
        assert thread.submit(lambda: copy.copy(made).classify(SPAM).log_odds).result()
    assert made.learn(SPAM, "spam") == "already learned"


@pytest.mark.parametrize(
    ("function", "keywords", "error"),
    [
        (nbspam.train, {"prior": 0.5}, TypeError),
        (nbspam.train, {"views": 1}, TypeError),
        (nbspam.train, {"threshold": "2"}, TypeError),
        (nbspam.train, {"bins": "5"}, TypeError),
        (nbspam.train, {"loss": 3}, TypeError),
        (nbspam.train, {"jobs": "2"}, TypeError),
        (nbspam.train, {"jobs": 0}, nbspam.NbspamError),
        (nbspam.train, {"alpha": 10**400}, nbspam.NbspamError),
        (nbspam.train, {"classes": {1: [HAM]}}, TypeError),
        (nbspam.train, {"classes": [HAM, SPAM]}, TypeError),
        (nbspam.evaluate, {"folds": 2.5}, TypeError),
        (nbspam.evaluate, {"replay": True, "feedback": 5}, TypeError),
        (nbspam.evaluate, {"by_time": True}, nbspam.NbspamError),
        (nbspam.evaluate, {"feedback": "on-error"}, nbspam.NbspamError),
    ],
)
def test_a_value_of_a_wrong_type_or_without_effect_is_a_clear_error(
    function: Any, keywords: dict[str, Any], error: type[Exception], folder: Path
) -> None:
    with pytest.raises(error):
        function(folder, **keywords)


def test_a_loss_may_be_a_path_object(folder: Path, tmp_path: Path) -> None:
    matrix = tmp_path / "matrix"
    matrix.write_text("\tham\tspam\nham\t0\t1\nspam\t50\t0\n")
    assert nbspam.train(folder, loss=matrix, jobs=1).loss.rows == ((0, 1), (50, 0))


def test_an_error_names_the_argument_and_no_flag(folder: Path) -> None:
    for option, value in {"event_model": "bayes", "views": "feet", "threshold": -1, "bins": 5}.items():
        with pytest.raises(nbspam.NbspamError) as raised:
            nbspam.train(folder, **{option: value})
        assert raised.value.option == option
        assert "--" not in str(raised.value)
        assert "--" not in raised.value.remedy


def test_an_evaluation_has_the_figures_of_the_command_line(data: Path) -> None:
    report = nbspam.evaluate(data, folds=3, textbook=True, jobs=1)
    printed = json.loads(run("eval", "--folds", "3", "--textbook", "--json", data))
    assert {name: printed[name] for name in report.figures} == json.loads(json.dumps(report.figures))
    assert json.loads(report.to_json())["settings"]["folds"] == 3
    assert report.to_html().startswith("<!")
    assert {*report.figures} < {*dir(report)}
    assert report.hm_percent_interval == report.figures["hm_percent_interval"]
    assert "wanted message" in repr(report)
    with pytest.raises(AttributeError, match="hm_percent"):
        report.hm  # noqa: B018


def test_a_notebook_shows_the_figures_as_a_table_without_markup_of_others(tmp_path: Path) -> None:
    classes = {"<b>&": [HAM, mail("lunch")], "work": [mail("a report"), mail("a plan")]}
    report = nbspam.evaluate(write_folders(tmp_path, classes), folds=2, jobs=1)
    page = report._repr_html_()
    assert {*re.findall("<[^>]*>", page)} == {*("<p>", "</p>", "<table>", "</table>", "<tr>", "<th>", "<td>")}
    assert page.count("<tr>") > 5


def test_unread_mail_is_a_warning(folder: Path) -> None:
    (folder / "ham" / "broken").symlink_to("nowhere")
    with pytest.warns(UserWarning, match="1 could not be read"):
        nbspam.train(folder, jobs=1)
