"""Programs of a user without rights: root reads and writes every file, so only another user is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
_PROBE = "import sys, os, nbspam; os.listdir(sys.argv[1])"


def as_nobody(program: str, folder: Path) -> Any:
    """The JSON that `program`, Python code, prints when `nobody` runs it in `folder`.

    A user who is not root runs it as himself.  The test skips where nobody cannot run Python, import nbspam
    or reach the folder: a checkout in a home that is closed to others, for example.
    """
    try:
        probe = _run(_PROBE, folder)
    except OSError as error:
        pytest.skip(f"nobody cannot run {sys.executable}: {error.strerror}")
    if probe.returncode:
        pytest.skip(f"nobody cannot import nbspam or reach {folder}: {probe.stderr.splitlines()[-1]}")
    done = _run(program, folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code, with the path of the folder as its argument."""
    rights: dict[str, Any] = {}
    if os.geteuid() == 0:
        rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    command = [sys.executable, "-P", "-c", program, folder]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, **rights)
