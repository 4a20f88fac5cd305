"""The units of systemd: what they forbid, and that mail is served and watched under it."""

import importlib.metadata
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.recipes import ROOT, configuration, recipe
from tests.folders.bad_server import BadServer, make_certificate
from tests.programs import needs, needs_root
from tests.server import HAM, OK, SPAM, answer, eventually, free_port, request
from tests.tiny_mail import counts

UNITS = ROOT / "contrib/systemd"
NEEDED = ("click", "numpy", "regex", "rich", "scipy")
ALONE = "[Unit]\nDefaultDependencies=no\n"


@needs("systemd-analyze")
@pytest.mark.parametrize("name", ["nbspam.service", "nbspam-imap@.service"])
def test_units_of_the_system_give_up_what_they_do_not_need(name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", f"./{name}"]
    done = subprocess.run(command, cwd=UNITS, capture_output=True, text=True, timeout=60)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+) OK", done.stdout)
    assert found and float(found[1]) <= 3.0, done.stdout + done.stderr


class Systemd:
    """A running systemd whose mounts and processes nobody else sees; it starts nothing but our units."""

    def __init__(self, folder: Path) -> None:
        own = ["--mount", "--pid", "--uts", "--ipc", "--cgroup"]
        command = ["unshare", *own, "--mount-proc", "--kill-child"]
        self._log = open(folder / "log", "wb")  # noqa: SIM115
        script = ["sh", "-c", configuration("systemd", folder=folder)]
        self._unshare = subprocess.Popen([*command, *script], stdout=self._log, stderr=self._log)
        children = Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children")
        eventually(lambda: self._has_ended() or bool(children.read_text()))
        self._pid = int(children.read_text() or 0)
        self.root = Path(f"/proc/{self._pid}/root")
        eventually(lambda: self._has_ended() or self.call("is-active", "empty.target") == "active")
        if self._has_ended():
            pytest.skip(f"systemd cannot run in namespaces here: {(folder / 'log').read_text()[-500:]}")

    def _has_ended(self) -> bool:
        return self._unshare.poll() is not None

    def stop(self) -> None:
        self._unshare.send_signal(signal.SIGKILL)
        self._unshare.wait(20)
        self._log.close()

    def call(self, *arguments: str) -> str:
        """The output of systemctl."""
        command = ["nsenter", "-t", str(self._pid), "-m", "-p", "-u", "-i", "-C", "systemctl", *arguments]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
        )
        return done.stdout.strip()

    def status(self, unit: str) -> dict[str, str]:
        """What the kernel says of the main process of a unit."""
        number = self.call("show", "-P", "MainPID", unit)
        lines = (self.root / "proc" / number / "status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """What the systemd finds in /srv: nbspam for Debian's Python, units, a model, an account."""
    folder = tmp_path / "srv"
    shutil.copytree(ROOT / "nbspam", folder / "lib/nbspam")
    for package in ("imapclient",):
        for place in importlib.metadata.distribution(package).files or ():  # with its version, which it reads
            if ".." not in place.parts:
                (folder / "lib" / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place.locate(), folder / "lib" / place)
    (folder / "bin").mkdir()
    start = '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/srv/lib exec /usr/bin/python3 -m nbspam "$@"\n'
    (folder / "bin/nbspam").write_text(start)
    (folder / "bin/nbspam").chmod(0o755)
    (folder / "units").mkdir()
    for unit in UNITS.glob("*.service"):
        shutil.copy(unit, folder / "units")
        (folder / "units" / f"{unit.name}.d").mkdir()
        (folder / "units" / f"{unit.name}.d/alone.conf").write_text(ALONE)
    (folder / "units/empty.target").write_text(ALONE)
    shutil.copy(model, folder / "model")
    return folder


@pytest.fixture
def boot() -> Iterator[list[Systemd]]:
    started: list[Systemd] = []
    yield started
    for one in started:
        one.stop()


def missing() -> str:
    """Why no unit can be started here."""
    script = f"import {', '.join(NEEDED)}, sys; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, check=False).returncode:
        return "Debian's Python has not the packages of nbspam; as root, `make debian` installs them"
    return ""


MISSING = missing()
starts_units = [
    pytest.mark.debian,
    needs("unshare", "nsenter", "systemctl"),
    needs_root("makes namespaces"),
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


def forbids(status: dict[str, str]) -> bool:
    """True if the kernel filters calls, and the process has no rights and gets none."""
    is_filtered = (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
    return is_filtered and status["Uid"].split()[0] == "61000" and int(status["CapBnd"], 16) == 0


@pytest.mark.parametrize("unit", [pytest.param("nbspam.service", marks=starts_units)])
def test_server_answers_learns_and_reloads_under_its_unit(
    unit: str, folder: Path, boot: list[Systemd], tmp_path: Path
) -> None:
    port = free_port()
    (line,) = re.findall("^ExecStart=(.*)", (UNITS / unit).read_text(), re.MULTILINE)
    more = f"[Service]\nExecStart=\nExecStart={line} --allow-tell --metrics {port}\n"
    (folder / "units" / f"{unit}.d/more.conf").write_text(more)
    systemd = Systemd(folder)
    boot.append(systemd)
    assert systemd.call("start", unit) == ""  # it has said that it is ready
    assert forbids(systemd.status(unit))

    def ask(command: str, message: bytes, *fields: str) -> bytes:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(20)
            one.connect(str(systemd.root / "run/nbspam/socket"))
            one.sendall(request(command, message, *fields))
            return answer(one)

    assert ask("CHECK", SPAM).startswith(OK + b"Spam: True")
    assert b"DidSet" in ask("TELL", SPAM, "Message-class: ham", "Set: local")
    shutil.copy(systemd.root / "var/lib/nbspam/model.nbspam", tmp_path / "learned")
    assert counts(tmp_path / "learned") != counts(folder / "model")
    assert systemd.call("reload", unit) == ""
    assert ask("CHECK", HAM).startswith(OK)
    with urllib.request.urlopen(f"http://localhost:{port}/metrics", timeout=20) as page:
        assert b"nbspam_corrections_total 1.0" in page.read()
    assert systemd.call("stop", unit) == ""
    assert systemd.call("show", "-P", "Result", unit) == "success"


@pytest.mark.parametrize("unit", [pytest.param("nbspam-imap@home.service", marks=starts_units)])
def test_account_is_watched_under_its_unit_with_a_credential(
    unit: str, folder: Path, boot: list[Systemd]
) -> None:
    pytest.importorskip("imapclient")
    make_certificate(folder)
    with BadServer(folder, {}) as server:
        systemd = Systemd(folder)
        boot.append(systemd)
        account = recipe("imap credential").replace("imap.example.org", "localhost")
        account += f"port = {server.port}\nca_file = '/srv/localhost.pem'\n"
        etc = systemd.root / "etc/nbspam"
        etc.mkdir()
        (etc / "imap.toml").write_text(account)
        (etc / "home.password").write_text("secret of the unit\n")
        (etc / "home.password").chmod(0o600)  # of root
        assert systemd.call("start", unit) == ""
        eventually(lambda: any(b"secret of the unit" in line for line in server.lines))
        assert forbids(systemd.status(unit))
        eventually((systemd.root / "var/lib/nbspam/model.nbspam-imap-home.json").exists)
