"""The Python API: docs/api.md is run block by block; what it promises beyond its examples."""

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nbspam
from tests.tiny_mail import counts, mail, run, write_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
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
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "roc.png").stat().st_size > 1_000


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


def test_unread_mail_is_a_warning(folder: Path) -> None:
    (folder / "ham" / "broken").symlink_to("nowhere")
    with pytest.warns(UserWarning, match="1 could not be read"):
        nbspam.train(folder, jobs=1)
