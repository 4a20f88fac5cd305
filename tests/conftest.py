"""Where the tests find public corpora and the installed program.

One setting, NBSPAM_CORPORA, names the folder of the archives; the default is ../shared/corpora
beside the checkout.  They are unpacked once into .cache/corpora, which git ignores.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
settings.register_profile("fuzz", max_examples=500, deadline=None)  # a round of make fuzz

# Debian's mail servers are there; users other than root may not have it on their path.
os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "corpora"
MEMORY = Path("/dev/shm")


def has_room(folder: Path) -> bool:
    """True if programs may lie in a folder, and what all tests write fits into it."""
    if not folder.is_dir():
        return False
    place = os.statvfs(folder)
    return not place.f_flag & os.ST_NOEXEC and place.f_bavail * place.f_frsize > 3 << 30


# A model is written to the disk before a command ends: many thousand waits in memory take no time.
if "TMPDIR" not in os.environ and has_room(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read a public corpus; what installs programs and waits for them begins first."""
    items.sort(key=lambda item: "deploy" not in item.path.parts)
    for item in items:
        if {"spamassassin", "torture_files"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("corpora")


def corpora_folder() -> Path:
    """The folder that holds the archives (it may not exist)."""
    return Path(os.environ.get("NBSPAM_CORPORA") or ROOT.parent / "shared" / "corpora")


def unpacked(name: str, top: str) -> Path | None:
    """The unpacked corpus `name`, or None without its archive."""
    target = CACHE / top
    if target.exists():
        return target
    archive = corpora_folder() / f"{name}.tar.xz"
    if not archive.exists():
        return None
    staging = CACHE / f".{name}.{os.getpid()}"
    staging.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        tar.extractall(staging)  # our own archives; Debian 12 has no filters yet
    with contextlib.suppress(OSError):  # another process was first
        (staging / top).rename(target)
    return target


def corpus_or_skip(name: str, top: str) -> Path:
    """As `unpacked`; skips the test without the archive."""
    folder = unpacked(name, top)
    if folder is None:
        pytest.skip(f"{name}.tar.xz is not in {corpora_folder()}: set NBSPAM_CORPORA (see docs/corpora.md)")
    return folder


@pytest.fixture(scope="session")
def spamassassin() -> Path:
    """The SpamAssassin public corpus."""
    return corpus_or_skip("spamassassin", "sa")


@pytest.fixture(scope="session")
def torture_files() -> list[Path]:
    """Odd and broken messages from the test suites of other mail software."""
    folder = corpus_or_skip("torture", "torture")
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="session")
def data() -> Path:
    """The corpus of this project."""
    return ROOT / "data"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter and read; the folders of pytest are open to their owner alone."""
    before = os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
    os.umask(before)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one of the processes of pytest makes for all of them."""
    top = factory.getbasetemp()
    top = top.parent if "PYTEST_XDIST_WORKER" in os.environ else top
    with open(top / f"{name}-made", "a+") as note:
        fcntl.flock(note, fcntl.LOCK_EX)
        note.seek(0)
        if not note.read():
            (top / name).mkdir()
            make(top / name)
            note.write("made")
    return top / name


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]

    def make(folder: Path) -> None:
        subprocess.run([*pip, "--wheel-dir", folder, ROOT], check=True)

    (path,) = made_once(tmp_path_factory, "wheel", make).iterdir()
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The nbspam program of a real (not editable) installation in a virtual environment of its own."""

    def make(folder: Path) -> None:
        # The packages of the test environment serve; only nbspam itself is installed anew.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (own,) = (folder / "lib").glob("python*/site-packages")
        (own / "test-packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = [
            sys.executable,
            "-m",
            "pip",
            f"--python={folder}",
            "install",
            "--quiet",
            "--no-deps",
            "--no-input",
        ]
        subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)

    return made_once(tmp_path_factory, "installed", make) / "bin" / "nbspam"


@pytest.fixture(scope="session")
def data_model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of all mail of data/, which no test changes."""
    from tests.tiny_mail import run

    path = tmp_path_factory.mktemp("data") / "model.nbspam"
    run("train", "-q", data, "-m", path)
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model; tests of one file share it, so what changes a model takes the fixture `model`."""
    from tests.server import tiny_model

    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """A model of this test alone."""
    return Path(shutil.copy(trained, tmp_path / "model"))
