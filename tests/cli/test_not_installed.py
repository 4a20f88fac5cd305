"""Claims about an installation that broke: mail waits, and the error says what to do."""

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from nbspam.cli import error_text
from nbspam.cli.extras import EXTRAS
from nbspam.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[2]
# -S: without the packages that were installed, as after an update of Python
WITHOUT_PACKAGES = [sys.executable, "-S"]


@pytest.mark.parametrize("arguments", [["classify", "-p"], ["classify", "--exit-code"], ["train", "mail"]])
def test_a_python_without_nbspam_makes_no_ham_of_mail(arguments: list[str], tmp_path: Path) -> None:
    command = [*WITHOUT_PACKAGES, ROOT / "bin/nbspam", *arguments]
    done = subprocess.run(command, input=b"\nhi\n", capture_output=True, cwd=tmp_path, env={})
    assert done.returncode == 75
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        f"nbspam: {sys.executable} has no package nbspam",
        "  next: install nbspam again, as its README says  [not-installed]",
    ]


def test_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    command = [*WITHOUT_PACKAGES, "-m", "nbspam", "train", "mail"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 75
    assert done.stderr.startswith(b"nbspam: the Python package click is missing\n")
    assert b"[not-installed]" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_packages_of_the_extras_are_those_of_the_project() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, (packages, _) in EXTRAS.items():
        assert packages.split() == [re.match(r"[\w-]+", needed)[0] for needed in listed[extra]]


def remedy(extra: str) -> str:
    text = error_text(MissingExtraError(extra, ImportError("gone"), "here"))
    return text.partition("  next: ")[2].removesuffix(f"  [{extra}-extra]\n")


def test_remedy_for_an_extra_is_the_pip_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    pip, install, packages = remedy("imap").partition(" install ")
    assert (install, packages) == (" install ", "imapclient keyring")
    if "ensurepip" not in pip:
        assert (
            b"pip" in subprocess.run(f"{pip} --version", shell=True, check=True, capture_output=True).stdout
        )
    monkeypatch.setattr(sys, "executable", "/a place/python")
    assert "'/a place/python' -m pip install textual" in remedy("label")


def test_where_pip_refuses_the_remedy_is_apt_or_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert ("pip" in remedy("report")) == (sys.prefix != sys.base_prefix)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert remedy("report") == "as root: apt-get install python3-jinja2 python3-matplotlib"
    assert f"{sys.executable} -m venv --system-site-packages" in remedy("imap")
