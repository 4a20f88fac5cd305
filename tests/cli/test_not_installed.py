"""Claims about an installation that broke: mail waits, and the error says what to do."""

import subprocess
import sys
from pathlib import Path

import pytest

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
