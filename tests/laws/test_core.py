"""The tests inside the compiled core: of what Python cannot see, as its tables."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
LIBRARY = Path(*map(str, sysconfig.get_config_vars("LIBDIR", "LDLIBRARY")))


@pytest.mark.slow
def test_the_tests_inside_the_core_pass() -> None:
    if not shutil.which("cargo") or LIBRARY.suffix != ".so" or not LIBRARY.exists():
        pytest.skip("it needs cargo, and the shared library of Python to link to")
    command = ["cargo", "test", "--quiet", "--manifest-path", CORE / "Cargo.toml"]
    environment = {**os.environ, "PYO3_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout and " 0 passed" not in done.stdout
