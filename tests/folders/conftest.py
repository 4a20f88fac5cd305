"""The certificate of servers on this machine."""

import shutil
from pathlib import Path

import pytest

from tests.folders.bad_server import make_certificate


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key and a certificate of localhost."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is missing")
    folder = tmp_path_factory.mktemp("certificate")
    make_certificate(folder)
    return folder
