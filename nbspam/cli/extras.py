"""How a missing extra is installed here."""

import os
import shlex
import sys
import sysconfig
from importlib.util import find_spec

# extra of pyproject.toml -> the packages that it needs, and those of Debian where Debian has them all
EXTRAS = {
    "dask": ("distributed s3fs", ""),
    "imap": ("imapclient keyring", ""),
    "label": ("textual", ""),
    "report": ("jinja2 matplotlib", "python3-jinja2 python3-matplotlib"),
}


def install_command(extra: str) -> str:
    """What installs the packages of an extra for this Python; nbspam itself may be a checkout."""
    packages, of_debian = EXTRAS[extra]
    owner = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")  # PEP 668: pip refuses
    if sys.prefix == sys.base_prefix and os.path.exists(owner):
        if of_debian:
            return f"as root: apt-get install {of_debian}"
        venv = "~/.local/nbspam"
        make = f"{sys.executable} -m venv --system-site-packages {venv} && {venv}/bin/pip install {packages}"
        return f"{make}; then {venv}/bin/python -m nbspam is this program with the extra"
    python = shlex.quote(sys.executable)
    install = f"{python} -m pip install {packages}"
    return install if find_spec("pip") else f"{python} -m ensurepip && {install}"
