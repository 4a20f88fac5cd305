"""Tests that need a program of the system skip without it, and say what installs it."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parent.parent / "core"


def what_lacks(*programs: str) -> str:
    """Why a test cannot run: the programs that are not here; '' if all are."""
    missing = [program for program in programs if not shutil.which(program)]
    return f"not installed: {' and '.join(missing)}; as root, `make debian` installs it" if missing else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip a test without these programs."""
    missing = what_lacks(*programs)
    return pytest.mark.skipif(bool(missing), reason=missing)


def needs_root(why: str) -> pytest.MarkDecorator:
    """Skip a test for other users than root.  why : what only root can do"""
    return pytest.mark.skipif(os.geteuid() != 0, reason=f"not root: only root {why}")


def what_lacks_for_core() -> str:
    """Why the compiled core cannot be built here; '' if it can."""
    needed = tomllib.loads((CORE / "Cargo.toml").read_text("utf-8"))["package"]["rust-version"]
    if not shutil.which("cargo"):
        return f"no cargo is here, which builds the compiled core (cargo {needed} or newer)"
    said = subprocess.run(["cargo", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"cargo (\d+)\.(\d+)", said)
    is_enough = found and tuple(map(int, found.groups())) >= tuple(map(int, needed.split(".")))
    return "" if is_enough else f"the compiled core needs cargo {needed}; here is: {said.strip() or 'none'}"
