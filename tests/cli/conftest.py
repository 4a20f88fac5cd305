"""Fixtures of several files: labelled mail, and a model of it."""

import random
from pathlib import Path

import pytest

from tests.cli.hardship import HAM, SPAM
from tests.tiny_mail import mail, program, write_folders


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A labelled folder."""
    return write_folders(tmp_path_factory.mktemp("source"), {"ham": HAM, "spam": SPAM})


@pytest.fixture(scope="module")
def trained(source: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sound model."""
    path = tmp_path_factory.mktemp("trained") / "model"
    assert program("train", "-q", "-j1", source, "-m", path).returncode == 0
    return path.read_bytes()


@pytest.fixture
def model(trained: bytes, tmp_path: Path) -> Path:
    """A model of its own."""
    path = tmp_path / "model.nbspam"
    path.write_bytes(trained)
    return path


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled mail whose model takes some megabytes."""
    drawn = random.Random(3)
    messages = [mail(" ".join(f"w{drawn.randrange(10**9):x}" for _ in range(400))) for _ in range(80)]
    return write_folders(tmp_path_factory.mktemp("wordy"), {"ham": messages[:40], "spam": messages[40:]})
