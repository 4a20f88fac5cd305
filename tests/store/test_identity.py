"""The identity of a model file: new in each new file and each copy, kept by what changes a file in place."""

import shutil
from pathlib import Path

from nbspam.filter import begin_model, open_filter
from nbspam.learning.learn import learn_message
from nbspam.store.check import check_model
from nbspam.store.merge import merge
from nbspam.store.overlay import rebase
from nbspam.store.prune import prune
from nbspam.store.reader import open_model
from nbspam.store.text import dump_model, load_dump
from nbspam.store.writer import copy_model
from tests.tiny_mail import mail, run, write_folders


def identity(path: str | Path) -> int:
    with open_model(str(path)) as model:
        return model.identity


def test_new_files_and_copies_have_another_identity_than_all_others(trained: Path, tmp_path: Path) -> None:
    def at(name: str) -> str:
        return str(tmp_path / name)

    copy_model(str(trained), at("copy"))
    open_filter(str(trained)).save(at("saved"))
    load_dump((line.encode() for line in dump_model(str(trained))), "text", at("loaded"))
    merge([str(trained), at("copy")], at("merged"))
    begin_model(at("overlay"), str(trained))
    source = write_folders(tmp_path / "mail", {"ham": [mail("garden")], "spam": [mail("pills")]})
    found = {identity(trained)}
    for _ in range(2):
        run("train", "-q", "--replace", source, "-m", at("new"))
        found.add(identity(at("new")))
    found |= {identity(at(name)) for name in ("copy", "saved", "loaded", "merged", "overlay")}
    assert len(found) == 8
    assert all(0 <= number < 1 << 63 for number in found)
    assert check_model(at("copy")) == []
    for name in ("copy", "loaded"):
        assert list(dump_model(at(name))) == list(dump_model(str(trained)))


def test_changes_in_place_keep_the_identity(trained: Path, tmp_path: Path) -> None:
    path, own = (str(tmp_path / name) for name in ("model", "own"))
    shutil.copy(trained, path)
    begin_model(own, path)
    before = identity(path), identity(own)
    learn_message(path, "spam", mail("a winner of the lottery"))
    prune(path, min_count=2)
    rebase(own)
    learn_message(own, "ham", mail("minutes of the meeting"))
    assert (identity(path), identity(own)) == before
