"""A place is strict if no other user can change, exchange or lock what is there."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbspam.places import find_weakness
from tests.as_nobody import NOBODY


@pytest.fixture
def folder() -> Iterator[Path]:
    """The folder of a model, in one that others can enter, in the sticky folder of the system."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o711)
        folder = Path(name) / "users"
        folder.mkdir(mode=0o700)
        (folder / "model").touch(0o600)
        yield folder


def weaken(folder: Path, how: str) -> Path:
    """Make the place of a model weak in one way; the path of the model."""
    model = folder / "model"
    match how:
        case "file of another":
            os.chown(model, NOBODY, NOBODY)
        case "folder of another":
            os.chown(folder, NOBODY, NOBODY)
        case "folder above of another":
            os.chown(folder.parent, NOBODY, NOBODY)
        case "file that a group can write":
            model.chmod(0o620)
        case "folder that all can write":
            folder.chmod(0o703)
        case "sticky folder":
            folder.chmod(0o1777)
        case "folder above that a group can write":
            folder.parent.chmod(0o730)
        case "link":
            model.rename(folder / "other")
            model.symlink_to("other")
        case "link of another to the folder":
            (folder.parent / "link").symlink_to("users")
            os.lchown(folder.parent / "link", NOBODY, NOBODY)
            return folder.parent / "link" / "model"
        case "FIFO":
            model.unlink()
            os.mkfifo(model, 0o600)
        case "file that others can lock":
            folder.chmod(0o711)
            model.chmod(0o604)
        case "folder that others can lock":
            folder.chmod(0o744)
    return model


@pytest.mark.parametrize(
    "how",
    [
        *("file of another", "folder of another", "folder above of another", "file that a group can write"),
        *("folder that all can write", "sticky folder", "folder above that a group can write", "link"),
        *("link of another to the folder", "FIFO", "file that others can lock"),
        "folder that others can lock",
    ],
)
def test_whatever_others_can_change_or_lock_is_weak(folder: Path, how: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    assert find_weakness(str(folder / "model")) == ""
    assert find_weakness(str(weaken(folder, how))) != ""


def test_private_places_are_strict_whatever_leads_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "link").symlink_to(folder.parent / "chain")
    (folder.parent / "chain").symlink_to("users")
    monkeypatch.chdir(folder.parent)
    for path in ("link/model", "users/../users/model", "users/none", "none/none/model", folder / "model"):
        assert find_weakness(str(path)) == ""


def test_what_others_can_read_is_strict_in_a_folder_that_they_cannot_enter(folder: Path) -> None:
    (folder / "inner").mkdir(mode=0o755)
    (folder / "inner" / "model").touch(0o644)
    assert find_weakness(str(folder / "inner" / "model")) == ""


def test_shared_model_may_be_read_and_be_a_link(folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "model").chmod(0o644)
    (folder / "link").symlink_to("model")
    assert find_weakness(str(folder / "link"), is_shared=True) == ""
    (folder / "model").chmod(0o664)
    assert "can write" in find_weakness(str(folder / "link"), is_shared=True)
