"""Tests that need a program of the system skip without it, and say what installs it."""

import os
import shutil

import pytest


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
